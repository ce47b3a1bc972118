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
  const schedule::Schedule &schedule = body.schedule();
  for (Value kept : schedule.kept) {
    Size doubles = Size::constant(schedule.block * placesOfVectors(kept));
    SmallVector<unsigned> axes = body.panelAxes(kept);
    // Whole vectors of the last axis are read and written if places lie side by side.
    bool sideBySide = body.hasPlacesSideBySide(kept);
    for (unsigned axis : axes)
      doubles = doubles * (sideBySide && axis == axes.back()
                               ? codegen::roundedUp(body.axes()[axis], schedule.lanes)
                               : body.axes()[axis]);
    panels_[kept] = scratch(doubles);
  }
  if (body.carriesInMemory())
    for (plan::ScanOp scan : body.passes().front().scans)
      panels_[scan.getCell()] = scratch(body.axes()[body.lastAxis()]);
  for (auto [packed, axis] : schedule.packed) {
    if (axis == schedule.parallel.back()) {
      Size cells = Size::constant(schedule.block);
      for (unsigned inner : schedule.innerAxes(packed))
        cells = cells * codegen::roundedUp(body.axes()[inner], schedule.lanes);
      panels_[packed] = scratch(cells);
      continue;
    }
    Size step = Size::constant(schedule.unroll * schedule.lanes), cells = step;
    if (!schedule.vectorsOutside)
      cells = codegen::roundedUp(body.axes()[axis], step.constantValue());
    panels_[packed] = scratch(cells * cellsBesideVectors(packed));
  }
  if (!body.entries())
    return;
  for (Operation &operation : body.block()) {
    auto read = dyn_cast<plan::ReadOp>(operation);
    if (read && tok::isArray(read.getOperand().getType()) && !body.isDriver(read) &&
        tile.patterns.contains(inputNumber(body.op(), read))) {
      lookedUp_.push_back(read);
      panels_[read.getCell()] = scratch(body.axes()[body.entries()->column]);
    }
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (reduce && !sampledRows_ && body.sampledProduct(reduce))
      sampledRows_ = scratch(Size::constant(VectorBuilder::lanes * VectorBuilder::lanes));
  }
}

// How many places of a block vectors along places compute together, each with cells of its own in the
// panel.
int64_t LoopValues::placesOfVectors(Value kept) const {
  const schedule::Schedule &schedule = body_.schedule();
  bool differ = schedule.vectorizesBlocks() && runsOver(kept, body_.lastAxis());
  return differ ? schedule.unroll * schedule.lanes : 1;
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

Value LoopValues::variable() {
  return atBeginning([&]() -> Value {
    OpBuilder &builder = vectors_.builder();
    auto type = VectorType::get(vectors_.width(), builder.getF64Type());
    return builder.create<LLVM::AllocaOp>(builder.getUnknownLoc(), vectors_.pointerType(), type,
                                          vectors_.integer(1));
  });
}

Value LoopValues::staging() {
  if (!staging_)
    staging_ = atBeginning([&]() -> Value {
      OpBuilder &builder = vectors_.builder();
      auto type = VectorType::get(vectors_.width(), builder.getF64Type());
      return builder.create<LLVM::AllocaOp>(builder.getUnknownLoc(), vectors_.pointerType(), type,
                                            vectors_.integer(vectors_.width()));
    });
  return staging_;
}

Value LoopValues::atBeginning(llvm::function_ref<Value()> emit) {
  OpBuilder::InsertionGuard guard(vectors_.builder());
  vectors_.builder().setInsertionPoint(beginning_);
  return emit();
}

Value LoopValues::size(const Size &atLaunch) {
  if (atLaunch.isConstant())
    return vectors_.integer(atLaunch.constantValue());
  Value &known = sizes_[atLaunch.text()];
  if (!known) {
    auto number = static_cast<int64_t>(plan_.sizes.size());
    plan_.sizes.push_back(atLaunch);
    known = atBeginning([&] {
      return vectors_.integerMember(tile_.sizes, number * static_cast<int64_t>(sizeof(int64_t)));
    });
  }
  return known;
}

//===- loops ---------------------------------------------------------------------------------===//

void LoopValues::beginChunks(std::optional<unsigned> vectorAxis, unsigned chunks, Value mask) {
  vectorAxis_ = vectorAxis;
  chunks_ = chunks;
  mask_ = mask;
}

void LoopValues::endChunks() { beginChunks({}, 1, {}); }

void LoopValues::beginAcross() {
  beginChunks(body_.lastAxis(), 1, {});
  places_ = 1;
}

void LoopValues::endAcross() {
  endChunks();
  places_ = placesOfBlock_;
}

void LoopValues::inLoop(unsigned axis, Value index, llvm::function_ref<void()> inside) {
  indices_.push_back({axis, index});
  scopes_.emplace_back().axes = {axis};
  inside();
  scopes_.pop_back();
  indices_.pop_back();
}

void LoopValues::forAxes(ArrayRef<unsigned> axes, State &state, LoopBodyFunction inside) {
  if (axes.empty())
    return inside(state);
  auto [begin, end] = rangeOf(axes.front());
  vectors_.forLoop(begin, end, 1, state, [&](Value index, State &carried) {
    inLoop(axes.front(), index, [&] { forAxes(axes.drop_front(), carried, inside); });
  });
}

void LoopValues::forAxis(unsigned axis, int64_t unrolling, State &state, LoopBodyFunction inside) {
  const Size &length = body_.axes()[axis];
  if (unrolling == 1 || !length.isConstant())
    return forAxes({axis}, state, inside);
  int64_t whole = length.constantValue() / unrolling * unrolling;
  auto at = [&](Value index, State &carried) { inLoop(axis, index, [&] { inside(carried); }); };
  if (whole > unrolling)
    vectors_.forLoop(vectors_.integer(0), vectors_.integer(whole), unrolling, state,
                     [&](Value first, State &carried) {
                       for (int64_t step = 0; step < unrolling; ++step)
                         at(vectors_.add(first, vectors_.integer(step)), carried);
                     });
  for (int64_t step = whole > unrolling ? whole : 0; step < length.constantValue(); ++step)
    at(vectors_.integer(step), state);
}

//===- values --------------------------------------------------------------------------------===//

unsigned LoopValues::placesOf(Value value) const {
  return runsOver(value, body_.lastAxis()) ? places_ : 1;
}

unsigned LoopValues::chunksOf(Value value) const { return runsOverVectors(value) ? chunks_ : 1; }

// Distinguishes vectors across the places of a block from values of its first place.
static constexpr unsigned acrossPlaces = ~0u;

void LoopValues::set(Value value, unsigned place, unsigned chunk, Value vector) {
  if (isAcross() && runsOver(value, body_.lastAxis()))
    place = acrossPlaces;
  scopes_.back().values[{value, place, chunk}] = vector;
}

void LoopValues::setAcross(Value value, Value vector) {
  scopes_.back().values[{value, acrossPlaces, 0}] = vector;
}

// Whether there is one cell for each place of a block, and places are the lanes of vectors.
bool LoopValues::isPerPlace(Value value) const {
  return body_.schedule().hasBlocksInVectors() && placesOfBlock_ > 1 &&
         runsOver(value, body_.lastAxis()) && body_.schedule().innerAxes(value).empty();
}

Value LoopValues::across(Value value) {
  llvm::SaveAndRestore vectorAxis(vectorAxis_, std::optional(body_.lastAxis()));
  llvm::SaveAndRestore chunks(chunks_, 1u);
  llvm::SaveAndRestore places(places_, 1u);
  llvm::SaveAndRestore mask(mask_, Value());
  return get(value, 0, 0);
}

bool LoopValues::isPacked(Value value) const {
  auto packed = body_.schedule().packed.find(value);
  if (isPacking_ || packed == body_.schedule().packed.end())
    return false;
  return packed->second != body_.schedule().parallel.back() || isAcross();
}

Value LoopValues::get(Value value, unsigned place, unsigned chunk) {
  place = std::min(place, placesOf(value) - 1);
  chunk = std::min(chunk, chunksOf(value) - 1);
  unsigned key = isAcross() && runsOver(value, body_.lastAxis()) ? acrossPlaces : place;
  for (Scope &scope : llvm::reverse(scopes_)) {
    if (auto known = scope.values.find({value, key, chunk}); known != scope.values.end())
      return known->second;
    // Outside of the loop are values of another place.
    if (llvm::any_of(scope.axes, [&](unsigned axis) { return runsOver(value, axis); }))
      break;
  }
  if (!isAcross() && isPerPlace(value)) {
    Value vector = vectors_.splatLane(across(value), place);
    set(value, place, chunk, vector);
    return vector;
  }
  auto reduction = value.getDefiningOp<plan::ReduceOp>();
  bool isLoaded = body_.schedule().kept.contains(value) && body_.passOf(value) != pass_;
  if (isPacked(value)) {
    Value vector = load(packedOf(value), place, chunk, {});
    set(value, place, chunk, vector);
    return vector;
  }
  if (isLoaded && liesSideBySide(value)) {
    loadSideBySide(value, chunk);
    return get(value, place, chunk);
  }
  if (reduction && !isLoaded) {
    reduce(reduction);
    return get(value, place, chunk);
  }
  Value vector =
      isLoaded ? load(panelOf(value, place), place, chunk, {}) : compute(value, place, chunk);
  set(value, place, chunk, vector);
  return vector;
}

Value LoopValues::at(unsigned axis, Value index, Value value) {
  llvm::SaveAndRestore vectorAxis(vectorAxis_);
  llvm::SaveAndRestore chunks(chunks_, 1u);
  llvm::SaveAndRestore mask(mask_, Value());
  vectorAxis_.reset();
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
  bool isLoaded = body_.schedule().kept.contains(value) && body_.passOf(value) != pass_;
  if (isLoaded || isa<plan::ReadOp, plan::ScanOp, plan::ReindexOp>(operation))
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

Accumulator LoopValues::neutral(Operation *aggregation) {
  return neutralAccumulator(vectors_, reductionOf(aggregation));
}

// Numbers of places along an axis, counted from 1, which are exact as doubles.
Value LoopValues::numbersAlong(unsigned axis, unsigned place, unsigned chunk) {
  OpBuilder &builder = vectors_.builder();
  Value first = builder.create<arith::SIToFPOp>(builder.getUnknownLoc(), builder.getF64Type(),
                                                indexOf(axis, place, chunk));
  Value beyond = vectors_.number(1);
  if (vectorAxis_ == axis)
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
  return vectors_.offset(panels_.lookup(scan.getCell()), place,
                         vectors_.registerType(accumulatorOf(scan)));
}

// Emits the loops of a reduction for all places and chunks together.
void LoopValues::reduce(plan::ReduceOp reduce) {
  SmallVector<unsigned> axes(reduce.getOver().begin(), reduce.getOver().end());
  body_.schedule().sort(axes);
  unsigned places = placesOf(reduce.getCell()), chunks = chunksOf(reduce.getCell());
  if (std::optional<SampledProduct> product = body_.sampledProduct(reduce);
      product && vectorAxis_ == body_.entries()->column) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk)
      set(reduce.getCell(), 0, chunk,
          vectors_.convert(sample(*product, chunk), accumulatorOf(reduce),
                           plan::cellsOf(reduce.getCell())));
    return;
  }
  hoist(reduce.getOperand(), axes);
  // Within these loops the axis of vectors may be another loop.
  llvm::SaveAndRestore vectorAxis(vectorAxis_);
  llvm::SaveAndRestore chunkCount(chunks_);
  llvm::SaveAndRestore mask(mask_);
  if (vectorAxis_ && llvm::is_contained(axes, *vectorAxis_)) {
    vectorAxis_.reset();
    chunks_ = 1;
    mask_ = {};
  }
  // The values of all accumulators, then their indices, if there are any.
  Accumulator first = neutral(reduce);
  unsigned count = places * chunks;
  // Few accumulators over entries are two of each in turn, which halves the chain of dependent
  // instructions.
  bool isOverEntries = axes.size() == 1 && body_.isOverEntries(axes.front());
  unsigned sets = isOverEntries && count <= 2 ? 2 : 1;
  State state(count * sets, first.value);
  if (first.index)
    state.append(count, first.index);
  auto accumulatorAt = [&](const State &state, unsigned number) {
    return Accumulator{state[number], first.index ? state[count + number] : Value()};
  };
  auto add = [&](unsigned set, State &carried) {
    for (unsigned place = 0; place < places; ++place)
      for (unsigned chunk = 0; chunk < chunks; ++chunk) {
        unsigned number = set * count + place * chunks + chunk;
        Accumulator next = accumulate(reduce, accumulatorAt(carried, number), place, chunk, {});
        carried[number] = next.value;
        if (next.index)
          carried[count + number] = next.index;
      }
  };
  if (isOverEntries)
    forEntries(state, [&](int64_t number, State &carried) { add(number % sets, carried); });
  else
    forAxes(axes, state, [&](State &carried) { add(0, carried); });
  for (unsigned number = count; number < count * sets; ++number)
    state[number - count] =
        combine(vectors_, reductionOf(reduce), state[number - count], state[number]);
  for (unsigned place = 0; place < places; ++place)
    for (unsigned chunk = 0; chunk < chunks; ++chunk)
      set(reduce.getCell(), place, chunk,
          finish(reduce, accumulatorAt(state, place * chunks + chunk), /*isOverLanes=*/false));
}
