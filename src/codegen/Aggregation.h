// How kernels accumulate aggregates: in vectors of doubles or, of f32, of floats, as the plan says; of
// 64-bit integers for integers and i1. Their lanes are combined at the end by a fixed tree. So the bits
// of a result depend only on the sizes of a launch.
//
//   Reduction sums{AggregateKind::Sum, ElementType::F32, ElementType::F64};
//   Value sum = accumulate(vectors, sums, x, {x, y}, mask);    // x + x * y
//   Value total = reduceOne(vectors, sums, {sum, {}});         // in all lanes
#ifndef TOKAMAK_CODEGEN_AGGREGATION_H
#define TOKAMAK_CODEGEN_AGGREGATION_H

#include "base/CellOperators.h"
#include "codegen/VectorBuilder.h"
#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

// What is aggregated: the cells of values of one element type.
struct Reduction {
  AggregateKind kind;
  ElementType cells, accumulator;

  bool isIndex() const { return tokamak::isIndex(kind); }
  bool isExtremeOfFloats() const {
    return (kind == AggregateKind::Min || kind == AggregateKind::Max) && isFloat(accumulator);
  }
  // Accumulated in the widest type of its kind, in which partial results are merged.
  Reduction widened() const {
    ElementType integer = cells == ElementType::U64 ? ElementType::U64 : ElementType::I64;
    return {kind, cells, isFloat(cells) ? ElementType::F64 : integer};
  }
};

// Fails with an error at the operation, a reduction or scan, if kernels accumulate in another type
// than it says.
llvm::LogicalResult checkAccumulator(mlir::Operation *aggregation);
Reduction reductionOf(mlir::Operation *aggregation);

// A vector of the neutral element: 0 for sum, 1 for prod; for min and its indices infinity, or the
// largest integer of the cells' type; for max and its indices minus infinity, or the smallest.
mlir::Value neutralElement(VectorBuilder &vectors, Reduction reduction);

// The aggregate of accumulators `a` and `b`, lane by lane. min and max propagate NaN.
mlir::Value combine(VectorBuilder &vectors, Reduction reduction, mlir::Value a, mlir::Value b);

// The operand of one accumulation step: a value, or value * factor, which a sum
// computes as a fused multiply-add.
struct Contribution {
  mlir::Value value;
  mlir::Value factor; // may be null
};
// Aggregates `contribution` into `accumulator` in the lanes of `mask` (null: all); other lanes keep
// their value. A null accumulator counts as the neutral element.
mlir::Value accumulate(VectorBuilder &vectors, Reduction reduction, mlir::Value accumulator,
                       Contribution contribution, mlir::Value mask);

// Partial aggregates, one per lane.
struct Accumulator {
  mlir::Value value;
  // Of index aggregates the columns of the extreme values as doubles (counted from 1; 0 = none yet). Of extremes of
  // floats a mask of the lanes that have met NaN, which `value` ignores: so the chain of dependent instructions is
  // one comparison for each vector. Null: `value` says all, NaN too.
  mlir::Value beside;
};
Accumulator combine(VectorBuilder &vectors, Reduction reduction, Accumulator a, Accumulator b);
// Of an accumulator with a mask.
Accumulator accumulateExtreme(VectorBuilder &vectors, Reduction reduction, Accumulator accumulator,
                              mlir::Value value, mlir::Value mask);
// Among equal values the last column wins; NaN is never chosen.
Accumulator accumulateIndex(VectorBuilder &vectors, Reduction reduction, Accumulator accumulator,
                            mlir::Value value, mlir::Value columns, mlir::Value mask);

// reduceEach, of as many accumulators as a vector has lanes: lane i of the result is the aggregate of
// the lanes of accumulator i. reduceOne: the aggregate of the accumulator's lanes, in all lanes.
// finishLanes: the aggregate of each lane. For index aggregates, which have eight lanes, the result is
// the column, or 1 if none was chosen.
mlir::Value reduceEach(VectorBuilder &vectors, Reduction reduction,
                       llvm::ArrayRef<Accumulator> accumulators);
mlir::Value reduceOne(VectorBuilder &vectors, Reduction reduction, Accumulator accumulator);
mlir::Value finishLanes(VectorBuilder &vectors, Reduction reduction, Accumulator accumulator);

} // namespace tokamak::codegen
#endif
