// What a plan.operator with a driver computes: an operator that is evaluated at the entries of a
// CSR operand S (m×n) alone, in the terms of code generation. All four templates; one emitter
// (SparseEmitter.cpp). `matrix` below is any array operand of the operator (a block argument).
//
//   sum(S * log(U %*% t(V) + e))             the sampled product, its logarithm, the product: Wide;
//                                            one root: FullAggregate of Wide
//   t(S) %*% (w * (S %*% v))                 S %*% v: PerRow; one root: t(Wide) %*% PerRow
//   ((S != 0) * (U %*% t(V) - S)) %*% V      a sampled product inside, a Narrow result
//
// Values that a body may compute with, by kind. m, n are the driver's sizes; n is not the constant
// 0 or 1.
//
//   Wide    m×n, known at the driver's entries only:
//             the driver; other CSR matrices m×n (listed in `csr`); dense matrices m×n;
//             tok.matmul(U, tok.transpose(V)), U m×r and V n×r dense matrices, any r;
//             elementwise operators of Wide, PerRow, PerColumn and Uniform values
//   PerRow  m×1, known in every row:
//             dense matrices m×1; tok.aggregate {sum, prod, min, max} row of a Wide or Narrow
//             value; tok.matmul(Wide, v), v a dense matrix n×1; elementwise operators of PerRow and
//             Uniform values
//   PerColumn  1×n: dense matrices 1×n; elementwise operators of PerColumn and Uniform values
//   Narrow  m×k, k > 1 and not proved equal to n, known in every row:
//             dense matrices m×k; tok.matmul(Wide, B), B a dense matrix n×k; elementwise operators
//             of Narrow, PerRow, 1×k and Uniform values
//   Uniform scalars, literals, 1×1 dense matrices, elementwise operators of them
//
// Results, in any number and combination:
//
//   Wide    as a CSR array (listed in csr_results; a Wide result must be listed);
//           tok.aggregate full {sum, prod, min, max}; tok.aggregate column {sum};
//           tok.matmul(tok.transpose(Wide), u) with u PerRow: n×1;
//           tok.matmul(tok.transpose(u), Wide) with u PerRow: 1×n;
//           tok.matmul(tok.transpose(Wide), Q) with Q Narrow: n×k
//   PerRow  as a dense m×1 array; tok.aggregate full or column {sum, prod, min, max};
//           tok.matmul(tok.transpose(u), w) with both PerRow: 1×1
//   Narrow  as a dense m×k array; tok.aggregate full or column {sum, prod, min, max};
//           tok.matmul(tok.transpose(Narrow), u) with u PerRow: k×1
//
// A Wide value that is a result, is aggregated or multiplied as a matrix must be zero where the
// driver has no entry; whoever builds the operator proves it (base/SparseSafety.h). Full and row
// prod, min and max take the zeros of these cells into account. Everything else is an error at the
// operation, never wrong code. Not among the above, for example: index_max and index_min; column
// prod, min, max of Wide; t(S) as the driver of elementwise operators; a sampled product whose
// factors are computed in the operator; a result that is Wide and dense.
#ifndef TOKAMAK_CODEGEN_SPARSEBODY_H
#define TOKAMAK_CODEGEN_SPARSEBODY_H

#include "abi/KernelPlan.h"
#include "codegen/KernelBody.h"

namespace tokamak::codegen {

enum class SparseKind : uint8_t {
  Uniform,
  PerRow,
  PerColumn,
  PerNarrowColumn,
  Wide,
  Narrow,
  Factor
};

// One result of the operator.
struct SparseRoot {
  enum class Kind : uint8_t {
    Array,           // a CSR array of Wide values, a dense array of others
    FullAggregate,   // of `value`, times the PerRow `factor` if there is one
    ColumnAggregate, // sums by column of a Wide value (times `factor`), aggregates of a Narrow one
    OuterProduct,    // t(value) %*% factor, Wide and Narrow
  };
  Kind kind = Kind::Array;
  AggregateKind aggregate = AggregateKind::Sum;
  mlir::Value value;
  mlir::Value factor; // may be null
};

} // namespace tokamak::codegen
#endif
