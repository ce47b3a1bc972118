#include "codegen/loops/LoopValues.h"

#include "codegen/Aggregation.h"
#include "codegen/CellEmission.h"
#include "codegen/LaunchSizes.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

LoopValues::LoopValues(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
                       abi::KernelPlan &plan)
    : body_(body), vectors_(vectors), tile_(tile), plan_(plan),
      beginning_(vectors.integer(0).getDefiningOp()) {
  const schedule::Schedule &schedule = body.schedule();
  Value next = tile.scratch;
  for (const LoopPass &pass : body.passes())
    for (Value kept : pass.kept) {
      Size doubles = Size::constant(schedule.block * placesOfVectors(kept));
      for (unsigned axis : body.panelAxes(kept))
        doubles = doubles * body.axes()[axis];
      addPanel(kept, doubles, next);
    }
  if (body.carriesInMemory())
    for (plan::ScanOp scan : body.passes().front().scans)
      addPanel(scan.getCell(), body.axes()[schedule.parallel.back()], next);
  for (auto [packed, axis] : schedule.packed) {
    Size step = Size::constant(schedule.unroll * schedule.lanes), cells = step;
    if (!schedule.vectorsOutside)
      cells = step * floorDivide(body.axes()[axis] + step - Size::constant(1), step);
    addPanel(packed, cells * cellsBesideVectors(packed), next);
  }
}

// How many places of a block vectors along places compute together, each with cells of its own in the
// panel.
int64_t LoopValues::placesOfVectors(Value kept) const {
  const schedule::Schedule &schedule = body_.schedule();
  bool differ = schedule.vectorizesBlocks() && runsOver(kept, schedule.parallel.back());
  return differ ? schedule.unroll * schedule.lanes : 1;
}

// Each panel begins behind the one before it, at a multiple of eight doubles.
void LoopValues::addPanel(Value value, const Size &doubles, Value &next) {
  plan_.scratchSizes.push_back(doubles);
  panels_[value] = next;
  Value rounded = vectors_.roundDownToLanes(vectors_.add(size(doubles), vectors_.integer(7)));
  next = vectors_.offset(next, rounded);
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
  vectors_.forLoop(
      vectors_.integer(0), axisSize(axes.front()), 1, state, [&](Value index, State &carried) {
        inLoop(axes.front(), index, [&] { forAxes(axes.drop_front(), carried, inside); });
      });
}

//===- values --------------------------------------------------------------------------------===//

bool LoopValues::runsOver(Value value, unsigned axis) const {
  return cast<plan::CellType>(value.getType()).runsOver(axis);
}

unsigned LoopValues::placesOf(Value value) const {
  return runsOver(value, body_.schedule().parallel.back()) ? places_ : 1;
}

unsigned LoopValues::chunksOf(Value value) const { return runsOverVectors(value) ? chunks_ : 1; }

void LoopValues::set(Value value, unsigned place, unsigned chunk, Value vector) {
  scopes_.back().values[{value, place, chunk}] = vector;
}

Value LoopValues::get(Value value, unsigned place, unsigned chunk) {
  place = std::min(place, placesOf(value) - 1);
  chunk = std::min(chunk, chunksOf(value) - 1);
  for (Scope &scope : llvm::reverse(scopes_)) {
    if (auto known = scope.values.find({value, place, chunk}); known != scope.values.end())
      return known->second;
    // Outside of the loop are values of another place.
    if (llvm::any_of(scope.axes, [&](unsigned axis) { return runsOver(value, axis); }))
      break;
  }
  auto reduction = value.getDefiningOp<plan::ReduceOp>();
  bool isLoaded = body_.schedule().kept.contains(value) && body_.passOf(value) != pass_;
  if (!isPacking_ && body_.schedule().packed.contains(value)) {
    Value vector = load(packedOf(value), place, chunk, {});
    set(value, place, chunk, vector);
    return vector;
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
    SmallVector<unsigned> inside(loops);
    inside.append(reduce.getOver().begin(), reduce.getOver().end());
    return hoist(reduce.getOperand(), inside);
  }
  for (Value operand : operation->getOperands())
    hoist(operand, loops, visited);
}

//===- aggregates ----------------------------------------------------------------------------===//

// Whether the aggregate is accumulated in f32, in which it is not extended.
static bool isSinglePrecision(Operation *aggregation) {
  return accumulatorOf(aggregation) == ElementType::F32;
}

static Reduction reductionOf(Operation *aggregation) {
  return {kindOf(aggregation), plan::cellsOf(aggregation->getOperand(0))};
}

Value LoopValues::neutral(Operation *aggregation) {
  Value neutral = neutralElement(vectors_, reductionOf(aggregation));
  return isSinglePrecision(aggregation)
             ? vectors_.round(neutral, vectors_.registerType(ElementType::F32))
             : neutral;
}

Value LoopValues::accumulate(Operation *aggregation, Value accumulator, unsigned place,
                             unsigned chunk, Value mask) {
  Value operand = aggregation->getOperand(0);
  auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
  plan::BinaryOp product = reduce ? plan::productIn(reduce) : plan::BinaryOp();
  if (product && !isFloat(plan::cellsOf(operand)))
    product = {};
  Contribution contribution;
  if (product)
    contribution = {get(product.getLhs(), place, chunk), get(product.getRhs(), place, chunk)};
  else
    contribution = {get(operand, place, chunk), {}};
  Reduction reduction = reductionOf(aggregation);
  if (!isSinglePrecision(aggregation))
    return codegen::accumulate(vectors_, reduction, accumulator, contribution, mask);
  Value next = contribution.factor
                   ? vectors_.fma(contribution.value, contribution.factor, accumulator)
                   : combine(vectors_, reduction, accumulator, contribution.value);
  return mask ? vectors_.select(mask, next, accumulator) : next;
}

Value LoopValues::finish(Operation *aggregation, Value accumulator, bool overLanes) {
  Reduction reduction = reductionOf(aggregation);
  ElementType cells = plan::cellsOf(aggregation->getResult(0));
  if (overLanes) {
    int64_t width = vectors_.width();
    if (width > VectorBuilder::lanes) {
      static constexpr int64_t low[] = {0, 1, 2, 3, 4, 5, 6, 7},
                               high[] = {8, 9, 10, 11, 12, 13, 14, 15};
      Value halves[] = {vectors_.shuffle(accumulator, accumulator, low),
                        vectors_.shuffle(accumulator, accumulator, high)};
      vectors_.setWidth(VectorBuilder::lanes);
      accumulator = combine(vectors_, reduction, halves[0], halves[1]);
    }
    accumulator = reduceOne(vectors_, reduction, {accumulator, {}});
    vectors_.setWidth(width);
    if (width > VectorBuilder::lanes)
      accumulator = vectors_.splat(vectors_.lane(accumulator, 0));
  }
  return vectors_.convert(accumulator, accumulatorOf(aggregation), cells);
}

Value LoopValues::carried(plan::ScanOp scan, Value place) {
  return vectors_.offset(panels_.lookup(scan.getCell()), place,
                         vectors_.registerType(accumulatorOf(scan)));
}

// Emits the loops of a reduction for all places and chunks together.
void LoopValues::reduce(plan::ReduceOp reduce) {
  SmallVector<unsigned> axes(reduce.getOver().begin(), reduce.getOver().end());
  llvm::sort(axes, [&](unsigned a, unsigned b) {
    ArrayRef<unsigned> order = body_.schedule().order;
    return std::pair(llvm::find(order, a), a) < std::pair(llvm::find(order, b), b);
  });
  unsigned places = placesOf(reduce.getCell()), chunks = chunksOf(reduce.getCell());
  hoist(reduce.getOperand(), axes);
  // Within these loops the axis of vectors may be another loop.
  llvm::SaveAndRestore vectorAxis(vectorAxis_);
  llvm::SaveAndRestore chunkCount(chunks_);
  if (vectorAxis_ && llvm::is_contained(axes, *vectorAxis_)) {
    vectorAxis_.reset();
    chunks_ = 1;
  }
  State state(places * chunks, neutral(reduce));
  forAxes(axes, state, [&](State &carried) {
    for (unsigned place = 0; place < places; ++place)
      for (unsigned chunk = 0; chunk < chunks; ++chunk) {
        Value &accumulator = carried[place * chunks + chunk];
        accumulator = accumulate(reduce, accumulator, place, chunk, {});
      }
  });
  for (unsigned place = 0; place < places; ++place)
    for (unsigned chunk = 0; chunk < chunks; ++chunk)
      set(reduce.getCell(), place, chunk,
          finish(reduce, state[place * chunks + chunk], /*overLanes=*/false));
}
