#include "codegen/Aggregation.h"

#include "codegen/CellEmission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr double infinity = std::numeric_limits<double>::infinity();

double codegen::neutralElement(AggregateKind kind) {
  switch (kind) {
  case AggregateKind::Prod:
    return 1;
  case AggregateKind::Min:
  case AggregateKind::IndexMin:
    return infinity;
  case AggregateKind::Max:
  case AggregateKind::IndexMax:
    return -infinity;
  default:
    return 0;
  }
}

bool codegen::isIndex(AggregateKind kind) {
  return kind == AggregateKind::IndexMax || kind == AggregateKind::IndexMin;
}

Value codegen::combine(VectorBuilder &vectors, AggregateKind kind, Value a, Value b) {
  switch (kind) {
  case AggregateKind::Sum:
    return emitBinary(vectors, BinaryOperator::Add, a, b);
  case AggregateKind::Prod:
    return emitBinary(vectors, BinaryOperator::Mul, a, b);
  case AggregateKind::Min:
    return emitBinary(vectors, BinaryOperator::Min, a, b);
  case AggregateKind::Max:
    return emitBinary(vectors, BinaryOperator::Max, a, b);
  default:
    llvm_unreachable("checked when the body was analysed");
  }
}

tok::BinaryOp codegen::productInSum(AggregateKind kind, Value value) {
  auto product = value.getDefiningOp<tok::BinaryOp>();
  bool fuses = kind == AggregateKind::Sum && product && product.getKind() == BinaryOperator::Mul &&
               getElementTypeOrSelf(product.getType()).isF64();
  return fuses ? product : tok::BinaryOp();
}

Value codegen::accumulate(VectorBuilder &vectors, AggregateKind kind, Value accumulator,
                          Contribution contribution, Value mask) {
  contribution.value = vectors.extend(contribution.value);
  if (contribution.factor)
    contribution.factor = vectors.extend(contribution.factor);
  if (!accumulator) {
    Value first = contribution.factor ? emitBinary(vectors, BinaryOperator::Mul, contribution.value,
                                                   contribution.factor)
                                      : contribution.value;
    return mask ? vectors.select(mask, first, vectors.number(neutralElement(kind))) : first;
  }
  Value next = contribution.factor
                   ? vectors.fma(contribution.value, contribution.factor, accumulator)
                   : combine(vectors, kind, accumulator, contribution.value);
  return mask ? vectors.select(mask, next, accumulator) : next;
}

Accumulator codegen::neutralAccumulator(VectorBuilder &vectors, AggregateKind kind) {
  return {vectors.number(neutralElement(kind)), isIndex(kind) ? vectors.number(0) : Value()};
}

static Value compare(VectorBuilder &vectors, arith::CmpFPredicate predicate, Value a, Value b) {
  OpBuilder &builder = vectors.builder();
  return builder.create<arith::CmpFOp>(builder.getUnknownLoc(), predicate, a, b);
}

Accumulator codegen::accumulateIndex(VectorBuilder &vectors, AggregateKind kind,
                                     Accumulator accumulator, Value value, Value columns,
                                     Value mask) {
  OpBuilder &builder = vectors.builder();
  value = vectors.extend(value);
  auto predicate =
      kind == AggregateKind::IndexMax ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OLE;
  Value better = compare(vectors, predicate, value, accumulator.value);
  if (mask)
    better = builder.create<arith::AndIOp>(builder.getUnknownLoc(), better, mask);
  return {vectors.select(better, value, accumulator.value),
          vectors.select(better, columns, accumulator.index)};
}

static Accumulator combineAccumulators(VectorBuilder &vectors, AggregateKind kind, Accumulator a,
                                       Accumulator b) {
  if (!isIndex(kind))
    return {combine(vectors, kind, a.value, b.value), {}};
  OpBuilder &builder = vectors.builder();
  auto predicate =
      kind == AggregateKind::IndexMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value better = compare(vectors, predicate, b.value, a.value);
  Value equal = compare(vectors, arith::CmpFPredicate::OEQ, b.value, a.value);
  Value later = compare(vectors, arith::CmpFPredicate::OGT, b.index, a.index);
  Value laterEqual = builder.create<arith::AndIOp>(builder.getUnknownLoc(), equal, later);
  Value take = builder.create<arith::OrIOp>(builder.getUnknownLoc(), better, laterEqual);
  return {vectors.select(take, b.value, a.value), vectors.select(take, b.index, a.index)};
}

// One step of the reduction tree: combines lane low[i] with lane high[i], for each i; lanes 0..7
// are those of `a`, 8..15 those of `b`.
static Accumulator join(VectorBuilder &vectors, AggregateKind kind, Accumulator a, Accumulator b,
                        ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  auto pick = [&](ArrayRef<int64_t> lanes) {
    return Accumulator{vectors.shuffle(a.value, b.value, lanes),
                       a.index ? vectors.shuffle(a.index, b.index, lanes) : Value()};
  };
  return combineAccumulators(vectors, kind, pick(low), pick(high));
}

static Value finish(VectorBuilder &vectors, AggregateKind kind, Accumulator accumulator) {
  if (!isIndex(kind))
    return accumulator.value;
  return emitBinary(vectors, BinaryOperator::Max, accumulator.index, vectors.number(1));
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

Value codegen::reduceEight(VectorBuilder &vectors, AggregateKind kind, ArrayRef<Accumulator> rows) {
  auto halves = [&](int i, int j) {
    return join(vectors, kind, rows[i], rows[j], lowHalves, highHalves);
  };
  Accumulator even = join(vectors, kind, halves(0, 2), halves(4, 6), evenParts, oddParts);
  Accumulator odd = join(vectors, kind, halves(1, 3), halves(5, 7), evenParts, oddParts);
  return finish(vectors, kind, join(vectors, kind, even, odd, evenLanes, oddLanes));
}

Value codegen::reduceOne(VectorBuilder &vectors, AggregateKind kind, Accumulator row) {
  static constexpr int64_t swapHalves[] = {4, 5, 6, 7, 0, 1, 2, 3},
                           swapParts[] = {2, 3, 0, 1, 6, 7, 4, 5};
  static constexpr int64_t swapLanes[] = {1, 0, 3, 2, 5, 4, 7, 6},
                           same[] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (ArrayRef<int64_t> swap : {ArrayRef(swapHalves), ArrayRef(swapParts), ArrayRef(swapLanes)})
    row = join(vectors, kind, row, row, same, swap);
  return finish(vectors, kind,
                Accumulator{vectors.splatLane(row.value, 0),
                            row.index ? vectors.splatLane(row.index, 0) : Value()});
}
