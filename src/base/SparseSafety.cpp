#include "base/SparseSafety.h"

#include <array>
#include <cmath>
#include <limits>

namespace tokamak {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Both signs, on both sides of 1, integers of either parity, the ends of the range, and what is not
// finite: operators are monotonous between them or don't absorb zero at one of them.
constexpr double representatives[] = {0.0,
                                      1.0,
                                      -1.0,
                                      2.0,
                                      -2.0,
                                      3.0,
                                      -3.0,
                                      0.5,
                                      -0.5,
                                      1.5,
                                      -1.5,
                                      1e-300,
                                      -1e-300,
                                      1e300,
                                      -1e300,
                                      0x1p-1074,
                                      0x1.fp+62,
                                      -0x1.fp+62,
                                      7.25,
                                      -1e-10,
                                      infinity,
                                      -infinity,
                                      std::numeric_limits<double>::quiet_NaN()};

bool isProduct(BinaryOperator op, bool left) {
  return op == BinaryOperator::Mul || (op == BinaryOperator::Div && left);
}

bool probe(BinaryOperator op, bool left) {
  for (double other : representatives) {
    // A factor, or the reciprocal of a divisor, that is not finite.
    if (isProduct(op, left) && !std::isfinite(op == BinaryOperator::Div ? 1 / other : other))
      continue;
    // An infinite divisor is a factor of zero; NaN is none.
    if (isProduct(op, left) && std::isnan(other))
      continue;
    double result = left ? evaluate(op, 0.0, other) : evaluate(op, other, 0.0);
    if (result != 0)
      return false;
  }
  return true;
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

CellFact factAt(UnaryOperator op, CellFact operand) {
  return operand ? CellFact(evaluate(op, *operand)) : std::nullopt;
}

CellFact factAt(BinaryOperator op, CellFact left, CellFact right) {
  if (isZero(left) && absorbsZero(op, true))
    return 0.0;
  if (isZero(right) && absorbsZero(op, false))
    return 0.0;
  if (left && right)
    return evaluate(op, *left, *right);
  return std::nullopt;
}

CellFact factAtIfElse(CellFact condition, CellFact then, CellFact otherwise) {
  if (condition)
    return *condition != 0 ? then : otherwise;
  return then && otherwise && *then == *otherwise ? then : std::nullopt;
}

} // namespace tokamak
