// Operators and conversions of scalars as DML defines them: integers stay exact, an integer that
// does not fit is an error, text compares as text.
//
//   binaryScalar(BinaryOperator::Div, int64_t{1}, int64_t{2}).asDouble() == 0.5
//   textOf(1e-5) == "1.0E-5"
#ifndef TOKAMAK_RUNTIME_SCALAROPERATIONS_H
#define TOKAMAK_RUNTIME_SCALAROPERATIONS_H

#include "base/CellOperators.h"
#include "runtime/Value.h"

#include <optional>
#include <string>
#include <string_view>

namespace tokamak::runtime {

enum class CastTarget : uint8_t; // Image.h

// Both throw Error on operands the operator is not defined for, and on integer results that do not
// fit.
Value unaryScalar(UnaryOperator op, const Value &operand);
// `+` with a text among its operands concatenates.
Value binaryScalar(BinaryOperator op, const Value &lhs, const Value &rhs);
// The texts of two scalars, joined.
Value concatenate(const Value &lhs, const Value &rhs);
// as.double, as.scalar, ...: 1x1 arrays to scalars and back, one-element lists to what they hold.
Value castValue(const Value &value, CastTarget target);

// Shortest text that reads back as the same number, in the form of Java's Double.toString: "1.0",
// "1.0E-5", "1.2345678E7", "NaN", "-Infinity".
std::string textOf(double value);
// The whole text as a number in DML's or Java's notation ("1e3", "NaN", "Infinity", "-Inf");
// nullopt if it is none.
std::optional<double> parseDouble(std::string_view text);
std::optional<int64_t> parseInteger(std::string_view text);

// Throws the user's error if the value is an unassigned variable.
[[noreturn]] void failUndefined(const Value &value);
inline void checkDefined(const Value &value) {
  if (value.isUndefined()) [[unlikely]]
    failUndefined(value);
}

} // namespace tokamak::runtime
#endif
