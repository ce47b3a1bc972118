// The reference semantics of elementwise operations: one cell at a time, in doubles, by
// base/CellOperators.h.
//
//   binary(BinaryOperator::Add, rowVector, matrix)                      // the vector is broadcast
//   binary(BinaryOperator::Add, rowVector, column, BinarySizes::OneRepeated)   // fails
#ifndef TOKAMAK_REFERENCE_CELLMEANING_H
#define TOKAMAK_REFERENCE_CELLMEANING_H

#include "base/CellOperators.h"
#include "runtime/values/Value.h"

namespace tokamak::reference {

// Applies to every cell of an array, or to a scalar.
runtime::Value unary(UnaryOperator op, const runtime::Value &operand);

// The sizes that the result of `binary` may have: those to which two arrays are broadcast
// (TensorMeaning.h), or only those of one of them, so that at most the other one is repeated.
enum class BinarySizes { Broadcast, OneRepeated };
// The shape of the result for arrays of these shapes. Throws Error if they do not agree.
runtime::Shape shapeOfBinary(BinaryOperator op, const runtime::Shape &lhs,
                             const runtime::Shape &rhs, BinarySizes sizes);
// Operands are two arrays, an array and a number, or two scalars.
runtime::Value binary(BinaryOperator op, const runtime::Value &lhs, const runtime::Value &rhs,
                      BinarySizes sizes = BinarySizes::Broadcast);

// The sizes that the result of `ifElse` may have: those to which its arrays are broadcast, or only
// those of one of them.
enum class IfElseSizes { Broadcast, OneWhole };
// Selects `then` where the condition is not zero (NaN counts as not zero), else `otherwise`.
runtime::Value ifElse(const runtime::Value &condition, const runtime::Value &then,
                      const runtime::Value &otherwise, IfElseSizes sizes = IfElseSizes::Broadcast);

// u (m x 1) op v (1 x n) is m x n; `spelling` is the operator's spelling in DML.
runtime::Value outer(const runtime::Value &lhs, const runtime::Value &rhs,
                     const runtime::Value &spelling);

// Replaces the cells equal to the pattern; NaN matches NaN.
runtime::Value replace(const runtime::Value &operand, const runtime::Value &pattern,
                       const runtime::Value &replacement);

} // namespace tokamak::reference
#endif
