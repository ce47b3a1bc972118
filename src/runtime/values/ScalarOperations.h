// Operators and conversions of scalars with the semantics of DML: integer results are exact, or an
// error on overflow; strings compare as strings.
//
//   binaryScalar(BinaryOperator::Div, int64_t{1}, int64_t{2}).asDouble() == 0.5
#ifndef TOKAMAK_RUNTIME_VALUES_SCALAROPERATIONS_H
#define TOKAMAK_RUNTIME_VALUES_SCALAROPERATIONS_H

#include "base/CellOperators.h"
#include "base/NumberText.h"
#include "runtime/values/Value.h"

#include <optional>
#include <string>
#include <string_view>

namespace tokamak::runtime {

enum class CastTarget : uint8_t; // Image.h

// Both throw Error for operands for which the operator is not defined, and on integer overflow.
Value unaryScalar(UnaryOperator op, const Value &operand);
// `+` concatenates if an operand is a string.
Value binaryScalar(BinaryOperator op, const Value &lhs, const Value &rhs);
// The concatenated texts of two scalars.
Value concatenate(const Value &lhs, const Value &rhs);
// as.double, as.scalar, ...: converts 1x1 arrays to scalars and back, and lists of one element to
// the element.
Value castValue(const Value &value, CastTarget target);

using tokamak::textOf;
// Parses the whole text as a number in the notation of DML or Java ("1e3", "NaN", "Infinity",
// "-Inf"), with blanks around it or without; nullopt if it is not a number.
std::optional<double> parseDouble(std::string_view text);
// The number of a text that std::from_chars finds out of the range of doubles: 0 or infinite. In any locale.
double numberBeyondDoubles(const std::string &text);
std::optional<int64_t> parseInteger(std::string_view text);
// TRUE and FALSE as DML, Java and Python write them; nullopt if it is neither.
std::optional<bool> parseBoolean(std::string_view text);

// Throws the user's Error: the value is an unassigned variable.
[[noreturn]] void failUndefined(const Value &value);
inline void checkDefined(const Value &value) {
  if (value.isUndefined()) [[unlikely]]
    failUndefined(value);
}

} // namespace tokamak::runtime
#endif
