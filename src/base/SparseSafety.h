// Which expressions are zero wherever one of their operands is: they need to be evaluated at the
// entries of a sparse matrix only. The proof is evaluation: a cell is followed through the
// operators with the operand at zero, constants at their values, and of everything else the range
// in which it is known to lie.
//
//   CellFact x = 0.0, y = CellFact::anything(), d = CellFact::within(1e-15, 5);
//   factAt(BinaryOperator::Mul, x, y, ZeroRule::Sparse).isZero()     // x * y where x is zero
//   factAt(BinaryOperator::Div, x, d, ZeroRule::Sparse).isZero()     // x / d: d is never zero
//   factAt(BinaryOperator::Div, x, y, ZeroRule::Sparse).isAnything() // 0 / 0 is NaN
//   factAt(BinaryOperator::Add, x, y, ZeroRule::Sparse).isAnything()
//
// Facts hold for every value of the operands that is allowed by what is known of them; the sign of
// a zero is not kept.
#ifndef TOKAMAK_BASE_SPARSESAFETY_H
#define TOKAMAK_BASE_SPARSESAFETY_H

#include "base/CellOperators.h"

#include <cmath>
#include <limits>
#include <optional>

namespace tokamak {

// What a zero times what is not finite gives.
enum class ZeroRule : uint8_t {
  Sparse, // zero, where the zero is a cell that a sparse matrix does not hold
  Strict, // NaN, as in a dense matrix
};

// What is known of the value of a cell, or of all cells of an array: a range, and whether it may be
// NaN or zero.
struct CellFact {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool mayBeNan = true;
  bool mayBeZero = true; // of a range without zero: false

  CellFact() = default;
  // That one value. Of NaN the range is empty.
  CellFact(double value)
      : low(std::isnan(value) ? INFINITY : value), high(std::isnan(value) ? -INFINITY : value),
        mayBeNan(std::isnan(value)), mayBeZero(value == 0) {}

  static CellFact anything() { return CellFact(); }
  // A number in the range, ends included.
  static CellFact within(double low, double high) {
    return CellFact(low, high, /*mayBeNan=*/false, /*mayBeZero=*/true);
  }
  static CellFact nonZeroNumber() { return CellFact(-INFINITY, INFINITY, false, false); }
  CellFact(double low, double high, bool mayBeNan, bool mayBeZero)
      : low(low), high(high), mayBeNan(mayBeNan), mayBeZero(mayBeZero && low <= 0 && high >= 0) {}

  std::optional<double> constant() const {
    if (low == high && !mayBeNan)
      return low;
    bool isNan = low > high && mayBeNan;
    return isNan ? std::optional(std::numeric_limits<double>::quiet_NaN()) : std::nullopt;
  }
  bool isZero() const { return low == 0 && high == 0 && !mayBeNan; }
  bool isNonZeroNumber() const { return !mayBeZero && !mayBeNan; }
  bool isFinite() const { return std::isfinite(low) && std::isfinite(high) && !mayBeNan; }
  bool isAnything() const { return *this == CellFact(); }
  // Whether a cell may have this value.
  bool allows(double value) const {
    return std::isnan(value) ? mayBeNan
                             : value >= low && value <= high && (mayBeZero || value != 0);
  }
  bool operator==(const CellFact &) const = default;
};

// Holds for what either fact is known of.
CellFact eitherOf(const CellFact &a, const CellFact &b);
// Holds where both do.
CellFact bothOf(const CellFact &a, const CellFact &b);
// Of at least `fewest` and at most `most` such terms, added in any order.
CellFact sumOf(const CellFact &term, double fewest, double most);

// The same as a cell of single precision holds it, which is what operators see of a number there.
CellFact inSinglePrecision(const CellFact &fact);

CellFact factAt(UnaryOperator op, const CellFact &operand);
CellFact factAt(BinaryOperator op, const CellFact &left, const CellFact &right, ZeroRule rule);
CellFact factAtIfElse(const CellFact &condition, const CellFact &then, const CellFact &otherwise);

// Whether op(0, y) is 0 for every y (or op(x, 0) for every x, where `left` is false), found by
// evaluating the operator at representative values; of products by ZeroRule::Sparse.
bool absorbsZero(BinaryOperator op, bool left);

} // namespace tokamak
#endif
