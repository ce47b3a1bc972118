#include "codegen/loops/LoopValues.h"

#include "codegen/CellEmission.h"
#include "codegen/LaunchSizes.h"
#include "ir/tok/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

Size codegen::roundedUp(const Size &size, int64_t unit) {
  return Size::constant(unit) * floorDivide(size + Size::constant(unit - 1), Size::constant(unit));
}

LoopValues::LoopValues(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
                       abi::KernelPlan &plan)
    : body_(body), vectors_(vectors), tile_(tile), plan_(plan),
      beginning_(vectors.integer(0).getDefiningOp()), nextScratch_(tile.scratch) {
  for (Value kept : body.schedule().kept)
    layOut(kept);
  for (Value packed : llvm::make_first_range(body.schedule().packed))
    layOut(packed);
  if (body.carriesInMemory())
    for (plan::ScanOp scan : body.passes().front().scans)
      panels_[scan.getCell()].base =
          scratch(codegen::roundedUp(body.axes()[body.lastAxis()], vectors.width()));
  if (!body.entries())
    return;
  for (Operation &operation : body.block()) {
    auto read = dyn_cast<plan::ReadOp>(operation);
    if (read && tok::isArray(read.getOperand().getType()) && !body.isDriver(read) &&
        tile.patterns.contains(inputNumber(body.op(), read))) {
      lookedUp_.push_back(read);
      panels_[read.getCell()].base = scratch(body.axes()[body.entries()->column]);
    }
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (reduce && !sampledRows_ && body.sampledProduct(reduce))
      sampledRows_ = scratch(Size::constant(VectorBuilder::lanes * VectorBuilder::lanes));
  }
}

Value LoopValues::roundedUp(const Size &atLaunch, int64_t unit) {
  return size(codegen::roundedUp(atLaunch, unit));
}

// Each begins behind the one before it.
Value LoopValues::scratch(const Size &doubles) {
  plan_.scratchSizes.push_back(doubles);
  Value begin = nextScratch_;
  nextScratch_ = vectors_.offset(begin, roundedUp(doubles));
  return begin;
}

Value LoopValues::variable(int64_t vectors) {
  return atBeginning([&]() -> Value {
    auto vector = VectorType::get(vectors_.width(), vectors_.doubleType());
    return vectors_.create<LLVM::AllocaOp>(
        vectors_.pointerType(), LLVM::LLVMArrayType::get(vector, vectors), vectors_.integer(1));
  });
}

Value LoopValues::atBeginning(llvm::function_ref<Value()> emit) {
  OpBuilder::InsertionGuard guard(vectors_.builder());
  vectors_.builder().setInsertionPoint(beginning_);
  return emit();
}

Value codegen::loadSize(VectorBuilder &vectors, abi::KernelPlan &plan, Value sizes,
                        const Size &size) {
  if (size.isConstant())
    return vectors.integer(size.constantValue());
  auto number = static_cast<int64_t>(plan.sizes.size());
  plan.sizes.push_back(size);
  return vectors.integerMember(sizes, number * static_cast<int64_t>(sizeof(int64_t)));
}

Value LoopValues::size(const Size &atLaunch) {
  if (atLaunch.isConstant())
    return vectors_.integer(atLaunch.constantValue());
  Value &known = sizes_[atLaunch.text()];
  if (!known)
    known = atBeginning([&] { return loadSize(vectors_, plan_, tile_.sizes, atLaunch); });
  return known;
}

//===- loops ---------------------------------------------------------------------------------===//

void LoopValues::inLoop(unsigned axis, Value index, llvm::function_ref<void()> inside) {
  indices_.push_back({axis, index});
  scopes_.emplace_back().axis = axis;
  inside();
  scopes_.pop_back();
  indices_.pop_back();
}

LoopValues::Range LoopValues::rangeOf(unsigned axis) {
  return body_.isOverEntries(axis) ? entries_ : Range(vectors_.integer(0), axisSize(axis));
}

Value LoopValues::endOfWhole(Range range, int64_t unit) {
  Value length = vectors_.subtract(range.second, range.first);
  return vectors_.add(range.first, vectors_.roundDown(length, unit));
}

void LoopValues::forAxes(ArrayRef<unsigned> axes, llvm::function_ref<void()> inside) {
  if (axes.empty())
    return inside();
  forAxis(axes.front(), 1, [&](int64_t) { forAxes(axes.drop_front(), inside); });
}

void LoopValues::forAxis(unsigned axis, int64_t together,
                         llvm::function_ref<void(int64_t)> inside) {
  auto [begin, end] = rangeOf(axis);
  auto loop = [&](Value first, Value last, int64_t steps) {
    vectors_.forLoop(first, last, steps, [&](Value index) {
      for (int64_t number = 0; number < steps; ++number)
        inLoop(axis, vectors_.add(index, vectors_.integer(number)), [&] { inside(number); });
    });
  };
  const Size &length = body_.axes()[axis];
  if (together > 1 && body_.isOverEntries(axis)) {
    Value whole = endOfWhole({begin, end}, together);
    loop(begin, whole, together);
    return loop(whole, end, 1);
  }
  if (together == 1 || !length.isConstant())
    return loop(begin, end, 1);
  int64_t whole = length.constantValue() / together * together;
  if (whole > together)
    loop(begin, vectors_.integer(whole), together);
  for (int64_t step = whole > together ? whole : 0; step < length.constantValue(); ++step)
    inLoop(axis, vectors_.integer(step), [&] { inside(step); });
}

void LoopValues::forVectors(unsigned axis, int64_t together, VectorsFunction inside) {
  const Size length = body_.isOverEntries(axis) ? Size::unknown() : body_.axes()[axis];
  forVectors(axis, rangeOf(axis), length, together, inside);
}

void LoopValues::forVectors(unsigned axis, Range range, const Size &length, int64_t together,
                            VectorsFunction inside) {
  constexpr int64_t cellsOfSteps = 32;
  auto [begin, end] = range;
  int64_t width = vectors_.width(), step = together * width, mostSteps = cellsOfSteps / width;
  auto at = [&](Value index, int64_t chunks, Value mask) {
    llvm::SaveAndRestore extent(extent_,
                                Extent{extent_.places, axis, static_cast<unsigned>(chunks), mask});
    inLoop(axis, index, [&] { inside(index); });
  };
  auto whole = [&](Value index) { at(index, together, {}); };
  auto masked = [&](Value index) {
    at(index, 1, vectors_.maskBelow(vectors_.subtract(end, index)));
  };
  if (together == 0)
    return vectors_.forLoop(begin, end, width, masked);
  if (!length.isConstant()) {
    Value rest = endOfWhole(range, step);
    vectors_.forLoop(begin, rest, step, whole);
    if (together > 1)
      return vectors_.forLoop(rest, end, width, masked);
    State none;
    return vectors_.ifThen(vectors_.less(rest, end), none, [&](State &) { masked(rest); });
  }
  int64_t steps = length.constantValue() / step, rest = length.constantValue() % step;
  auto indexAt = [&](int64_t number) {
    return vectors_.add(begin, vectors_.integer(number * step));
  };
  if (steps > mostSteps)
    vectors_.forLoop(begin, indexAt(steps), step, whole);
  else
    for (int64_t number = 0; number < steps; ++number)
      whole(indexAt(number));
  if (rest != 0)
    at(indexAt(steps), (rest + width - 1) / width,
       rest % width == 0 ? Value() : vectors_.maskBelow(rest % width));
}

void LoopValues::acrossPlaces(llvm::function_ref<void()> inside) {
  llvm::SaveAndRestore extent(extent_);
  if (hasWholeBlock())
    extent_ = {1, body_.lastAxis(), 1, {}};
  inside();
}

//===- values --------------------------------------------------------------------------------===//

unsigned LoopValues::placesOf(Value value) const {
  return runsOver(value, body_.lastAxis()) ? places() : 1;
}

unsigned LoopValues::chunksOf(Value value) const { return runsOverVectors(value) ? chunks() : 1; }

// Distinguishes vectors across the places of a block from values of its first place.
static constexpr unsigned lanesOfPlaces = ~0u;

void LoopValues::set(Value value, unsigned place, unsigned chunk, Value vector) {
  if (isAcross() && runsOver(value, body_.lastAxis()))
    place = lanesOfPlaces;
  scopes_.back().values[{value, place, chunk}] = vector;
}

void LoopValues::setAcross(Value value, Value vector) {
  scopes_.back().values[{value, lanesOfPlaces, 0}] = vector;
}

// Whether there is one cell for each place of a block, and places are the lanes of vectors.
bool LoopValues::isPerPlace(Value value) const {
  return body_.schedule().hasBlocksInVectors() && placesOfBlock_ > 1 &&
         runsOver(value, body_.lastAxis()) && body_.schedule().innerAxes(value).empty();
}

Value LoopValues::across(Value value) {
  Value vector;
  acrossPlaces([&] { vector = get(value, 0, 0); });
  return vector;
}

bool LoopValues::isPacked(Value value) const {
  auto packed = body_.schedule().packed.find(value);
  if (isPacking_ || packed == body_.schedule().packed.end())
    return false;
  return packed->second != body_.schedule().parallel.back() || isAcross();
}

Value LoopValues::find(Value value, unsigned place, unsigned chunk) const {
  for (const Scope &scope : llvm::reverse(scopes_)) {
    if (auto known = scope.values.find({value, place, chunk}); known != scope.values.end())
      return known->second;
    // Outside of the loop are values of another place.
    if (scope.axis && runsOver(value, *scope.axis))
      break;
  }
  return {};
}

Value LoopValues::get(Value value, unsigned place, unsigned chunk) {
  place = std::min(place, placesOf(value) - 1);
  chunk = std::min(chunk, chunksOf(value) - 1);
  bool isOfLanes = isAcross() && runsOver(value, body_.lastAxis());
  if (Value known = find(value, isOfLanes ? lanesOfPlaces : place, chunk))
    return known;
  auto reduction = value.getDefiningOp<plan::ReduceOp>();
  Value vector;
  if (auto cells = cellsOfPlaces_.find(value); cells != cellsOfPlaces_.end()) {
    Type type = vectors_.registerType(plan::cellsOf(value));
    Value cell = vectors_.offset(cells->second, placeNumber_, type);
    vector = vectors_.splat(vectors_.loadScalar(cell, type));
  } else if (!isAcross() && !placeNumber_ && isPerPlace(value)) {
    vector = vectors_.splatLane(across(value), place);
  } else if (isPacked(value)) {
    vector = load(packedOf(value), place, chunk);
  } else if (isLoaded(value) && liesSideBySide(value)) {
    loadSideBySide(value, chunk);
    return get(value, place, chunk);
  } else if (isLoaded(value)) {
    vector = load(panelOf(value, place), place, chunk);
  } else if (reduction) {
    reduce(reduction);
    return get(value, place, chunk);
  } else {
    vector = compute(value, place, chunk);
  }
  set(value, place, chunk, vector);
  return vector;
}

void LoopValues::forPlaces(ArrayRef<Value> uses, bool isUnrolled,
                           llvm::function_ref<void(Value number)> inside) {
  llvm::DenseSet<Value> visited;
  for (Value used : uses)
    storeCellsOfPlaces(used, visited);
  unsigned last = body_.lastAxis();
  Value first = index(last);
  llvm::SaveAndRestore places(extent_.places, 1u);
  auto at = [&](Value number) {
    llvm::SaveAndRestore placeNumber(placeNumber_, number);
    inLoop(last, vectors_.add(first, number), [&] { inside(number); });
  };
  if (isUnrolled)
    for (int64_t number = 0; number < placesOfBlock_; ++number)
      at(vectors_.integer(number));
  else
    vectors_.forLoop(vectors_.integer(0), vectors_.integer(placesOfBlock_), 1, at);
  cellsOfPlaces_.clear();
}

// Of what is complete for all places, but not what is read.
void LoopValues::storeCellsOfPlaces(Value value, llvm::DenseSet<Value> &visited) {
  Operation *operation = value.getDefiningOp();
  if (!visited.insert(value).second || isLoaded(value) ||
      isa<plan::ReadOp, plan::ReindexOp>(operation))
    return;
  if (!isPerPlace(value)) {
    for (Value operand : operation->getOperands())
      storeCellsOfPlaces(operand, visited);
    return;
  }
  Value variable = this->variable();
  vectors_.store(across(value), variable, {});
  cellsOfPlaces_[value] = variable;
}

Value LoopValues::at(unsigned axis, Value index, Value value) {
  llvm::SaveAndRestore extent(extent_, Extent{places(), {}, 1, {}});
  Value cell;
  inLoop(axis, index, [&] { cell = get(value, 0, 0); });
  return cell;
}

// In vectors of eight cells, for which all functions exist. What is reduced comes later: it may read
// what is packed.
void LoopValues::computeUniform() {
  int64_t width = vectors_.width();
  vectors_.setWidth(VectorBuilder::lanes);
  llvm::DenseSet<Operation *> later;
  for (Operation &operation : body_.block()) {
    auto cell = operation.getNumResults() == 1
                    ? dyn_cast<plan::CellType>(operation.getResult(0).getType())
                    : plan::CellType();
    bool isNow = cell && cell.getAxes().empty() && !isa<plan::ReduceOp>(operation) &&
                 llvm::none_of(operation.getOperands(), [&](Value operand) {
                   return later.contains(operand.getDefiningOp());
                 });
    if (isNow)
      get(operation.getResult(0), 0, 0);
    else
      later.insert(&operation);
  }
  vectors_.setWidth(width);
  if (width != VectorBuilder::lanes)
    for (auto &[key, vector] : scopes_.front().values)
      vector = vectors_.splat(vectors_.lane(vector, 0));
}

Value LoopValues::compute(Value value, unsigned place, unsigned chunk) {
  Operation *operation = value.getDefiningOp();
  if (auto read = dyn_cast<plan::ReadOp>(operation))
    return this->read(read, place, chunk);
  if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
    return this->reindex(reindex, place, chunk);
  if (auto wanted = dyn_cast<plan::SizeOp>(operation)) {
    Size size = *Size::parse(wanted.getSize().str());
    return vectors_.splat(this->size(sizeAtLaunch(body_.op(), size)));
  }
  SmallVector<Value> operands;
  for (Value operand : operation->getOperands())
    operands.push_back(get(operand, place, chunk));
  return emitCell(vectors_, operation, operands);
}

void LoopValues::hoist(Value value, ArrayRef<unsigned> loops) {
  llvm::DenseSet<Value> visited;
  hoist(value, loops, visited);
}

void LoopValues::hoist(Value value, ArrayRef<unsigned> loops, llvm::DenseSet<Value> &visited) {
  Operation *operation = value.getDefiningOp();
  if (isa<plan::ConstantOp, plan::SizeOp>(operation) || !visited.insert(value).second)
    return;
  if (!llvm::any_of(loops, [&](unsigned axis) { return runsOver(value, axis); })) {
    for (unsigned place = 0; place < placesOf(value); ++place)
      for (unsigned chunk = 0; chunk < chunksOf(value); ++chunk)
        get(value, place, chunk);
    return;
  }
  if (isLoaded(value) || isa<plan::ReadOp, plan::ScanOp, plan::ReindexOp>(operation))
    return;
  if (auto reduce = dyn_cast<plan::ReduceOp>(operation)) {
    if (std::optional<SampledProduct> product = body_.sampledProduct(reduce))
      return beginSampledProduct(*product);
    SmallVector<unsigned> inside(loops);
    inside.append(reduce.getOver().begin(), reduce.getOver().end());
    return hoist(reduce.getOperand(), inside);
  }
  for (Value operand : operation->getOperands())
    hoist(operand, loops, visited);
}

//===- aggregates ----------------------------------------------------------------------------===//

AccumulatorSlot LoopValues::openSlot(Operation *aggregation, unsigned place, unsigned chunk) {
  Accumulator neutral = neutralAccumulator(vectors_, reductionOf(aggregation));
  AccumulatorSlot slot{aggregation, place, chunk, variable(), neutral.index ? variable() : Value()};
  store(slot, neutral);
  return slot;
}

Accumulator LoopValues::load(const AccumulatorSlot &slot) {
  Type type = vectors_.registerType(reductionOf(slot.aggregation).accumulator);
  return {vectors_.load(slot.value, {}, type),
          slot.index ? vectors_.load(slot.index, {}) : Value()};
}

void LoopValues::store(const AccumulatorSlot &slot, const Accumulator &accumulator) {
  vectors_.store(accumulator.value, slot.value, {});
  if (slot.index)
    vectors_.store(accumulator.index, slot.index, {});
}

void LoopValues::accumulate(const AccumulatorSlot &slot, unsigned chunk, Value mask) {
  store(slot, accumulate(slot.aggregation, load(slot), slot.place, chunk, mask));
}

// Numbers of places along an axis, counted from 1, which are exact as doubles.
Value LoopValues::numbersAlong(unsigned axis, unsigned place, unsigned chunk) {
  Value first =
      vectors_.create<arith::SIToFPOp>(vectors_.doubleType(), indexOf(axis, place, chunk));
  Value beyond = vectors_.number(1);
  if (extent_.axis == axis)
    beyond = emitBinary(vectors_, BinaryOperator::Add, vectors_.laneNumbers(), beyond);
  return emitBinary(vectors_, BinaryOperator::Add, vectors_.splat(first), beyond);
}

Contribution LoopValues::contribution(Operation *aggregation, unsigned place, unsigned chunk) {
  Value operand = aggregation->getOperand(0);
  auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
  plan::BinaryOp product = reduce ? plan::productIn(reduce) : plan::BinaryOp();
  if (!product || !isFloat(plan::cellsOf(operand)))
    return {get(operand, place, chunk), {}};
  Value lhs = get(product.getLhs(), place, chunk);
  return {lhs, get(product.getRhs(), place, chunk)};
}

Accumulator LoopValues::accumulate(Operation *aggregation, Accumulator accumulator, unsigned place,
                                   unsigned chunk, Value mask) {
  Value operand = aggregation->getOperand(0);
  auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
  Reduction reduction = reductionOf(aggregation);
  if (isIndex(reduction.kind))
    return accumulateIndex(vectors_, reduction, accumulator, get(operand, place, chunk),
                           numbersAlong(reduce.getOver().front(), place, chunk), mask);
  return {codegen::accumulate(vectors_, reduction, accumulator.value,
                              contribution(aggregation, place, chunk), mask),
          {}};
}

static ElementType typeOfTotal(Operation *aggregation) {
  return isIndex(kindOf(aggregation)) ? ElementType::F64 : accumulatorOf(aggregation);
}

Value LoopValues::finish(Operation *aggregation, Accumulator accumulator, bool isOverLanes) {
  Reduction reduction = reductionOf(aggregation);
  Value total = accumulator.value;
  if (isOverLanes) {
    total = reduceOne(vectors_, reduction, accumulator);
  } else if (isIndex(reduction.kind)) {
    total = emitBinary(vectors_, BinaryOperator::Max, accumulator.index, vectors_.number(1));
  }
  if (auto reduce = dyn_cast<plan::ReduceOp>(aggregation); reduce && hasAbsentCells(reduce))
    total = withAbsentCells(reduce, total);
  return vectors_.convert(total, typeOfTotal(aggregation),
                          plan::cellsOf(aggregation->getResult(0)));
}

Value LoopValues::finishEach(Operation *aggregation, ArrayRef<Accumulator> accumulators) {
  return vectors_.convert(reduceEach(vectors_, reductionOf(aggregation), accumulators),
                          typeOfTotal(aggregation), plan::cellsOf(aggregation->getResult(0)));
}

Value LoopValues::carried(plan::ScanOp scan, Value place) {
  return vectors_.offset(panels_[scan.getCell()].base, place,
                         vectors_.registerType(accumulatorOf(scan)));
}

// Emits the loops of a reduction for all places and chunks together.
void LoopValues::reduce(plan::ReduceOp reduce) {
  SmallVector<unsigned> axes(reduce.getOver().begin(), reduce.getOver().end());
  body_.schedule().sort(axes);
  unsigned places = placesOf(reduce.getCell()), chunks = chunksOf(reduce.getCell());
  if (std::optional<SampledProduct> product = body_.sampledProduct(reduce);
      product && extent_.axis == body_.entries()->column) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk)
      set(reduce.getCell(), 0, chunk,
          vectors_.convert(sample(*product, chunk), accumulatorOf(reduce),
                           plan::cellsOf(reduce.getCell())));
    return;
  }
  hoist(reduce.getOperand(), axes);
  // Within these loops the axis of vectors may be another loop.
  llvm::SaveAndRestore extent(extent_);
  if (extent_.axis && llvm::is_contained(axes, *extent_.axis))
    extent_ = {this->places(), {}, 1, {}};
  unsigned count = places * chunks;
  // Few accumulators over entries are two of each in turn, which halves the chain of dependent
  // instructions.
  bool isOverEntries = axes.size() == 1 && body_.isOverEntries(axes.front());
  unsigned sets = isOverEntries && count <= 2 ? 2 : 1;
  SmallVector<AccumulatorSlot> slots;
  for (unsigned number = 0; number < count * sets; ++number)
    slots.push_back(openSlot(reduce, number % count / chunks, number % chunks));
  auto add = [&](unsigned set) {
    for (const AccumulatorSlot &slot : ArrayRef(slots).slice(set * count, count))
      accumulate(slot, slot.chunk, {});
  };
  if (isOverEntries)
    forAxis(axes.front(), entriesTogether, [&](int64_t number) { add(number % sets); });
  else
    forAxes(axes, [&] { add(0); });
  for (unsigned number = 0; number < count; ++number) {
    const AccumulatorSlot &slot = slots[number];
    Accumulator total = load(slot);
    if (sets == 2)
      total.value =
          combine(vectors_, reductionOf(reduce), total.value, load(slots[number + count]).value);
    set(reduce.getCell(), slot.place, slot.chunk, finish(reduce, total, /*isOverLanes=*/false));
  }
}
