// Reads and writes of LoopValues: addresses, masks of vectors, places outside of arrays.
#include "codegen/loops/LoopValues.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

//===- places --------------------------------------------------------------------------------===//

Value LoopValues::index(unsigned axis) const {
  for (const Scope &scope : llvm::reverse(scopes_))
    if (scope.axis == axis)
      return scope.index;
  llvm_unreachable("a value is computed within the loops of its axes");
}

Value LoopValues::indexOf(unsigned axis, unsigned place, unsigned chunk) {
  int64_t beyond = 0;
  if (extent_.axis == axis)
    beyond = chunk * vectors_.width();
  else if (axis == body_.lastAxis())
    beyond = place;
  return beyond == 0 ? index(axis) : vectors_.add(index(axis), vectors_.integer(beyond));
}

// The value of the function in the first lane, without what differs from lane to lane.
Value LoopValues::valueOf(const LinearFunction &sum, unsigned place, unsigned chunk) {
  Value total = size(sum.constant);
  auto add = [&](Value number, const Size &factor) {
    total = vectors_.add(total, vectors_.multiply(number, size(factor)));
  };
  for (auto [axis, factor] : llvm::enumerate(sum.factors))
    if (sum.dependsOn(axis) && !(extent_.axis == axis && hasColumnsOfLanes(sum)))
      add(indexIn(sum, axis, place, chunk), factor);
  for (const auto &[index, factor] : sum.indices)
    if (!runsOverVectors(index))
      add(vectors_.lane(get(index, place, chunk), 0), factor);
  return total;
}

// The values in all lanes.
Value LoopValues::lanesOf(const LinearFunction &sum, unsigned place, unsigned chunk) {
  Value totals = vectors_.splat(valueOf(sum, place, chunk));
  auto add = [&](Value numbers, const Size &factor) {
    totals = vectors_.add(totals, vectors_.multiply(numbers, vectors_.splat(size(factor))));
  };
  if (sum.dependsOn(*extent_.axis))
    add(hasColumnsOfLanes(sum) ? columnsOf(chunk) : vectors_.laneNumbers(),
        sum.factors[*extent_.axis]);
  for (const auto &[index, factor] : sum.indices)
    if (runsOverVectors(index))
      add(get(index, place, chunk), factor);
  return totals;
}

// Whether all places that may be outside are inside, in each lane or in all; null if there are
// none.
Value LoopValues::isInside(const Access &access, unsigned place, unsigned chunk, bool ofLanes) {
  Value inside;
  for (const Access::Dimension &checked : access.checks()) {
    Value at =
        ofLanes ? lanesOf(checked.place, place, chunk) : valueOf(checked.place, place, chunk);
    inside = both(inside, isBelow(at, checked.size));
  }
  return inside;
}

// As an unsigned number, a negative place is larger than every size.
Value LoopValues::isBelow(Value places, const Size &size) {
  Value end = this->size(size);
  if (isa<VectorType>(places.getType()))
    end = vectors_.splat(end);
  return vectors_.create<arith::CmpIOp>(arith::CmpIPredicate::ult, places, end);
}

Value LoopValues::both(Value a, Value b) {
  return a && b ? vectors_.create<arith::AndIOp>(a, b) : (a ? a : b);
}

// A memory cell that holds the value of places outside of an array.
Value LoopValues::outsideCell(double value, ElementType cells) {
  Value &known = outside_[{std::bit_cast<uint64_t>(value), cells}];
  if (!known)
    known = atBeginning([&]() -> Value {
      Value cell = vectors_.create<LLVM::AllocaOp>(vectors_.pointerType(), vectors_.doubleType(),
                                                   vectors_.integer(1));
      Value vector = vectors_.convert(vectors_.number(value), ElementType::F64, cells);
      vectors_.storeCell(vector, cell, {}, cells);
      return cell;
    });
  return known;
}

//===- loads ---------------------------------------------------------------------------------===//

// What is packed by vectors lies in groups of as many as are computed together: in a group those of
// neighbouring places along the other axes are behind one another, and then follows the next group.
void LoopValues::layOut(Value value) {
  const schedule::Schedule &schedule = body_.schedule();
  Panel panel{{}, LinearFunction(body_.axes().size())};
  auto addAxis = [&](unsigned axis, const Size &size) {
    panel.cell.factors[axis] = panel.cellsOfPlace;
    panel.cellsOfPlace = panel.cellsOfPlace * size;
  };
  unsigned last = body_.lastAxis();
  std::vector<unsigned> axes = body_.loopsOver(schedule.innerAxes(value)).allAxes();
  auto packed = schedule.packed.find(value);
  bool isPacked = packed != schedule.packed.end();
  int64_t group = schedule.unroll * schedule.lanes;
  if (isPacked && packed->second != last) {
    panel.grouped = packed->second;
    addAxis(*panel.grouped, Size::constant(group));
    for (unsigned axis : llvm::reverse(axes))
      if (axis != panel.grouped)
        addAxis(axis, body_.axes()[axis]);
    Size groups = schedule.vectorsOutside ? Size::constant(1)
                                          : floorDivide(body_.axes()[*panel.grouped] + (group - 1),
                                                        Size::constant(group));
    panel.base = scratch(panel.cellsOfPlace * groups);
  } else {
    // Vectors along places compute several of them together, each with cells of its own.
    int64_t places = isPacked || body_.hasPlacesSideBySide(value) ? schedule.block
                     : schedule.strip > 0                         ? schedule.strip
                     : schedule.vectorizesBlocks()                ? group
                                                                  : 1;
    panel.isSideBySide = places > 1 && runsOver(value, last);
    if (panel.isSideBySide)
      addAxis(last, Size::constant(places));
    for (unsigned axis : llvm::reverse(axes))
      addAxis(axis, body_.axes()[axis]);
    // Rows whose distance is a power of two would share a few lines of the nearest cache.
    constexpr int64_t lineBytes = 64;
    if (!panel.isSideBySide && schedule.block > 1 && runsOver(value, last))
      panel.cellsOfPlace = panel.cellsOfPlace + lineBytes / byteSize(plan::cellsOf(value));
    // Whole vectors of rows are read and written.
    int64_t padding = schedule.lanes * schedule.lanes;
    int64_t blocks = panel.isSideBySide ? 1 : schedule.block;
    Size doubles = blocks * panel.cellsOfPlace + (panel.isSideBySide ? padding : 0);
    // Small ones are variables, whose vectors LLVM keeps in registers where loops are unrolled; beside
    // aggregates of tiles there are none left for them.
    constexpr int64_t mostOfVariable = 256;
    bool isVariable = panel.isSideBySide && schedule::isConstantUpTo(doubles, mostOfVariable) &&
                      body_.tileAggregates().empty();
    panel.base = isVariable
                     ? variable((doubles.constantValue() + schedule.lanes - 1) / schedule.lanes)
                     : scratch(doubles);
  }
  panels_.try_emplace(value, std::move(panel));
}

// The indices of axes count from the first place, but a panel begins with those of the block and,
// for entries, of the row; of packed vectors with those of each group.
LoopValues::Memory LoopValues::panelOf(Value value, unsigned place) {
  const Panel &panel = panels_.find(value)->second;
  Memory memory{panel.base, {panel.cell, {}}, plan::cellsOf(value)};
  auto move = [&](Value cells) {
    memory.base = vectors_.offsetCells(memory.base, cells, memory.cells);
  };
  auto goBack = [&](Value places, unsigned axis) {
    Value cells = vectors_.multiply(places, size(panel.cell.factors[axis]));
    move(vectors_.subtract(vectors_.integer(0), cells));
  };
  unsigned last = body_.lastAxis();
  Value number = placeNumber_ ? placeNumber_ : vectors_.integer(place);
  if (!panel.windows.empty()) {
    memory.isPadded = true;
    for (auto [axis, first] : panel.firsts)
      goBack(first, axis);
    if (isOverWindows_) {
      Value distance = vectors_.offset(panel.distances, index(panel.summed.back()));
      move(vectors_.loadScalar(distance, vectors_.builder().getI64Type()));
      for (unsigned axis : panel.summed)
        memory.access.cell.factors[axis] = Size::constant(0);
    }
  } else if (panel.grouped) {
    memory.isPadded = extent_.axis == panel.grouped;
    Value length = vectors_.integer(body_.schedule().unroll * body_.schedule().lanes);
    Value group = vectors_.create<arith::DivSIOp>(indexOf(*panel.grouped, 0, 0), length);
    Value cells = body_.schedule().vectorsOutside
                      ? vectors_.integer(0)
                      : vectors_.multiply(group, size(panel.cellsOfPlace));
    move(vectors_.subtract(cells, vectors_.multiply(group, length)));
  } else if (firstOfStrip_) {
    goBack(firstOfStrip_, last);
  } else if (panel.isSideBySide) {
    goBack(placeNumber_ ? vectors_.subtract(index(last), number) : index(last), last);
  } else if (runsOver(value, last) && isAcross()) {
    // Rows of places that are lanes.
    memory.access.cell.factors[last] = panel.cellsOfPlace;
    Value cells = vectors_.multiply(index(last), size(panel.cellsOfPlace));
    move(vectors_.subtract(vectors_.integer(0), cells));
  } else if (runsOver(value, last)) {
    move(vectors_.multiply(size(panel.cellsOfPlace), number));
  }
  if (body_.entries() && runsOver(value, level().column)) {
    memory.access.cell.isAtEntries = true;
    goBack(entries_.first, level().column);
  }
  return memory;
}

// Whether vectors run along the rows of a panel in which the places of the block lie side by side:
// those of all places are transposed together.
bool LoopValues::liesSideBySide(Value value) const {
  return body_.hasPlacesSideBySide(value) && places() > 1 && runsOver(value, body_.lastAxis()) &&
         runsOverVectors(value);
}

// Of such a panel: the address of a row of the chunk, a vector of all places.
Value LoopValues::rowSideBySide(const Memory &panel, unsigned chunk, int64_t row) {
  const LinearFunction &cell = panel.access.cell;
  Value first = vectors_.offsetCells(panel.base, valueOf(cell, 0, chunk), panel.cells);
  Value cells = vectors_.multiply(size(cell.factors[*extent_.axis]), vectors_.integer(row));
  return vectors_.offsetCells(first, cells, panel.cells);
}

void LoopValues::loadSideBySide(Value kept, unsigned chunk) {
  Memory panel = panelOf(kept, 0);
  State rows(vectors_.width(), vectors_.number(0, vectors_.registerType(panel.cells)));
  for (int64_t row = 0; row < rowsOfChunk(chunk); ++row)
    rows[row] = vectors_.loadCells(rowSideBySide(panel, chunk, row), {}, {}, panel.cells);
  for (auto [place, vector] : llvm::enumerate(vectors_.transpose(rows)))
    set(kept, place, chunk, vector);
}

void LoopValues::storeSideBySide(ArrayRef<Value> vectors, const Memory &panel, unsigned chunk) {
  State rows = vectors_.transpose(vectors);
  for (int64_t row = 0; row < rowsOfChunk(chunk); ++row)
    vectors_.storeCells(rows[row], rowSideBySide(panel, chunk, row), {}, {}, panel.cells);
}

int64_t LoopValues::rowsOfChunk(unsigned chunk) const {
  APInt first;
  const Size &length = body_.axes()[*extent_.axis];
  if (!length.isConstant() || !matchPattern(index(*extent_.axis), m_ConstantInt(&first)))
    return vectors_.width();
  int64_t left = length.constantValue() - first.getSExtValue() - chunk * vectors_.width();
  return std::min(left, vectors_.width());
}

unsigned LoopValues::inputNumber(plan::ReadOp read) const {
  bool isArray = tok::isArray(read.getOperand().getType());
  return llvm::count_if(
      body_.block().getArguments().take_front(read.getNumber()),
      [&](BlockArgument other) { return tok::isArray(other.getType()) == isArray; });
}

LoopValues::Memory LoopValues::arrayOf(plan::ReadOp read) {
  std::optional<llvm::APFloat> outside = read.getOutside();
  return {tile_.inputs[inputNumber(read)], body_.accessOf(read), plan::cellsOf(read.getCell()),
          outside ? outside->convertToDouble() : 0};
}

Value LoopValues::read(plan::ReadOp read, unsigned place, unsigned chunk) {
  if (llvm::is_contained(lookedUp_, read))
    return lookUp(read, place, chunk);
  if (tok::isArray(read.getOperand().getType())) {
    Value vector = load(arrayOf(read), place, chunk);
    prefetch(read, place, chunk);
    return vector;
  }
  Value number = vectors_.integer(inputNumber(read));
  return vectors_.splat(vectors_.loadCell(tile_.scalars, number, plan::cellsOf(read.getCell())));
}

// The places of the operand's axes are axes of the result.
Value LoopValues::reindex(plan::ReindexOp reindex, unsigned place, unsigned chunk) {
  Value operand = reindex.getOperand();
  auto read = operand.getDefiningOp<plan::ReadOp>();
  Memory memory = read ? arrayOf(read) : panelOf(operand, place);
  memory.access.forEachFunction([&](LinearFunction &sum) {
    LinearFunction reindexed(sum.factors.size());
    for (auto [axis, result] : llvm::zip(cast<plan::CellType>(operand.getType()).getAxes(),
                                         reindex.getMap().getResults())) {
      Size &factor = reindexed.factors[cast<AffineDimExpr>(result).getPosition()];
      factor = factor + sum.factors[axis];
    }
    sum.factors = std::move(reindexed.factors);
  });
  return load(memory, place, chunk);
}

// Whether lanes are gathered by indices of their own.
bool LoopValues::hasIndicesOfLanes(const LinearFunction &sum) const {
  return llvm::any_of(sum.indices, [&](auto index) { return runsOverVectors(index.first); });
}

// Whether neighbouring lanes are neighbours in memory.
bool LoopValues::isOneStep(const LinearFunction &sum) const {
  return !hasIndicesOfLanes(sum) && !hasColumnsOfLanes(sum) &&
         sum.factors[*extent_.axis].isConstant(1);
}

Value LoopValues::load(const Memory &memory, unsigned place, unsigned chunk) {
  const Access &access = memory.access;
  bool lanesDiffer =
      extent_.axis && (access.dependsOn(*extent_.axis) || hasIndicesOfLanes(access.cell));
  return lanesDiffer ? loadLanes(memory, place, chunk) : loadCell(memory, place, chunk);
}

// One cell, in all lanes. The address is computed in the order of the loops, so that each loop adds
// one step. Where a place is outside of the array, the address becomes that of a cell with the
// value for it as soon as all places are known, and stays there.
Value LoopValues::loadCell(const Memory &memory, unsigned place, unsigned chunk) {
  const LinearFunction &cell = memory.access.cell;
  Value pointer = memory.base, inside;
  auto step = [&](Value number, const Size &factor) {
    Value cells = vectors_.multiply(number, size(factor));
    if (inside)
      cells = vectors_.select(inside, cells, vectors_.integer(0));
    pointer = vectors_.offsetCells(pointer, cells, memory.cells);
  };
  auto check = [&] {
    inside = isInside(memory.access, place, chunk, /*ofLanes=*/false);
    if (inside)
      pointer = vectors_.select(inside, pointer, outsideCell(memory.outside, memory.cells));
  };
  llvm::SmallSetVector<unsigned, 8> loops;
  for (const Scope &scope : llvm::drop_begin(scopes_))
    loops.insert(*scope.axis);
  auto isChecked = [&](unsigned axis) {
    return llvm::any_of(memory.access.checks(), [&](const Access::Dimension &checked) {
      return checked.place.dependsOn(axis);
    });
  };
  if (!cell.constant.isConstant(0))
    step(size(cell.constant), Size::constant(1));
  for (const auto &[index, factor] : cell.indices)
    step(vectors_.lane(get(index, place, chunk), 0), factor);
  auto known = llvm::find_if(llvm::reverse(loops), isChecked).base();
  for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
    if (loop == known)
      check();
    if (cell.dependsOn(*loop))
      step(indexIn(cell, *loop, place, chunk), cell.factors[*loop]);
  }
  if (known == loops.end())
    check();
  return vectors_.splat(vectors_.loadCell(pointer, {}, memory.cells));
}

// Whether the places of all lanes are inside, if their places are those of the first and the last lane and between
// them; null if that is not known.
Value LoopValues::areAllInside(const Access &access, unsigned place, unsigned chunk) {
  Value inside = isInside(access, place, chunk, /*ofLanes=*/false);
  for (const Access::Dimension &checked : access.checks()) {
    if (hasIndicesOfLanes(checked.place) || hasColumnsOfLanes(checked.place))
      return {};
    if (!checked.place.dependsOn(*extent_.axis))
      continue;
    Value behind = vectors_.multiply(size(checked.place.factors[*extent_.axis]),
                                     vectors_.integer(vectors_.width() - 1)),
          last = vectors_.add(valueOf(checked.place, place, chunk), behind);
    inside = both(inside, isBelow(last, checked.size));
  }
  return inside;
}

// Masks would make reading windows several times slower: they are left to the edges of the array.
Value LoopValues::loadLanes(const Memory &memory, unsigned place, unsigned chunk) {
  Value areInside;
  if (memory.access.hasChecks() && isOneStep(memory.access.cell) && !mask(chunk))
    areInside = areAllInside(memory.access, place, chunk);
  if (!areInside)
    return loadMaskedLanes(memory, place, chunk);
  State cells{outsideLanes(memory)};
  vectors_.ifElse(
      areInside, cells,
      [&](State &inside) {
        inside = {vectors_.loadCells(memory.base, valueOf(memory.access.cell, place, chunk), {},
                                     memory.cells)};
      },
      [&](State &masked) { masked = {loadMaskedLanes(memory, place, chunk)}; });
  return cells.front();
}

Value LoopValues::outsideLanes(const Memory &memory) {
  return vectors_.convert(vectors_.number(memory.outside), ElementType::F64, memory.cells);
}

Value LoopValues::loadMaskedLanes(const Memory &memory, unsigned place, unsigned chunk) {
  const Access &access = memory.access;
  // Lanes behind the last entry have column 0, where there is a cell, too: without a mask, CPUs with
  // slow gathers need no branch for each lane.
  bool isFilled =
      memory.isPadded || (hasColumnsOfLanes(access.cell) && !hasIndicesOfLanes(access.cell));
  Value inside = isInside(access, place, chunk, /*ofLanes=*/true),
        mask = both(isFilled ? Value() : this->mask(chunk), inside);
  Value cells =
      isOneStep(access.cell)
          ? vectors_.loadCells(memory.base, valueOf(access.cell, place, chunk), mask, memory.cells)
          : vectors_.gatherCells(memory.base, lanesOf(access.cell, place, chunk), mask,
                                 memory.cells);
  if (!inside)
    return cells;
  return vectors_.select(inside, cells, outsideLanes(memory));
}

//===- stores --------------------------------------------------------------------------------===//

void LoopValues::store(Value vector, const Memory &memory, unsigned place, unsigned chunk) {
  const LinearFunction &cell = memory.access.cell;
  if (extent_.axis && cell.dependsOn(*extent_.axis) && !isOneStep(cell))
    return vectors_.scatterCells(vector, memory.base, lanesOf(cell, place, chunk), mask(chunk),
                                 memory.cells);
  Value offset = valueOf(cell, place, chunk);
  if (extent_.axis && cell.dependsOn(*extent_.axis))
    vectors_.storeCells(vector, memory.base, offset, mask(chunk), memory.cells);
  else
    vectors_.storeCell(vector, memory.base, offset, memory.cells);
}

void LoopValues::keep(Value value, unsigned place, unsigned chunk) {
  store(get(value, place, chunk), panelOf(value, place), place, chunk);
}

// Whether the chunks are whole vectors that lie behind each other, in a loop over the places of the
// tile that no other loop is in.
bool LoopValues::canBypass(plan::WriteOp write) const {
  const LinearFunction &cell = body_.accessOf(write).cell;
  int64_t bytes = vectors_.width() * byteSize(plan::cellsOf(write.getCell()));
  return body_.schedule().vectorizesBlocks() && extent_.axis == body_.lastAxis() && !extent_.mask &&
         body_.schedule().innerAxes(write.getCell()).empty() && cell.indices.empty() &&
         cell.dependsOn(*extent_.axis) && isOneStep(cell) &&
         bytes % VectorBuilder::bytesOfBypassing == 0;
}

void LoopValues::write(plan::WriteOp write) {
  Value cell = write.getCell();
  Memory memory{tile_.outputs[write.getNumber()], body_.accessOf(write), plan::cellsOf(cell)};
  bool runsOverPlaces = memory.access.cell.dependsOn(body_.lastAxis());
  auto forEach = [&](llvm::function_ref<void(unsigned place, unsigned chunk)> visit) {
    for (unsigned place = 0; place < (runsOverPlaces ? places() : 1); ++place)
      for (unsigned chunk = 0; chunk < chunks(); ++chunk)
        visit(place, chunk);
  };
  auto storeEach = [&] {
    forEach([&](unsigned place, unsigned chunk) {
      store(get(cell, place, chunk), memory, place, chunk);
      prefetchWritten(write, place, chunk);
    });
  };
  if (!canBypass(write))
    return storeEach();
  forEach([&](unsigned place, unsigned chunk) { get(cell, place, chunk); }); // before the branches
  auto addressOf = [&](unsigned chunk) {
    return vectors_.offsetCells(memory.base, valueOf(memory.access.cell, 0, chunk), memory.cells);
  };
  auto storeEachBypassing = [&] {
    forEach([&](unsigned place, unsigned chunk) {
      vectors_.storeBypassing(get(cell, place, chunk), addressOf(chunk), memory.cells);
    });
  };
  Value isWanted = vectors_.isTrue(tile_.bypassing[write.getNumber()]);
  bypassing_.insert(write.getNumber());
  vectors_.ifElse(both(isWanted, vectors_.isForBypassing(addressOf(0))), storeEachBypassing,
                  storeEach);
}

void LoopValues::finishWrites() {
  for (unsigned number : bypassing_) {
    State none;
    vectors_.ifThen(vectors_.isTrue(tile_.bypassing[number]), none,
                    [&](State &) { vectors_.finishBypassing(); });
  }
}
