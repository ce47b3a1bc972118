// What the elementwise operations mean: one cell at a time, in doubles, by base/CellOperators.h.
//
//   binary(BinaryOperator::Add, matrix, rowVector)   // the right operand may be a vector: it is
//                                                    // broadcast
#ifndef TOKAMAK_REFERENCE_CELLMEANING_H
#define TOKAMAK_REFERENCE_CELLMEANING_H

#include "base/CellOperators.h"
#include "runtime/Value.h"

namespace tokamak::reference {

// Of an array cell by cell, else of a scalar.
runtime::Value unary(UnaryOperator op, const runtime::Value &operand);

// Arrays of equal sizes; m x n with m x 1 or 1 x n on the right; arrays with numbers; else scalars.
runtime::Value binary(BinaryOperator op, const runtime::Value &lhs, const runtime::Value &rhs);

// Where the condition is not zero (NaN is not zero) `then`, else `otherwise`. Arrays among the
// three have equal sizes.
runtime::Value ifElse(const runtime::Value &condition, const runtime::Value &then,
                      const runtime::Value &otherwise);

// u (m x 1) op v (1 x n) is m x n; `spelling` is how DML writes the operator.
runtime::Value outer(const runtime::Value &lhs, const runtime::Value &rhs,
                     const runtime::Value &spelling);

// Cells equal to the pattern replaced; NaN matches NaN.
runtime::Value replace(const runtime::Value &operand, const runtime::Value &pattern,
                       const runtime::Value &replacement);

} // namespace tokamak::reference
#endif
