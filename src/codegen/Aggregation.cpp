#include "codegen/Aggregation.h"

#include "codegen/CellEmission.h"
#include "ir/tok/ElementTypes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
// How cells are aggregated: by an operator, or, for indices, by which cell is better.
struct Aggregation {
  AggregateKind kind;
  BinaryOperator combine;
  double neutral;              // infinite: the largest or smallest number of the cells' type
  BinaryOperator prefers = {}; // of the places of equal cells
};
} // namespace

static const Aggregation &aggregationOf(AggregateKind kind) {
  static constexpr Aggregation aggregations[] = {
      {AggregateKind::Sum, BinaryOperator::Add, 0},
      {AggregateKind::Prod, BinaryOperator::Mul, 1},
      {AggregateKind::Min, BinaryOperator::Min, infinity},
      {AggregateKind::Max, BinaryOperator::Max, -infinity},
      {AggregateKind::IndexMin, BinaryOperator::Lt, infinity, BinaryOperator::Gt},
      {AggregateKind::IndexMax, BinaryOperator::Gt, -infinity, BinaryOperator::Gt},
      {AggregateKind::FirstIndexMin, BinaryOperator::Lt, infinity, BinaryOperator::Lt},
      {AggregateKind::FirstIndexMax, BinaryOperator::Gt, -infinity, BinaryOperator::Lt},
  };
  // Others were refused when the body was analysed.
  return *llvm::find_if(aggregations, [&](const auto &known) { return known.kind == kind; });
}

Value codegen::neutralElement(VectorBuilder &vectors, Reduction reduction) {
  double neutral = aggregationOf(reduction.kind).neutral;
  if (isFloat(reduction.cells) || std::isfinite(neutral))
    return vectors.number(neutral, vectors.registerType(reduction.accumulator));
  return vectors.integers(neutral > 0 ? largestInteger(reduction.cells)
                                      : leastInteger(reduction.cells));
}

// With the accumulator that the operation states: for indices of extremes that of the indices.
static Reduction stated(Operation *aggregation) {
  return llvm::TypeSwitch<Operation *, Reduction>(aggregation)
      .Case<plan::ReduceOp, plan::ScanOp>([](auto op) -> Reduction {
        return {op.getKind(), plan::cellsOf(op.getOperand()),
                *tok::elementTypeOf(op.getAccumulator())};
      });
}

Reduction codegen::reductionOf(Operation *aggregation) {
  Reduction reduction = stated(aggregation);
  return reduction.isIndex() ? reduction.widened() : reduction;
}

LogicalResult codegen::checkAccumulator(Operation *aggregation) {
  Reduction reduction = stated(aggregation);
  bool isSingle = reduction.cells == ElementType::F32 && reduction.accumulator == ElementType::F32;
  if (reduction.isIndex() ? reduction.accumulator == ElementType::F64
                          : isSingle || reduction.accumulator == reduction.widened().accumulator)
    return success();
  return aggregation->emitOpError("there is no code for accumulators of type ")
         << nameOf(reduction.accumulator) << " yet";
}

Value codegen::combine(VectorBuilder &vectors, Reduction reduction, Value a, Value b) {
  return emitBinary(vectors, aggregationOf(reduction.kind).combine, a, b, reduction.accumulator);
}

static Value inAccumulator(VectorBuilder &vectors, Reduction reduction, Value value) {
  return isFloat(reduction.cells)
             ? vectors.round(value, vectors.registerType(reduction.accumulator))
             : vectors.convert(value, reduction.cells, reduction.accumulator);
}

Value codegen::accumulate(VectorBuilder &vectors, Reduction reduction, Value accumulator,
                          Contribution contribution, Value mask) {
  contribution.value = inAccumulator(vectors, reduction, contribution.value);
  if (contribution.factor)
    contribution.factor = inAccumulator(vectors, reduction, contribution.factor);
  if (!accumulator) {
    Value first = contribution.value;
    if (contribution.factor)
      first = emitBinary(vectors, BinaryOperator::Mul, first, contribution.factor,
                         reduction.accumulator);
    return mask ? vectors.select(mask, first, neutralElement(vectors, reduction)) : first;
  }
  Value next = contribution.factor
                   ? vectors.fma(contribution.value, contribution.factor, accumulator)
                   : combine(vectors, reduction, accumulator, contribution.value);
  return mask ? vectors.select(mask, next, accumulator) : next;
}

Accumulator codegen::accumulateIndex(VectorBuilder &vectors, Reduction reduction,
                                     Accumulator accumulator, Value value, Value columns,
                                     Value mask) {
  value = inAccumulator(vectors, reduction, value);
  Value better = emitComparison(vectors, replacingComparison(reduction.kind), value,
                                accumulator.value, reduction.accumulator);
  if (mask)
    better = vectors.create<arith::AndIOp>(better, mask);
  return {vectors.select(better, value, accumulator.value),
          vectors.select(better, columns, accumulator.beside)};
}

// The extreme of the numbers in two vectors. The first stays where one of them is NaN.
static Value extremeOfNumbers(VectorBuilder &vectors, Reduction reduction, Value a, Value b) {
  BinaryOperator isBetter = isOfLargest(reduction.kind) ? BinaryOperator::Gt : BinaryOperator::Lt;
  Value better = emitComparison(vectors, isBetter, b, a, reduction.accumulator);
  return vectors.select(better, b, a);
}

Accumulator codegen::accumulateExtreme(VectorBuilder &vectors, Reduction reduction,
                                       Accumulator accumulator, Value value, Value mask) {
  value = inAccumulator(vectors, reduction, value);
  Value next = extremeOfNumbers(vectors, reduction, accumulator.value, value);
  Value isNan = emitComparison(vectors, BinaryOperator::Ne, value, value, reduction.accumulator);
  if (mask) {
    next = vectors.select(mask, next, accumulator.value);
    isNan = vectors.create<arith::AndIOp>(isNan, mask);
  }
  return {next, vectors.create<arith::OrIOp>(accumulator.beside, isNan)};
}

static Value nanLike(VectorBuilder &vectors, Value vector) {
  return vectors.number(std::numeric_limits<double>::quiet_NaN(),
                        cast<VectorType>(vector.getType()).getElementType());
}
static Value withNan(VectorBuilder &vectors, const Accumulator &extreme) {
  return vectors.select(extreme.beside, nanLike(vectors, extreme.value), extreme.value);
}

Accumulator codegen::combine(VectorBuilder &vectors, Reduction reduction, Accumulator a,
                             Accumulator b) {
  if (!a.beside)
    return {combine(vectors, reduction, a.value, b.value), {}};
  if (reduction.isExtremeOfFloats())
    return {extremeOfNumbers(vectors, reduction, a.value, b.value),
            vectors.create<arith::OrIOp>(a.beside, b.beside)};
  Aggregation by = aggregationOf(reduction.kind);
  Value better = emitComparison(vectors, by.combine, b.value, a.value, reduction.accumulator);
  Value equal =
      emitComparison(vectors, BinaryOperator::Eq, b.value, a.value, reduction.accumulator);
  Value preferred = emitComparison(vectors, by.prefers, b.beside, a.beside);
  Value equalAndPreferred = vectors.create<arith::AndIOp>(equal, preferred);
  Value take = vectors.create<arith::OrIOp>(better, equalAndPreferred);
  return {vectors.select(take, b.value, a.value), vectors.select(take, b.beside, a.beside)};
}

// One step of the reduction tree: combines lane low[i] with lane high[i], for each i; lanes 0..7
// are those of `a`, 8..15 those of `b`.
static Accumulator join(VectorBuilder &vectors, Reduction reduction, Accumulator a, Accumulator b,
                        ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  auto pick = [&](ArrayRef<int64_t> lanes) {
    return Accumulator{vectors.shuffle(a.value, b.value, lanes),
                       a.beside ? vectors.shuffle(a.beside, b.beside, lanes) : Value()};
  };
  return combine(vectors, reduction, pick(low), pick(high));
}

Value codegen::finishLanes(VectorBuilder &vectors, Reduction reduction, Accumulator accumulator) {
  if (!accumulator.beside)
    return accumulator.value;
  if (!reduction.isIndex())
    return withNan(vectors, accumulator);
  return emitBinary(vectors, BinaryOperator::Max, accumulator.beside, vectors.number(1));
}

// Combines halves first, then quarters, then neighbouring lanes. The rows are paired so that each
// shuffle is one AVX-512 instruction (two sources; whole 128-bit parts in the first two steps) and
// that the last step leaves the lanes in order.
static constexpr int64_t lowHalves[] = {0, 1, 2, 3, 8, 9, 10, 11},
                         highHalves[] = {4, 5, 6, 7, 12, 13, 14, 15};
static constexpr int64_t evenParts[] = {0, 1, 4, 5, 8, 9, 12, 13},
                         oddParts[] = {2, 3, 6, 7, 10, 11, 14, 15};
static constexpr int64_t evenLanes[] = {0, 8, 2, 10, 4, 12, 6, 14},
                         oddLanes[] = {1, 9, 3, 11, 5, 13, 7, 15};

static Value reduceEight(VectorBuilder &vectors, Reduction reduction, ArrayRef<Accumulator> rows) {
  auto halves = [&](int i, int j) {
    return join(vectors, reduction, rows[i], rows[j], lowHalves, highHalves);
  };
  Accumulator even = join(vectors, reduction, halves(0, 2), halves(4, 6), evenParts, oddParts);
  Accumulator odd = join(vectors, reduction, halves(1, 3), halves(5, 7), evenParts, oddParts);
  return finishLanes(vectors, reduction, join(vectors, reduction, even, odd, evenLanes, oddLanes));
}

// Of sixteen lanes, the halves are combined first.
static Accumulator inEightLanes(VectorBuilder &vectors, Reduction reduction, Accumulator row) {
  if (cast<VectorType>(row.value.getType()).getNumElements() == VectorBuilder::lanes)
    return row;
  return {combine(vectors, reduction, vectors.half(row.value, 0), vectors.half(row.value, 1)), {}};
}

Value codegen::reduceEach(VectorBuilder &vectors, Reduction reduction, ArrayRef<Accumulator> rows) {
  constexpr size_t lanes = VectorBuilder::lanes;
  auto width = vectors.withWidth(lanes);
  SmallVector<Accumulator> eights;
  for (Accumulator row : rows) {
    if (row.beside && !reduction.isIndex()) {
      auto ownWidth = vectors.withWidth(cast<VectorType>(row.value.getType()).getNumElements());
      row = {withNan(vectors, row), {}};
    }
    eights.push_back(inEightLanes(vectors, reduction, row));
  }
  SmallVector<Value> totals;
  for (size_t first = 0; first < rows.size(); first += lanes)
    totals.push_back(reduceEight(vectors, reduction, ArrayRef(eights).slice(first, lanes)));
  return totals.size() == 1 ? totals.front() : vectors.join(totals[0], totals[1]);
}

// Each swaps neighbours, from halves on.
static constexpr int64_t halves[] = {4, 5, 6, 7, 0, 1, 2, 3}, parts[] = {2, 3, 0, 1, 6, 7, 4, 5},
                         pairs[] = {1, 0, 3, 2, 5, 4, 7, 6};

static Value extremeOfLanes(VectorBuilder &vectors, Reduction reduction, const Accumulator &row) {
  Value value = row.value;
  {
    auto width = vectors.withWidth(VectorBuilder::lanes);
    if (cast<VectorType>(value.getType()).getNumElements() > VectorBuilder::lanes)
      value = extremeOfNumbers(vectors, reduction, vectors.half(value, 0), vectors.half(value, 1));
    for (ArrayRef<int64_t> swapped : {ArrayRef(halves), ArrayRef(parts), ArrayRef(pairs)})
      value = extremeOfNumbers(vectors, reduction, value, vectors.shuffle(value, value, swapped));
  }
  Value hasNan = vectors.create<vector::ReductionOp>(vector::CombiningKind::OR, row.beside);
  return vectors.select(hasNan, nanLike(vectors, row.value), vectors.splatLane(value, 0));
}

Value codegen::reduceOne(VectorBuilder &vectors, Reduction reduction, Accumulator row) {
  static constexpr int64_t same[] = {0, 1, 2, 3, 4, 5, 6, 7};
  if (row.beside && !reduction.isIndex())
    return extremeOfLanes(vectors, reduction, row);
  {
    auto width = vectors.withWidth(VectorBuilder::lanes);
    row = inEightLanes(vectors, reduction, row);
    for (ArrayRef<int64_t> swapped : {ArrayRef(halves), ArrayRef(parts), ArrayRef(pairs)})
      row = join(vectors, reduction, row, row, same, swapped);
  }
  return finishLanes(
      vectors, reduction,
      {vectors.splatLane(row.value, 0), row.beside ? vectors.splatLane(row.beside, 0) : Value()});
}
