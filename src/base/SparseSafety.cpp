#include "base/SparseSafety.h"

#include <algorithm>
#include <array>

namespace tokamak {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
// Values of both signs, on both sides of 1, integers of either parity, the ends of the range, and
// non-finite values: between neighbours operators are monotonous, or already fail to absorb zero at
// one of these values.
constexpr double representatives[] = {0.0,     1.0,    -1.0,     2.0,       -2.0,      3.0,
                                      -3.0,    0.5,    -0.5,     1.5,       -1.5,      1e-300,
                                      -1e-300, 1e300,  -1e300,   0x1p-1074, 0x1.fp+62, -0x1.fp+62,
                                      7.25,    -1e-10, infinity, -infinity, notANumber};

bool probe(BinaryOperator op, bool left) {
  for (double other : representatives) {
    if (op == BinaryOperator::Mul && !std::isfinite(other))
      continue;
    double result = left ? evaluate(op, 0.0, other) : evaluate(op, other, 0.0);
    if (result != 0)
      return false;
  }
  return true;
}

bool mayBeInfinite(const CellFact &fact) { return fact.low == -infinity || fact.high == infinity; }

// Widens a bound: results of functions are off by some units in the last place, in single precision
// too, and the smallest numbers may round to zero.
double outwards(double value, double direction) {
  if (value == 0 || !std::isfinite(value))
    return value;
  if (std::fabs(value) < 1e-37 && value * direction < 0)
    return 0;
  return value + std::copysign(std::fabs(value) * 0x1p-18, direction);
}

// The fact of a non-decreasing operator. `mayBeNan`: it may return NaN for operands other than NaN.
CellFact increasing(UnaryOperator op, const CellFact &x, bool mayBeNan = false) {
  return CellFact(evaluate(op, x.low), evaluate(op, x.high), x.mayBeNan || mayBeNan, true);
}
CellFact increasingFunction(UnaryOperator op, const CellFact &x) {
  CellFact result = increasing(op, x);
  return CellFact(outwards(result.low, -1), outwards(result.high, 1), result.mayBeNan, true);
}

CellFact truth() { return CellFact::within(0, 1); }

CellFact absolute(const CellFact &x) {
  double least = x.low <= 0 && x.high >= 0 ? 0 : std::min(std::fabs(x.low), std::fabs(x.high));
  return CellFact(least, std::max(std::fabs(x.low), std::fabs(x.high)), x.mayBeNan, x.mayBeZero);
}

CellFact negative(const CellFact &x) { return CellFact(-x.high, -x.low, x.mayBeNan, x.mayBeZero); }

// Rounding to nearest is monotonous, so the bounds of the sum are the sums of the bounds.
CellFact sum(const CellFact &a, const CellFact &b) {
  bool opposed =
      (a.high == infinity && b.low == -infinity) || (a.low == -infinity && b.high == infinity);
  double low = a.low + b.low, high = a.high + b.high;
  return CellFact(std::isnan(low) ? -infinity : low, std::isnan(high) ? infinity : high,
                  a.mayBeNan || b.mayBeNan || opposed, true);
}

// The range spanned by the function at the four combinations of bounds; NaN there counts as zero.
template <typename Function>
CellFact betweenCorners(const CellFact &a, const CellFact &b, bool mayBeNan, Function function) {
  double low = infinity, high = -infinity;
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      double corner = function(x, y);
      corner = std::isnan(corner) ? 0 : corner;
      low = std::min(low, corner);
      high = std::max(high, corner);
    }
  return CellFact(low, high, a.mayBeNan || b.mayBeNan || mayBeNan, true);
}

CellFact product(const CellFact &a, const CellFact &b, ZeroRule rule) {
  if (a.isZero() || b.isZero()) {
    const CellFact &other = a.isZero() ? b : a;
    bool isLeftOut = rule == ZeroRule::Sparse && (a.hasNoEntry || b.hasNoEntry);
    return isLeftOut || other.isFinite() ? CellFact(0.0) : CellFact(0, 0, true, true);
  }
  bool mayBeNan = (a.mayBeZero && mayBeInfinite(b)) || (b.mayBeZero && mayBeInfinite(a));
  CellFact result = betweenCorners(a, b, mayBeNan, [](double x, double y) { return x * y; });
  // A corner of zero times infinity also stands for finite numbers next to zero times infinity.
  if (mayBeInfinite(a) || mayBeInfinite(b)) {
    if (a.low < 0 || b.low < 0)
      result.low = -infinity;
    result.high = infinity;
  }
  return result;
}

CellFact quotient(const CellFact &a, const CellFact &b) {
  if (a.isZero() && b.isNonZeroNumber())
    return 0.0;
  bool mayBeNan = (a.mayBeZero && b.mayBeZero) || (mayBeInfinite(a) && mayBeInfinite(b));
  if (b.low <= 0 && b.high >= 0)
    return CellFact(-infinity, infinity, a.mayBeNan || b.mayBeNan || mayBeNan, true);
  return betweenCorners(a, b, mayBeNan, [](double x, double y) { return x / y; });
}

CellFact power(const CellFact &a, const CellFact &b) {
  std::optional<double> exponent = b.constant();
  if (exponent == 0.0)
    return 1.0;
  if (a.isZero() && b.low > 0 && !b.mayBeNan)
    return 0.0;
  if (exponent == 2.0) {
    CellFact size = absolute(a);
    return CellFact(size.low * size.low, size.high * size.high, a.mayBeNan, true);
  }
  if (a.low >= 0 && exponent && *exponent > 0)
    return CellFact(outwards(std::pow(a.low, *exponent), -1),
                    outwards(std::pow(a.high, *exponent), 1), a.mayBeNan, true);
  if (a.low >= 0) // powers of -0 may be -infinity
    return CellFact(a.mayBeZero && b.low < 0 ? -infinity : 0, infinity, a.mayBeNan || b.mayBeNan,
                    true);
  return CellFact();
}

// a - trunc(a / b) * b: NaN for an infinite divisor, and any number for large quotients.
CellFact remainder(const CellFact &a, const CellFact &b) {
  return a.isZero() && !b.mayBeZero && b.isFinite() ? CellFact(0.0) : CellFact();
}

} // namespace

bool absorbsZero(BinaryOperator op, bool left) {
  static const auto table = [] {
    std::array<std::array<bool, 2>, 64> found{};
#define TOKAMAK_BINARY(Name, ...)                                                                  \
  for (bool side : {false, true})                                                                  \
    found[static_cast<int>(BinaryOperator::Name)][side] = probe(BinaryOperator::Name, side);
#include "base/CellOperators.def"
    return found;
  }();
  return table[static_cast<int>(op)][left];
}

// The fact about a result where an operand has no entry, if `isWithoutEntry`.
static CellFact following(bool isWithoutEntry, CellFact fact) {
  fact.hasNoEntry = isWithoutEntry && fact.constant();
  return fact;
}

CellFact eitherOf(const CellFact &a, const CellFact &b) {
  CellFact either(std::min(a.low, b.low), std::max(a.high, b.high), a.mayBeNan || b.mayBeNan,
                  a.mayBeZero || b.mayBeZero);
  return following(a.hasNoEntry && b.hasNoEntry, either);
}

CellFact bothOf(const CellFact &a, const CellFact &b) {
  CellFact both(std::max(a.low, b.low), std::min(a.high, b.high), a.mayBeNan && b.mayBeNan,
                a.mayBeZero && b.mayBeZero);
  return following(a.hasNoEntry || b.hasNoEntry, both);
}

// A sum of terms of one sign keeps that sign, and its magnitude is at least that of one term. The
// factor of 2 covers rounding.
CellFact sumOf(const CellFact &term, double fewest, double most) {
  if (most == 0)
    return 0.0;
  double low = term.low < 0 ? 2 * most * term.low : fewest >= 1 ? term.low : 0;
  double high = term.high > 0 ? 2 * most * term.high : fewest >= 1 ? term.high : 0;
  bool opposed = low == -infinity && high == infinity;
  return CellFact(low, high, term.mayBeNan || opposed, true);
}

CellFact inSinglePrecision(const CellFact &fact) {
  auto low = static_cast<float>(fact.low), high = static_cast<float>(fact.high);
  // Numbers close to zero round to zero.
  bool mayVanish = fact.low < 0x1p-149 && fact.high > -0x1p-149;
  return following(fact.hasNoEntry,
                   CellFact(low, high, fact.mayBeNan, fact.mayBeZero || mayVanish));
}

static CellFact resultOf(UnaryOperator op, const CellFact &x) {
  if (std::optional<double> value = x.constant())
    return evaluate(op, *value);
  switch (op) {
  case UnaryOperator::Neg:
    return negative(x);
  case UnaryOperator::Not:
  case UnaryOperator::IsNan:
  case UnaryOperator::IsInfinite:
    return truth();
  case UnaryOperator::Abs:
    return absolute(x);
  case UnaryOperator::Sign:
    return CellFact(x.low > 0    ? 1
                    : x.low == 0 ? 0
                                 : -1,
                    x.high < 0    ? -1
                    : x.high == 0 ? 0
                                  : 1,
                    x.mayBeNan, x.mayBeZero);
  case UnaryOperator::Sqrt:
    return CellFact(std::sqrt(std::max(x.low, 0.0)), std::sqrt(std::max(x.high, 0.0)),
                    x.mayBeNan || x.low < 0, true);
  case UnaryOperator::Log: {
    CellFact positive(std::max(x.low, 0.0), std::max(x.high, 0.0), x.mayBeNan, true);
    CellFact result = increasingFunction(op, positive);
    result.mayBeNan |= x.low < 0;
    return result;
  }
  case UnaryOperator::Exp:
  case UnaryOperator::Sigmoid:
  case UnaryOperator::Atan:
  case UnaryOperator::Sinh:
  case UnaryOperator::Tanh:
  case UnaryOperator::Erf:
    return increasingFunction(op, x);
  case UnaryOperator::Sin:
  case UnaryOperator::Cos:
    return CellFact(outwards(-1, -1), outwards(1, 1), x.mayBeNan || mayBeInfinite(x), true);
  case UnaryOperator::Tan:
    return CellFact(-infinity, infinity, x.mayBeNan || mayBeInfinite(x), true);
  case UnaryOperator::Asin:
  case UnaryOperator::Acos:
    return CellFact(-4, 4, x.mayBeNan || x.low < -1 || x.high > 1, true);
  case UnaryOperator::Cosh:
    return increasingFunction(op, absolute(x));
  case UnaryOperator::Round: // round(NaN) is zero
    return eitherOf(increasing(op, CellFact(x.low, x.high, false, true)),
                    x.mayBeNan ? CellFact(0.0) : CellFact(evaluate(op, x.low)));
  case UnaryOperator::Floor:
  case UnaryOperator::Ceil:
    return increasing(op, x);
  default: // nothing is known, which is right for every operator
    return CellFact();
  }
}

CellFact factAt(UnaryOperator op, const CellFact &x) {
  return following(x.hasNoEntry, resultOf(op, x));
}

// The sign of a zero isn't known: 1 / x is infinite or -infinite.
static CellFact resultOfNumbers(BinaryOperator op, double x, double y) {
  CellFact result = evaluate(op, x, y);
  for (double left : {x, x == 0 ? -x : x})
    for (double right : {y, y == 0 ? -y : y})
      result = eitherOf(result, evaluate(op, left, right));
  return result;
}

static CellFact resultOf(BinaryOperator op, const CellFact &a, const CellFact &b, ZeroRule rule) {
  std::optional<double> left = a.constant(), right = b.constant();
  if (op == BinaryOperator::Mul && (a.isZero() || b.isZero()))
    return product(a, b, rule);
  if (left && right)
    return resultOfNumbers(op, *left, *right);
  if ((a.isZero() && absorbsZero(op, true)) || (b.isZero() && absorbsZero(op, false)))
    return 0.0;
  switch (op) {
  case BinaryOperator::Add:
    return sum(a, b);
  case BinaryOperator::Sub:
    return sum(a, negative(b));
  case BinaryOperator::Mul:
    return product(a, b, rule);
  case BinaryOperator::Div:
    return quotient(a, b);
  case BinaryOperator::Pow:
    return power(a, b);
  case BinaryOperator::Mod:
    return remainder(a, b);
  case BinaryOperator::IntDiv:
    return a.isZero() && b.isNonZeroNumber() ? CellFact(0.0) : CellFact();
  case BinaryOperator::Min:
    return CellFact(std::min(a.low, b.low), std::min(a.high, b.high), a.mayBeNan || b.mayBeNan,
                    a.mayBeZero || b.mayBeZero);
  case BinaryOperator::Max:
    return CellFact(std::max(a.low, b.low), std::max(a.high, b.high), a.mayBeNan || b.mayBeNan,
                    a.mayBeZero || b.mayBeZero);
  case BinaryOperator::Eq:
  case BinaryOperator::Ne:
  case BinaryOperator::Lt:
  case BinaryOperator::Le:
  case BinaryOperator::Gt:
  case BinaryOperator::Ge:
  case BinaryOperator::And:
  case BinaryOperator::Or:
  case BinaryOperator::Xor:
    return truth();
  default: // nothing is known, which is right for every operator
    return CellFact();
  }
}

CellFact factAt(BinaryOperator op, const CellFact &a, const CellFact &b, ZeroRule rule) {
  return following(a.hasNoEntry || b.hasNoEntry, resultOf(op, a, b, rule));
}

CellFact factAtIfElse(const CellFact &condition, const CellFact &then, const CellFact &otherwise) {
  if (condition.isZero())
    return otherwise;
  return condition.mayBeZero ? eitherOf(then, otherwise) : then;
}

} // namespace tokamak
