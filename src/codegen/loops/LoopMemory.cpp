// Reads and writes of LoopValues: addresses, masks of vectors, places outside of arrays.
#include "codegen/CellEmission.h"
#include "codegen/loops/LoopValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "mlir/IR/Matchers.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

//===- places --------------------------------------------------------------------------------===//

Value LoopValues::index(unsigned axis) const {
  for (auto [bound, index] : llvm::reverse(indices_))
    if (bound == axis)
      return index;
  llvm_unreachable("a value is computed within the loops of its axes");
}

Value LoopValues::indexOf(unsigned axis, unsigned place, unsigned chunk) {
  int64_t beyond = 0;
  if (vectorAxis_ == axis)
    beyond = chunk * vectors_.width();
  else if (axis == body_.lastAxis())
    beyond = place;
  return beyond == 0 ? index(axis) : vectors_.add(index(axis), vectors_.integer(beyond));
}

// The place in a dimension, without what its indices add if they differ from lane to lane.
Value LoopValues::placeOf(const LinearPlace &place, unsigned number, unsigned chunk,
                          bool withIndices) {
  Value sum = size(place.constant);
  for (auto [axis, factor] : llvm::enumerate(place.factors))
    if (factor != 0)
      sum = vectors_.add(sum,
                         vectors_.multiply(indexOf(axis, number, chunk), vectors_.integer(factor)));
  if (withIndices)
    for (auto [index, factor] : place.indices)
      sum = vectors_.add(sum, vectors_.multiply(vectors_.lane(get(index, number, chunk), 0),
                                                vectors_.integer(factor)));
  return sum;
}

Value LoopValues::isBelow(Value place, Value size) {
  // As an unsigned number, a negative place is larger than every size.
  return vectors_.create<arith::CmpIOp>(arith::CmpIPredicate::ult, place, size);
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
  Panel panel;
  auto addAxis = [&](unsigned axis, const Size &size) {
    panel.access.addAxis(axis, body_.axes().size(), panel.cellsOfPlace);
    panel.cellsOfPlace = panel.cellsOfPlace * size;
  };
  unsigned last = body_.lastAxis();
  std::vector<unsigned> axes = body_.loopsOver(body_.panelAxes(value)).allAxes();
  auto packed = schedule.packed.find(value);
  bool isPacked = packed != schedule.packed.end();
  int64_t group = schedule.unroll * schedule.lanes;
  if (isPacked && packed->second != last) {
    addAxis(packed->second, Size::constant(group));
    for (unsigned axis : llvm::reverse(axes))
      if (axis != packed->second)
        addAxis(axis, body_.axes()[axis]);
    Size groups = schedule.vectorsOutside ? Size::constant(1)
                                          : floorDivide(body_.axes()[packed->second] + (group - 1),
                                                        Size::constant(group));
    panel.base = scratch(panel.cellsOfPlace * groups);
  } else {
    // Vectors along places compute several of them together, each with cells of its own.
    int64_t places = isPacked || body_.hasPlacesSideBySide(value) ? schedule.block
                     : schedule.vectorizesBlocks()                ? group
                                                                  : 1;
    panel.isSideBySide = places > 1 && runsOver(value, last);
    if (panel.isSideBySide)
      addAxis(last, Size::constant(places));
    for (unsigned axis : llvm::reverse(axes))
      addAxis(axis, body_.axes()[axis]);
    // Whole vectors of rows are read and written.
    int64_t padding = schedule.lanes * schedule.lanes;
    int64_t blocks = panel.isSideBySide ? 1 : schedule.block;
    panel.base = scratch(blocks * panel.cellsOfPlace + (panel.isSideBySide ? padding : 0));
  }
  panels_.try_emplace(value, std::move(panel));
}

// The indices of axes count from the first place, but a panel begins with those of the block and, for
// entries, of the row.
LoopValues::Memory LoopValues::panelOf(Value value, unsigned place) {
  const Panel &panel = panels_.find(value)->second;
  Memory memory{panel.base, panel.access, plan::cellsOf(value)};
  auto goBack = [&](Value places, unsigned axis) {
    Value cells = vectors_.multiply(places, size(memory.access.factor(axis)));
    Value before = vectors_.subtract(vectors_.integer(0), cells);
    memory.base = vectors_.offsetCells(memory.base, before, memory.cells);
  };
  unsigned last = body_.lastAxis();
  Value number = placeNumber_ ? placeNumber_ : vectors_.integer(place);
  if (panel.isSideBySide)
    goBack(placeNumber_ ? vectors_.subtract(index(last), number) : index(last), last);
  else if (runsOver(value, last))
    memory.base = vectors_.offsetCells(
        memory.base, vectors_.multiply(size(panel.cellsOfPlace), number), memory.cells);
  if (body_.entries() && runsOver(value, body_.entries()->column)) {
    memory.access.isAtEntries = true;
    goBack(entries_.first, body_.entries()->column);
  }
  return memory;
}

// Whether vectors run along the rows of a panel in which the places of the block lie side by side:
// those of all places are transposed together.
bool LoopValues::liesSideBySide(Value value) const {
  return body_.hasPlacesSideBySide(value) && places_ > 1 && runsOver(value, body_.lastAxis()) &&
         runsOverVectors(value);
}

// The address of the chunk's first row in such a panel: of the vector of all places.
Value LoopValues::panelRow(const Memory &panel, unsigned chunk) {
  return vectors_.offsetCells(panel.base, offsetOf(panel.access, 0, chunk), panel.cells);
}

void LoopValues::loadSideBySide(Value kept, unsigned chunk) {
  Memory panel = panelOf(kept, 0);
  Value first = panelRow(panel, chunk), distance = size(panel.access.factor(*vectorAxis_));
  Value none = vectors_.number(0, vectors_.registerType(panel.cells));
  State rows(vectors_.width(), none);
  for (int64_t row = 0; row < rowsOfChunk(chunk); ++row)
    rows[row] = vectors_.loadCells(first, vectors_.multiply(distance, vectors_.integer(row)), {},
                                   panel.cells);
  for (auto [place, vector] : llvm::enumerate(vectors_.transpose(rows)))
    set(kept, place, chunk, vector);
}

void LoopValues::keepAcross(Value value, Value vector) {
  const Memory panel = panelOf(value, 0);
  vectors_.storeCells(vector, panel.base, offsetOf(panel.access, 0, 0), {}, panel.cells);
}

void LoopValues::storeSideBySide(ArrayRef<Value> vectors, const Memory &panel, unsigned chunk) {
  Value first = panelRow(panel, chunk), distance = size(panel.access.factor(*vectorAxis_));
  State rows = vectors_.transpose(vectors);
  for (int64_t row = 0; row < rowsOfChunk(chunk); ++row)
    vectors_.storeCells(rows[row], first, vectors_.multiply(distance, vectors_.integer(row)), {},
                        panel.cells);
}

// How many places there are along the vectors of the chunk, if that is a constant; else a whole vector.
int64_t LoopValues::rowsOfChunk(unsigned chunk) const {
  APInt first;
  const Size &length = body_.axes()[*vectorAxis_];
  if (!length.isConstant() || !matchPattern(index(*vectorAxis_), m_ConstantInt(&first)))
    return vectors_.width();
  int64_t left = length.constantValue() - first.getSExtValue() - chunk * vectors_.width();
  return std::min(left, vectors_.width());
}

void LoopValues::packPlaces(Value value) {
  llvm::SaveAndRestore packing(isPacking_, true);
  for (unsigned chunk = 0; chunk < chunks_; ++chunk) {
    State vectors;
    for (unsigned place = 0; place < places_; ++place)
      vectors.push_back(compute(value, place, chunk));
    storeSideBySide(vectors, packedOf(value), chunk);
  }
}

LoopValues::Memory LoopValues::packedOf(Value packed) {
  unsigned axis = body_.schedule().packed.lookup(packed);
  if (axis == body_.lastAxis())
    return panelOf(packed, 0);
  const Panel &panel = panels_.find(packed)->second;
  Memory memory{panel.base, panel.access, plan::cellsOf(packed), vectorAxis_ == axis};
  // The index along vectors counts from the first of the group.
  Value group = vectors_.integer(body_.schedule().unroll * body_.schedule().lanes);
  Value index = indexOf(axis, 0, 0), number = vectors_.create<arith::DivSIOp>(index, group);
  Value cells = body_.schedule().vectorsOutside
                    ? vectors_.integer(0)
                    : vectors_.multiply(number, size(panel.cellsOfPlace));
  memory.base = vectors_.offsetCells(
      memory.base, vectors_.subtract(cells, vectors_.multiply(number, group)), memory.cells);
  return memory;
}

void LoopValues::pack(Value value) {
  llvm::SaveAndRestore packing(isPacking_, true);
  for (unsigned chunk = 0; chunk < chunksOf(value); ++chunk)
    store(compute(value, 0, chunk), packedOf(value), 0, chunk);
}

unsigned codegen::inputNumber(plan::OperatorOp op, plan::ReadOp read) {
  unsigned number = cast<BlockArgument>(read.getOperand()).getArgNumber(), index = 0;
  auto types = op.getInputs().getTypes();
  for (unsigned i = 0; i < number; ++i)
    index += tok::isArray(types[i]) == tok::isArray(types[number]);
  return index;
}

static std::optional<double> outsideOf(plan::ReadOp read) {
  std::optional<llvm::APFloat> value = read.getOutside();
  return value ? std::optional(value->convertToDouble()) : std::nullopt;
}

LoopValues::Memory LoopValues::arrayOf(plan::ReadOp read) {
  return {tile_.inputs[inputNumber(body_.op(), read)], body_.accessOf(read),
          plan::cellsOf(read.getCell())};
}

Value LoopValues::read(plan::ReadOp read, unsigned place, unsigned chunk) {
  if (llvm::is_contained(lookedUp_, read))
    return lookUp(read, place, chunk);
  if (tok::isArray(read.getOperand().getType())) {
    Value vector = load(arrayOf(read), place, chunk, outsideOf(read));
    prefetch(read, place, chunk);
    return vector;
  }
  Value number = vectors_.integer(inputNumber(body_.op(), read));
  return vectors_.splat(vectors_.loadCell(tile_.scalars, number, plan::cellsOf(read.getCell())));
}

// The places of the operand's axes are axes of the result.
Value LoopValues::reindex(plan::ReindexOp reindex, unsigned place, unsigned chunk) {
  Value operand = reindex.getOperand();
  auto read = operand.getDefiningOp<plan::ReadOp>();
  Memory memory = read ? arrayOf(read) : panelOf(operand, place);
  for (LinearPlace &along : memory.access.places) {
    SmallVector<int64_t> factors(along.factors.size(), 0);
    for (auto [axis, result] : llvm::zip(cast<plan::CellType>(operand.getType()).getAxes(),
                                         reindex.getMap().getResults()))
      factors[cast<AffineDimExpr>(result).getPosition()] += along.factors[axis];
    along.factors = std::move(factors);
  }
  return load(memory, place, chunk, read ? outsideOf(read) : std::nullopt);
}

// Whether lanes are gathered by indices of their own.
bool LoopValues::hasIndicesOfLanes(const Access &access) const {
  return llvm::any_of(access.places, [&](const LinearPlace &place) {
    return llvm::any_of(place.indices, [&](auto index) { return runsOverVectors(index.first); });
  });
}

// Whether neighbouring lanes are neighbours in memory.
bool LoopValues::isOneStep(const Access &access) const {
  return !hasIndicesOfLanes(access) && !hasColumnsOfLanes(access) &&
         access.factor(*vectorAxis_).isConstant(1);
}

Value LoopValues::load(const Memory &memory, unsigned place, unsigned chunk,
                       std::optional<double> outside) {
  bool lanesDiffer =
      vectorAxis_ && (memory.access.runsOver(*vectorAxis_) || hasIndicesOfLanes(memory.access));
  return lanesDiffer ? loadLanes(memory, place, chunk, outside)
                     : loadCell(memory, place, chunk, outside);
}

// One cell, in all lanes. The address is computed in the order of the loops, so that each loop adds
// one step. Where the place is outside of the array, the address becomes that of a cell with the
// value for it, and stays there.
Value LoopValues::loadCell(const Memory &memory, unsigned place, unsigned chunk,
                           std::optional<double> outside) {
  const Access &access = memory.access;
  Value pointer = memory.base, inside;
  auto step = [&](Value cells) {
    if (inside)
      cells = vectors_.select(inside, cells, vectors_.integer(0));
    pointer = vectors_.offsetCells(pointer, cells, memory.cells);
  };
  SmallVector<const LinearPlace *> open; // places that are not checked yet
  for (const LinearPlace &along : access.places)
    if (!along.isInside)
      open.push_back(&along);
  Value checks;
  auto check = [&](auto isKnown) {
    if (open.empty())
      return;
    llvm::erase_if(open, [&](const LinearPlace *along) {
      if (!isKnown(*along))
        return false;
      size_t dimension = along - access.places.begin();
      checks = both(checks, isBelow(placeOf(*along, place, chunk, /*withIndices=*/true),
                                    size(access.sizes[dimension])));
      return true;
    });
    if (open.empty()) {
      inside = checks;
      pointer = vectors_.select(inside, pointer, outsideCell(outside.value_or(0), memory.cells));
    }
  };
  llvm::SmallDenseSet<unsigned> reached;
  if (Size constant = access.constant(); !constant.isConstant(0))
    step(size(constant));
  for (auto [along, stride] : llvm::zip(access.places, access.strides))
    for (auto [index, factor] : along.indices)
      step(vectors_.multiply(
          vectors_.multiply(vectors_.lane(get(index, place, chunk), 0), vectors_.integer(factor)),
          size(stride)));
  for (unsigned axis : llvm::make_first_range(indices_)) {
    if (!reached.insert(axis).second || !access.runsOver(axis))
      continue;
    step(vectors_.multiply(indexIn(access, axis, place, chunk), size(access.factor(axis))));
    check([&](const LinearPlace &along) {
      return llvm::all_of(llvm::enumerate(along.factors), [&](auto factor) {
        return factor.value() == 0 || reached.contains(factor.index());
      });
    });
  }
  check([](const LinearPlace &) { return true; });
  return vectors_.splat(vectors_.loadCell(pointer, {}, memory.cells));
}

// The cells' numbers in the array, without those of lanes.
Value LoopValues::offsetOf(const Access &access, unsigned place, unsigned chunk) {
  Value sum = size(access.constant());
  for (unsigned axis = 0; axis < body_.axes().size(); ++axis)
    if (access.runsOver(axis) && !(vectorAxis_ == axis && hasColumnsOfLanes(access)))
      sum = vectors_.add(
          sum, vectors_.multiply(indexIn(access, axis, place, chunk), size(access.factor(axis))));
  return sum;
}

static Value numbersOfLanes(VectorBuilder &vectors) {
  SmallVector<int64_t> numbers;
  for (int64_t lane = 0; lane < vectors.width(); ++lane)
    numbers.push_back(lane);
  auto type = VectorType::get(vectors.width(), vectors.builder().getI64Type());
  return vectors.create<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef(numbers)));
}

// The numbers of the cells of all lanes.
Value LoopValues::lanesOf(const Access &access, unsigned place, unsigned chunk) {
  Value sum = vectors_.splat(offsetOf(access, place, chunk));
  if (access.runsOver(*vectorAxis_))
    sum = vectors_.add(sum, vectors_.multiply(hasColumnsOfLanes(access) ? columnsOf(chunk)
                                                                        : numbersOfLanes(vectors_),
                                              vectors_.splat(size(access.factor(*vectorAxis_)))));
  for (auto [along, stride] : llvm::zip(access.places, access.strides))
    for (auto [index, factor] : along.indices)
      sum = vectors_.add(sum, vectors_.multiply(get(index, place, chunk),
                                                vectors_.splat(vectors_.multiply(
                                                    vectors_.integer(factor), size(stride)))));
  return sum;
}

// Which lanes are at places of the array; null if all are.
Value LoopValues::insideLanes(const Access &access, unsigned place, unsigned chunk) {
  Value inside;
  for (auto [along, size] : llvm::zip(access.places, access.sizes)) {
    if (along.isInside)
      continue;
    Value lanes = vectors_.splat(placeOf(along, place, chunk, /*withIndices=*/false));
    if (int64_t factor = along.factors[*vectorAxis_])
      lanes = vectors_.add(lanes,
                           vectors_.multiply(numbersOfLanes(vectors_), vectors_.integers(factor)));
    for (auto [index, factor] : along.indices)
      lanes = vectors_.add(lanes,
                           vectors_.multiply(get(index, place, chunk), vectors_.integers(factor)));
    inside = both(inside, isBelow(lanes, vectors_.splat(this->size(size))));
  }
  return inside;
}

Value LoopValues::loadLanes(const Memory &memory, unsigned place, unsigned chunk,
                            std::optional<double> outside) {
  const Access &access = memory.access;
  Value inside = insideLanes(access, place, chunk),
        mask = both(memory.isPadded ? Value() : this->mask(chunk), inside), cells;
  if (isOneStep(access)) {
    Value offset = offsetOf(access, place, chunk);
    for (auto [along, stride] : llvm::zip(access.places, access.strides))
      for (auto [index, factor] : along.indices)
        offset = vectors_.add(
            offset, vectors_.multiply(vectors_.lane(get(index, place, chunk), 0),
                                      vectors_.multiply(vectors_.integer(factor), size(stride))));
    cells = vectors_.loadCells(memory.base, offset, mask, memory.cells);
  } else {
    cells = vectors_.gatherCells(memory.base, lanesOf(access, place, chunk), mask, memory.cells);
  }
  if (!inside)
    return cells;
  Value other =
      vectors_.convert(vectors_.number(outside.value_or(0)), ElementType::F64, memory.cells);
  return vectors_.select(inside, cells, other);
}

//===- stores --------------------------------------------------------------------------------===//

void LoopValues::store(Value vector, const Memory &memory, unsigned place, unsigned chunk) {
  Value offset = offsetOf(memory.access, place, chunk);
  if (!vectorAxis_ || !memory.access.runsOver(*vectorAxis_))
    vectors_.storeCell(vector, memory.base, offset, memory.cells);
  else if (isOneStep(memory.access))
    vectors_.storeCells(vector, memory.base, offset, mask(chunk), memory.cells);
  else
    vectors_.scatterCells(vector, memory.base, lanesOf(memory.access, place, chunk), mask(chunk),
                          memory.cells);
}

void LoopValues::keep(Value value, unsigned place, unsigned chunk) {
  store(get(value, place, chunk), panelOf(value, place), place, chunk);
}

void LoopValues::write(plan::WriteOp write, unsigned place, unsigned chunk) {
  Value cell = write.getCell();
  store(get(cell, place, chunk),
        {tile_.outputs[body_.outputOf(write)], body_.accessOf(write), plan::cellsOf(cell)}, place,
        chunk);
}
