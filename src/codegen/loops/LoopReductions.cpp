// Reductions and scans of LoopValues: accumulators, what a step adds, the loops of a reduction.
#include "codegen/CellEmission.h"
#include "codegen/loops/LoopValues.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

AccumulatorSlot LoopValues::openSlot(Operation *aggregation, unsigned place, unsigned chunk) {
  Reduction reduction = reductionOf(aggregation);
  bool isExtreme = isa<plan::ReduceOp>(aggregation) && reduction.isExtremeOfFloats();
  Value beside = reduction.isIndex() ? vectors_.number(0)
                 : isExtreme         ? vectors_.number(0, vectors_.builder().getI1Type())
                                     : Value();
  AccumulatorSlot slot{aggregation, place, chunk, variable(), beside ? variable() : Value()};
  store(slot, {neutralElement(vectors_, reduction), beside});
  return slot;
}

Accumulator LoopValues::load(const AccumulatorSlot &slot) {
  Reduction reduction = reductionOf(slot.aggregation);
  Value value = vectors_.load(slot.value, {}, vectors_.registerType(reduction.accumulator));
  Type beside = reduction.isIndex() ? vectors_.doubleType() : vectors_.builder().getI1Type();
  return {value, slot.beside ? vectors_.load(slot.beside, {}, beside) : Value()};
}

void LoopValues::store(const AccumulatorSlot &slot, const Accumulator &accumulator) {
  vectors_.store(accumulator.value, slot.value, {});
  if (slot.beside)
    vectors_.store(accumulator.beside, slot.beside, {});
}

void LoopValues::accumulate(const AccumulatorSlot &slot, unsigned chunk, Value mask) {
  store(slot, accumulate(slot.aggregation, load(slot), slot.place, chunk, mask));
}

// Where no cell is negative, each addition in f32 changes the sum by half a unit in its last place at
// most, and overflows only if the result does.
bool LoopValues::mayAddInCells(plan::ReduceOp reduce) const {
  Reduction reduction = reductionOf(reduce);
  auto function = reduce.getOperand().getDefiningOp<plan::UnaryOp>();
  return reduction.kind == AggregateKind::Sum && reduction.cells == ElementType::F32 &&
         reduction.accumulator == ElementType::F64 &&
         plan::cellsOf(reduce.getCell()) == ElementType::F32 && function &&
         isNeverNegative(function.getKind());
}

void LoopValues::accumulateTogether(const AccumulatorSlot &slot, unsigned end) {
  auto reduce = cast<plan::ReduceOp>(slot.aggregation);
  SmallVector<Value> sums;
  for (unsigned chunk = slot.chunk; chunk < end; ++chunk)
    sums.push_back(get(reduce.getOperand(), slot.place, chunk));
  while (sums.size() > 1) { // pairs of pairs
    size_t kept = 0;
    for (size_t first = 0; first < sums.size(); first += 2)
      sums[kept++] = first + 1 < sums.size()
                         ? emitBinary(vectors_, BinaryOperator::Add, sums[first], sums[first + 1],
                                      ElementType::F32)
                         : sums[first];
    sums.resize(kept);
  }
  Value next = codegen::accumulate(vectors_, reductionOf(reduce), load(slot).value,
                                   {sums.front(), {}}, /*mask=*/{});
  store(slot, {next, {}});
}

// Numbers of places along an axis, counted from 1, which are exact as doubles.
Value LoopValues::numbersAlong(unsigned axis, unsigned place, unsigned chunk) {
  auto number = [&](Value integers) {
    return vectors_.convert(integers, ElementType::I64, ElementType::F64);
  };
  Value first = vectors_.splat(number(indexOf(axis, place, chunk))), beyond = vectors_.number(1);
  if (extent_.axis == axis)
    beyond = emitBinary(vectors_, BinaryOperator::Add, number(vectors_.laneNumbers()), beyond);
  return emitBinary(vectors_, BinaryOperator::Add, first, beyond);
}

// What is read for a contribution: the factors of a product, kept or not, which is not rounded before it is added.
static SmallVector<Value, 2> contributing(Operation *aggregation) {
  Value operand = aggregation->getOperand(0);
  auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
  plan::BinaryOp product = reduce ? plan::productIn(reduce) : plan::BinaryOp();
  if (!product || !isFloat(plan::cellsOf(operand)))
    return {operand};
  return {product.getLhs(), product.getRhs()};
}

Contribution LoopValues::contribution(Operation *aggregation, unsigned place, unsigned chunk) {
  SmallVector<Value, 2> values = contributing(aggregation);
  Value first = get(values.front(), place, chunk);
  return {first, values.size() > 1 ? get(values.back(), place, chunk) : Value()};
}

Accumulator LoopValues::accumulate(Operation *aggregation, Accumulator accumulator, unsigned place,
                                   unsigned chunk, Value mask) {
  Value operand = aggregation->getOperand(0);
  auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
  Reduction reduction = reductionOf(aggregation);
  if (reduction.isIndex())
    return accumulateIndex(vectors_, reduction, accumulator, get(operand, place, chunk),
                           numbersAlong(reduce.getOver().front(), place, chunk), mask);
  if (accumulator.beside)
    return accumulateExtreme(vectors_, reduction, accumulator, get(operand, place, chunk), mask);
  return {codegen::accumulate(vectors_, reduction, accumulator.value,
                              contribution(aggregation, place, chunk), mask),
          {}};
}

Value LoopValues::finish(Operation *aggregation, ArrayRef<Accumulator> accumulators,
                         bool isOverLanes) {
  Reduction reduction = reductionOf(aggregation);
  Value total = accumulators.size() > 1 ? reduceEach(vectors_, reduction, accumulators)
                : isOverLanes           ? reduceOne(vectors_, reduction, accumulators.front())
                                        : finishLanes(vectors_, reduction, accumulators.front());
  if (auto reduce = dyn_cast<plan::ReduceOp>(aggregation))
    total = withAbsentCells(reduce, total);
  return vectors_.convert(total, reduction.isIndex() ? ElementType::F64 : reduction.accumulator,
                          plan::cellsOf(aggregation->getResult(0)));
}

Value LoopValues::carried(plan::ScanOp scan, Value place) {
  return vectors_.offset(panels_[scan.getCell()].base, place,
                         vectors_.registerType(reductionOf(scan).accumulator));
}

// Whether all cells that `value` is computed of lie behind one another along both axes: those of a packed factor
// and the rows of the other one in a convolution, whose windows are not.
bool LoopValues::areOneLoop(Value value, unsigned outer, unsigned inner) const {
  auto isWalked = [&](const LinearFunction &cell) {
    return cell.factors[outer].provedEqual(body_.axes()[inner] * cell.factors[inner]);
  };
  if (!runsOver(value, outer) && !runsOver(value, inner))
    return true;
  if (body_.schedule().windows.contains(value))
    return llvm::is_contained(panels_.find(value)->second.summed, inner);
  if (isPacked(value) || isLoaded(value))
    return isWalked(panels_.find(value)->second.cell);
  Operation *operation = value.getDefiningOp();
  if (isa<plan::ReadOp>(operation)) {
    const Access &access = body_.accessOf(operation);
    return !access.hasChecks() && access.cell.indices.empty() && isWalked(access.cell);
  }
  return isa<plan::UnaryOp, plan::BinaryOp, plan::CastOp>(operation) &&
         llvm::all_of(operation->getOperands(),
                      [&](Value operand) { return areOneLoop(operand, outer, inner); });
}

Size LoopValues::placesAlong(ArrayRef<unsigned> axes) const {
  Size places = Size::constant(1);
  for (unsigned axis : axes)
    places = places * body_.axes()[axis];
  return places;
}

// Whether the loops over the few places of a window are unrolled.
bool LoopValues::isUnrolled(ArrayRef<unsigned> axes) const {
  constexpr int64_t fewPlaces = 32;
  return !body_.schedule().windows.empty() &&
         schedule::isConstantUpTo(placesAlong(axes), fewPlaces);
}

void LoopValues::forMergedAxes(ArrayRef<unsigned> axes, ArrayRef<Value> values,
                               llvm::function_ref<void()> inside) {
  if (isUnrolled(axes)) {
    if (axes.empty())
      return inside();
    return forAxis(axes.front(), body_.axes()[axes.front()].constantValue(),
                   [&](int64_t) { forMergedAxes(axes.drop_front(), values, inside); });
  }
  Size length = Size::constant(1);
  size_t merged = axes.size();
  auto isMerged = [&](unsigned outer, unsigned inner) {
    return llvm::all_of(values, [&](Value value) { return areOneLoop(value, outer, inner); });
  };
  do
    length = length * body_.axes()[axes[--merged]];
  while (merged > 0 && !body_.entries() && isMerged(axes[merged - 1], axes[merged]));
  bool hasWindows = !body_.schedule().windows.empty();
  if (merged + 1 == axes.size() || (hasWindows && merged > 0))
    return forAxes(axes, inside);
  llvm::SaveAndRestore isOverWindows(isOverWindows_, hasWindows);
  forAxes(axes.take_front(merged), [&] {
    vectors_.forLoop(vectors_.integer(0), size(length), 1, [&](Value index) {
      inLoops(axes.slice(merged).drop_back(), vectors_.integer(0),
              [&] { inLoop(axes.back(), index, inside); });
    });
  });
}

// Emits the loops of a reduction for all places and chunks together.
void LoopValues::reduce(plan::ReduceOp reduce) {
  SmallVector<unsigned> axes(reduce.getOver().begin(), reduce.getOver().end());
  body_.schedule().sort(axes);
  unsigned places = placesOf(reduce.getCell()), chunks = chunksOf(reduce.getCell());
  if (std::optional<SampledProduct> product = body_.sampledProduct(reduce);
      product && extent_.axis == level().column) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk)
      set(reduce.getCell(), 0, chunk,
          vectors_.convert(sample(*product, chunk), product->accumulator,
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
    forMergedAxes(axes, contributing(reduce), [&] { add(0); });
  for (unsigned number = 0; number < count; ++number) {
    const AccumulatorSlot &slot = slots[number];
    Accumulator total = load(slot);
    if (sets == 2)
      total = combine(vectors_, reductionOf(reduce), total, load(slots[number + count]));
    set(reduce.getCell(), slot.place, slot.chunk, finish(reduce, {total}, /*isOverLanes=*/false));
  }
}
