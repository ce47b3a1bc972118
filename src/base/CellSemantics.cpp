// The meaning of every cell operator on one cell, as CellOperators.def gives it: the specification
// that generated kernels are tested against.
#include "base/CellOperators.h"
#include "base/Extremes.h"

#include <cmath>
#include <functional>
#include <limits>

namespace tokamak {
namespace {

double truncatedQuotient(double a, double b) {
  double quotient = a / b;
  if (!std::isfinite(quotient))
    return quotient;
  return std::copysign(std::floor(std::fabs(quotient) + 0x1p-53), quotient);
}

// a - quotient * b, each step rounded: 3 %% 0.6 is 0, consistent with 3 %/% 0.6 being 5. A zero or
// infinite divisor gives NaN.
double truncatedRemainder(double a, double b) { return a - truncatedQuotient(a, b) * b; }

// Java's Math.round: floor(x + 1/2), saturated at the range of int64; NaN gives 0.
double roundHalfUp(double x) {
  if (std::isnan(x))
    return 0;
  double floor = std::floor(x);
  double rounded = x - floor >= 0.5 ? floor + 1 : floor;
  if (rounded >= 0x1p63)
    return 0x1p63;
  return rounded <= -0x1p63 ? -0x1p63 : rounded;
}

// Bits shifted beyond the 64th are lost; only the lowest six bits of the distance count.
int64_t shiftLeft(int64_t a, int64_t distance) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) << (distance & 63));
}

// Arithmetic shift: copies of the sign bit move in from the left.
int64_t shiftRight(int64_t a, int64_t distance) { return a >> (distance & 63); }

// Applies an integer operation to doubles truncated to integers.
template <typename Operation> double onIntegers(double a, double b, Operation operation) {
  return static_cast<double>(operation(truncateToInteger(a), truncateToInteger(b)));
}

double signOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

// For negative x the equal form e^x / (1 + e^x): e^-x overflows although the result is not yet 0.
double sigmoid(double x) {
  double power = std::exp(-std::fabs(x));
  return (x < 0 ? power : 1) / (1 + power);
}

// x^2 is computed as x*x, so that squares have the same bits everywhere.
double power(double a, double b) { return b == 2 ? a * a : std::pow(a, b); }

} // namespace

double evaluate(UnaryOperator op, double x) {
  switch (op) {
#define TOKAMAK_UNARY(Name, mnemonic, function, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,     \
                      ERRORS, TYPES, MEANING)                                                      \
  case UnaryOperator::Name:                                                                        \
    return MEANING;
#include "base/CellOperators.def"
  }
  return 0;
}

double evaluate(BinaryOperator op, double a, double b) {
  switch (op) {
#define TOKAMAK_BINARY(Name, mnemonic, spelling, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,    \
                       ERRORS, TYPES, MEANING)                                                     \
  case BinaryOperator::Name:                                                                       \
    return MEANING;
#include "base/CellOperators.def"
  }
  return 0;
}

// The cases of operators whose RESULT is always double or boolean.
#define TOKAMAK_NOT_OF_Double(operator) case operator:
#define TOKAMAK_NOT_OF_Boolean(operator) case operator:
#define TOKAMAK_NOT_OF_Number(operator)

std::optional<int64_t> evaluateInteger(UnaryOperator op, int64_t x) {
  switch (op) {
  case UnaryOperator::Neg:
    return x == std::numeric_limits<int64_t>::min() ? std::nullopt : std::optional(-x);
  case UnaryOperator::Abs:
    return x == std::numeric_limits<int64_t>::min() ? std::nullopt : std::optional(std::abs(x));
#define TOKAMAK_UNARY(Name, mnemonic, function, RESULT, ...)                                       \
  TOKAMAK_NOT_OF_##RESULT(UnaryOperator::Name)
#include "base/CellOperators.def"
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> evaluateInteger(BinaryOperator op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
  case BinaryOperator::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOperator::Sub:
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOperator::Mul:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case BinaryOperator::Mod:
    return b == 0 || b == -1 ? 0 : a % b;
  case BinaryOperator::IntDiv:
    if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
      return std::nullopt;
    return a / b;
  case BinaryOperator::Min:
    return a < b ? a : b;
  case BinaryOperator::Max:
    return a > b ? a : b;
  case BinaryOperator::BitwAnd:
    return a & b;
  case BinaryOperator::BitwOr:
    return a | b;
  case BinaryOperator::BitwXor:
    return a ^ b;
  case BinaryOperator::BitwShiftL:
    return shiftLeft(a, b);
  case BinaryOperator::BitwShiftR:
    return shiftRight(a, b);
#define TOKAMAK_BINARY(Name, mnemonic, spelling, RESULT, ...)                                      \
  TOKAMAK_NOT_OF_##RESULT(BinaryOperator::Name)
#include "base/CellOperators.def"
    return std::nullopt;
  }
  return std::nullopt;
}

int64_t truncateToInteger(double value) {
  if (std::isnan(value))
    return 0;
  double magnitude = std::floor(std::fabs(value) + 0x1p-53);
  if (magnitude >= 0x1p63)
    return value < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value < 0 ? -magnitude : magnitude);
}

} // namespace tokamak
