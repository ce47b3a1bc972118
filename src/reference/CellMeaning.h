// The reference semantics of elementwise operations: one cell at a time, in doubles, by
// base/CellOperators.h.
//
//   binary(BinaryOperator::Add, matrix, rowVector)   // the right operand may be a vector: it is
//                                                    // broadcast
#ifndef TOKAMAK_REFERENCE_CELLMEANING_H
#define TOKAMAK_REFERENCE_CELLMEANING_H

#include "base/CellOperators.h"
#include "runtime/Value.h"

namespace tokamak::reference {

// Applies to every cell of an array, or to a scalar.
runtime::Value unary(UnaryOperator op, const runtime::Value &operand);

// Operands are arrays of equal sizes; an m x n matrix on the left with an m x 1 or 1 x n vector on
// the right, which is broadcast; arrays of another rank, where either is broadcast along its
// dimensions of size 1; an array and a number; or two scalars.
runtime::Value binary(BinaryOperator op, const runtime::Value &lhs, const runtime::Value &rhs);

// Selects `then` where the condition is not zero (NaN counts as not zero), else `otherwise`.
// Matrices among the three operands have equal sizes; arrays of another rank are broadcast.
runtime::Value ifElse(const runtime::Value &condition, const runtime::Value &then,
                      const runtime::Value &otherwise);

// u (m x 1) op v (1 x n) is m x n; `spelling` is the operator's spelling in DML.
runtime::Value outer(const runtime::Value &lhs, const runtime::Value &rhs,
                     const runtime::Value &spelling);

// Replaces the cells equal to the pattern; NaN matches NaN.
runtime::Value replace(const runtime::Value &operand, const runtime::Value &pattern,
                       const runtime::Value &replacement);

} // namespace tokamak::reference
#endif
