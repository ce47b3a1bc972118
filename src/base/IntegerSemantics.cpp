// The meaning of the cell operators on one cell of an array of integers: the specification that
// generated kernels are tested against. Operators compute in the element type: what doesn't fit is
// reduced to its lowest bits.
#include "base/CellOperators.h"

namespace tokamak {
namespace {

// Two's complement: the lowest bits of sums and products are those of unsigned integers.
int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t quotient(ElementType type, int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (type == ElementType::U64)
    return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  return b == -1 ? subtract(0, a) : a / b; // the least integer divided by -1 doesn't fit
}

int64_t power(ElementType type, int64_t base, int64_t exponent) {
  if (isSignedInteger(type) && exponent < 0) {
    if (base == -1)
      return exponent % 2 == 0 ? 1 : -1;
    return base == 1 ? 1 : 0;
  }
  int64_t result = 1;
  for (auto left = static_cast<uint64_t>(exponent); left > 0; left /= 2) {
    if (left % 2 == 1)
      result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

// Only the lowest six bits of the distance count, whatever the element type.
int64_t shiftLeft(int64_t a, int64_t distance) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) << (distance & 63));
}
int64_t shiftRight(ElementType type, int64_t a, int64_t distance) {
  if (type == ElementType::U64)
    return static_cast<int64_t>(static_cast<uint64_t>(a) >> (distance & 63));
  return a >> (distance & 63);
}

bool less(ElementType type, int64_t a, int64_t b) {
  return type == ElementType::U64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

int64_t evaluateUnwrapped(UnaryOperator op, ElementType type, int64_t x) {
  bool isNegative = isSignedInteger(type) && x < 0;
  switch (op) {
  case UnaryOperator::Neg:
    return subtract(0, x);
  case UnaryOperator::Not:
    return x == 0;
  case UnaryOperator::Abs:
    return isNegative ? subtract(0, x) : x;
  case UnaryOperator::Sign:
    return isNegative ? -1 : x != 0;
  case UnaryOperator::Round:
  case UnaryOperator::Floor:
  case UnaryOperator::Ceil:
    return x;
  // Every integer is a finite number.
  case UnaryOperator::IsNan:
  case UnaryOperator::IsInfinite:
    return 0;
  // Not operators of integers.
  case UnaryOperator::Sqrt:
#define TOKAMAK_FUNCTION(Name, ...) case UnaryOperator::Name:
#include "base/CellOperators.def"
    break;
  }
  __builtin_unreachable();
}

int64_t evaluateUnwrapped(BinaryOperator op, ElementType type, int64_t a, int64_t b) {
  switch (op) {
  case BinaryOperator::Add:
    return add(a, b);
  case BinaryOperator::Sub:
    return subtract(a, b);
  case BinaryOperator::Mul:
    return multiply(a, b);
  case BinaryOperator::Div:
  case BinaryOperator::IntDiv:
    return quotient(type, a, b);
  case BinaryOperator::Mod:
    return b == 0 ? 0 : subtract(a, multiply(quotient(type, a, b), b));
  case BinaryOperator::Pow:
    return power(type, a, b);
  case BinaryOperator::Min:
    return less(type, b, a) ? b : a;
  case BinaryOperator::Max:
    return less(type, a, b) ? b : a;
  case BinaryOperator::Eq:
    return a == b;
  case BinaryOperator::Ne:
    return a != b;
  case BinaryOperator::Lt:
    return less(type, a, b);
  case BinaryOperator::Le:
    return !less(type, b, a);
  case BinaryOperator::Gt:
    return less(type, b, a);
  case BinaryOperator::Ge:
    return !less(type, a, b);
  case BinaryOperator::And:
    return a != 0 && b != 0;
  case BinaryOperator::Or:
    return a != 0 || b != 0;
  case BinaryOperator::Xor:
    return (a != 0) != (b != 0);
  case BinaryOperator::BitwAnd:
    return a & b;
  case BinaryOperator::BitwOr:
    return a | b;
  case BinaryOperator::BitwXor:
    return a ^ b;
  case BinaryOperator::BitwShiftL:
    return shiftLeft(a, b);
  case BinaryOperator::BitwShiftR:
    return shiftRight(type, a, b);
  }
  __builtin_unreachable();
}

} // namespace

int64_t evaluate(UnaryOperator op, ElementType type, int64_t x) {
  return wrappedTo(type, evaluateUnwrapped(op, type, x));
}

int64_t evaluate(BinaryOperator op, ElementType type, int64_t a, int64_t b) {
  return wrappedTo(type, evaluateUnwrapped(op, type, a, b));
}

} // namespace tokamak
