// The meaning of every cell operator on one cell: the specification that generated kernels are
// tested against.
#include "base/CellOperators.h"

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

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return b < a ? b : a;
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

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return b > a ? b : a;
}

} // namespace

double evaluate(UnaryOperator op, double x) {
  switch (op) {
  case UnaryOperator::Neg:
    return -x;
  case UnaryOperator::Not:
    return x == 0;
  case UnaryOperator::Abs:
    return std::fabs(x);
  case UnaryOperator::Sign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
  case UnaryOperator::Sqrt:
    return std::sqrt(x);
  case UnaryOperator::Exp:
    return std::exp(x);
  case UnaryOperator::Log:
    return std::log(x);
  // For negative x the equal form e^x / (1 + e^x): e^-x overflows although the result is not yet 0.
  case UnaryOperator::Sigmoid: {
    double power = std::exp(-std::fabs(x));
    return (x < 0 ? power : 1) / (1 + power);
  }
  case UnaryOperator::Sin:
    return std::sin(x);
  case UnaryOperator::Cos:
    return std::cos(x);
  case UnaryOperator::Tan:
    return std::tan(x);
  case UnaryOperator::Asin:
    return std::asin(x);
  case UnaryOperator::Acos:
    return std::acos(x);
  case UnaryOperator::Atan:
    return std::atan(x);
  case UnaryOperator::Sinh:
    return std::sinh(x);
  case UnaryOperator::Cosh:
    return std::cosh(x);
  case UnaryOperator::Tanh:
    return std::tanh(x);
  case UnaryOperator::Round:
    return roundHalfUp(x);
  case UnaryOperator::Floor:
    return std::floor(x);
  case UnaryOperator::Ceil:
    return std::ceil(x);
  case UnaryOperator::IsNan:
    return std::isnan(x);
  case UnaryOperator::IsInfinite:
    return std::isinf(x);
  }
  return 0;
}

double evaluate(BinaryOperator op, double a, double b) {
  switch (op) {
  case BinaryOperator::Add:
    return a + b;
  case BinaryOperator::Sub:
    return a - b;
  case BinaryOperator::Mul:
    return a * b;
  case BinaryOperator::Div:
    return a / b;
  // x^2 is computed as x*x, so that squares have the same bits everywhere.
  case BinaryOperator::Pow:
    return b == 2 ? a * a : std::pow(a, b);
  case BinaryOperator::Mod:
    return truncatedRemainder(a, b);
  case BinaryOperator::IntDiv:
    return truncatedQuotient(a, b);
  case BinaryOperator::Min:
    return minimum(a, b);
  case BinaryOperator::Max:
    return maximum(a, b);
  case BinaryOperator::Eq:
    return a == b;
  case BinaryOperator::Ne:
    return a != b;
  case BinaryOperator::Lt:
    return a < b;
  case BinaryOperator::Le:
    return a <= b;
  case BinaryOperator::Gt:
    return a > b;
  case BinaryOperator::Ge:
    return a >= b;
  case BinaryOperator::And:
    return a != 0 && b != 0;
  case BinaryOperator::Or:
    return a != 0 || b != 0;
  case BinaryOperator::Xor:
    return (a != 0) != (b != 0);
  case BinaryOperator::BitwAnd:
    return onIntegers(a, b, std::bit_and());
  case BinaryOperator::BitwOr:
    return onIntegers(a, b, std::bit_or());
  case BinaryOperator::BitwXor:
    return onIntegers(a, b, std::bit_xor());
  case BinaryOperator::BitwShiftL:
    return onIntegers(a, b, shiftLeft);
  case BinaryOperator::BitwShiftR:
    return onIntegers(a, b, shiftRight);
  }
  return 0;
}

std::optional<int64_t> evaluateInteger(UnaryOperator op, int64_t x) {
  switch (op) {
  case UnaryOperator::Neg:
    return x == std::numeric_limits<int64_t>::min() ? std::nullopt : std::optional(-x);
  // The result of these is always double or boolean.
  case UnaryOperator::Not:
  case UnaryOperator::Abs:
  case UnaryOperator::Sign:
  case UnaryOperator::Sqrt:
  case UnaryOperator::Exp:
  case UnaryOperator::Log:
  case UnaryOperator::Sigmoid:
  case UnaryOperator::Sin:
  case UnaryOperator::Cos:
  case UnaryOperator::Tan:
  case UnaryOperator::Asin:
  case UnaryOperator::Acos:
  case UnaryOperator::Atan:
  case UnaryOperator::Sinh:
  case UnaryOperator::Cosh:
  case UnaryOperator::Tanh:
  case UnaryOperator::Round:
  case UnaryOperator::Floor:
  case UnaryOperator::Ceil:
  case UnaryOperator::IsNan:
  case UnaryOperator::IsInfinite:
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
  // The result of these is always double or boolean.
  case BinaryOperator::Div:
  case BinaryOperator::Pow:
  case BinaryOperator::Eq:
  case BinaryOperator::Ne:
  case BinaryOperator::Lt:
  case BinaryOperator::Le:
  case BinaryOperator::Gt:
  case BinaryOperator::Ge:
  case BinaryOperator::And:
  case BinaryOperator::Or:
  case BinaryOperator::Xor:
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
