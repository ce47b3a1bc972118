// Aggregates as kernels accumulate them: in vectors of eight doubles, whatever the element type of
// what is aggregated, joined at the end by a fixed tree, so that the bits of a result depend on the
// sizes of a launch only.
#ifndef TOKAMAK_CODEGEN_AGGREGATION_H
#define TOKAMAK_CODEGEN_AGGREGATION_H

#include "base/CellOperators.h"
#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// Sum 0, prod 1, min infinity, max minus infinity; of the indices' values likewise.
double neutralElement(AggregateKind kind);
bool isIndex(AggregateKind kind);

// a (+) b. NaN wins over every number in min and max.
mlir::Value combine(VectorBuilder &vectors, AggregateKind kind, mlir::Value a, mlir::Value b);

// What is aggregated: a value, or the product of two, which sums fuse into the addition.
struct Contribution {
  mlir::Value value;
  mlir::Value factor; // may be null
};
// accumulator (+) contribution in the lanes of `mask` (null: all), else unchanged. A null
// accumulator is neutral.
mlir::Value accumulate(VectorBuilder &vectors, AggregateKind kind, mlir::Value accumulator,
                       Contribution contribution, mlir::Value mask);

// An accumulator of eight partial aggregates; index aggregates carry the columns (from 1, 0 = none
// yet) as doubles.
struct Accumulator {
  mlir::Value value;
  mlir::Value index; // null unless isIndex
};
Accumulator neutralAccumulator(VectorBuilder &vectors, AggregateKind kind);
// Of equal values the last column counts; NaN never does.
Accumulator accumulateIndex(VectorBuilder &vectors, AggregateKind kind, Accumulator accumulator,
                            mlir::Value value, mlir::Value columns, mlir::Value mask);

// Eight accumulators to one vector: lane i is the aggregate of accumulator i. One accumulator: the
// aggregate in all lanes. For index aggregates the result is the column; 1 where there is none.
mlir::Value reduceEight(VectorBuilder &vectors, AggregateKind kind,
                        llvm::ArrayRef<Accumulator> accumulators);
mlir::Value reduceOne(VectorBuilder &vectors, AggregateKind kind, Accumulator accumulator);

} // namespace tokamak::codegen
#endif
