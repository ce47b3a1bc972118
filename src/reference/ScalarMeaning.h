// The reference semantics of operators and casts on scalars: integers are exact, strings compare
// lexicographically, `+` concatenates strings.
//
//   binaryOfScalars(BinaryOperator::Div, int64_t{1}, int64_t{2}).asDouble() == 0.5
#ifndef TOKAMAK_REFERENCE_SCALARMEANING_H
#define TOKAMAK_REFERENCE_SCALARMEANING_H

#include "base/CellOperators.h"
#include "runtime/values/Value.h"

namespace tokamak::reference {

// All throw Error for operands that the operator is not defined for and for integer results beyond
// 64 bits.
runtime::Value unaryOfScalar(UnaryOperator op, const runtime::Value &operand);
runtime::Value binaryOfScalars(BinaryOperator op, const runtime::Value &lhs,
                               const runtime::Value &rhs);
// The concatenation of two scalars as text.
runtime::Value concat(const runtime::Value &lhs, const runtime::Value &rhs);

// The casts take scalars, 1x1 matrices and lists of one element; strings are parsed ("1e3",
// "TRUE").
runtime::Value castToBoolean(const runtime::Value &value);
runtime::Value castToInteger(const runtime::Value &value);
runtime::Value castToDouble(const runtime::Value &value);
// The scalar with its own type; the cell of a 1x1 matrix gives a double.
runtime::Value castToScalar(const runtime::Value &value);
// A matrix is unchanged, a scalar becomes 1x1, a list of one element is cast like that element, a
// list of scalars becomes a column.
runtime::Value castToMatrix(const runtime::Value &value);
// A matrix becomes a frame with columns of doubles, a scalar one with a column of its type.
runtime::Value castToFrame(const runtime::Value &value);
// A list whose only element is a list becomes that inner list.
runtime::Value castToList(const runtime::Value &value);

} // namespace tokamak::reference
#endif
