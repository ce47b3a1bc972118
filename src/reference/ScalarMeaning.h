// What operators and casts mean on scalars: integers are exact, texts compare as texts, `+` joins
// texts.
//
//   binaryOfScalars(BinaryOperator::Div, int64_t{1}, int64_t{2}).asDouble() == 0.5
#ifndef TOKAMAK_REFERENCE_SCALARMEANING_H
#define TOKAMAK_REFERENCE_SCALARMEANING_H

#include "base/CellOperators.h"
#include "runtime/Value.h"

namespace tokamak::reference {

// All throw Error on operands that are not defined for the operator and on integer results beyond
// 64 bits.
runtime::Value unaryOfScalar(UnaryOperator op, const runtime::Value &operand);
runtime::Value binaryOfScalars(BinaryOperator op, const runtime::Value &lhs,
                               const runtime::Value &rhs);
// The texts of two scalars, joined.
runtime::Value concat(const runtime::Value &lhs, const runtime::Value &rhs);

// The casts take scalars, 1x1 matrices and lists of one element; texts are read as numbers ("1e3",
// "TRUE").
runtime::Value castToBoolean(const runtime::Value &value);
runtime::Value castToInteger(const runtime::Value &value);
runtime::Value castToDouble(const runtime::Value &value);
// A scalar of whatever type it has; the cell of a 1x1 matrix is a double.
runtime::Value castToScalar(const runtime::Value &value);
// A matrix stays itself, a scalar becomes 1x1, a list of one element what it holds, a list of
// scalars a column.
runtime::Value castToMatrix(const runtime::Value &value);
// A frame of columns of doubles, or of the type of a scalar.
runtime::Value castToFrame(const runtime::Value &value);
// A list that holds one list becomes that list.
runtime::Value castToList(const runtime::Value &value);

} // namespace tokamak::reference
#endif
