// Finds expressions that are zero wherever one of their operands is zero: these need to be
// evaluated only at the entries of a sparse matrix. The proof is by interval evaluation: the
// operators are evaluated on one cell with that operand at zero, constants at their values, and
// every other operand as the range in which its value is known to lie.
//
//   CellFact x = CellFact::withoutEntry(), y = CellFact::anything(), d = CellFact::within(1e-15, 5);
//   factAt(BinaryOperator::Mul, x, y, ZeroRule::Sparse).isZero()     // x * y is zero where x is
//   factAt(BinaryOperator::Div, x, d, ZeroRule::Sparse).isZero()     // d is never zero
//   factAt(BinaryOperator::Div, x, y, ZeroRule::Sparse).isAnything() // 0 / 0 is NaN
//   factAt(BinaryOperator::Add, x, y, ZeroRule::Sparse).isAnything()
//
// A fact about a result holds for all operand values that the operands' facts allow. The sign of a
// zero is not tracked.
#ifndef TOKAMAK_BASE_SPARSESAFETY_H
#define TOKAMAK_BASE_SPARSESAFETY_H

#include "base/CellOperators.h"

#include <cmath>
#include <limits>
#include <optional>

namespace tokamak {

// The product of zero and a non-finite number.
enum class ZeroRule : uint8_t {
  Sparse, // zero, if the zero is a cell without an entry in a sparse matrix
  Strict, // NaN, as in a dense matrix
};

// What is known about the value of a cell, or of all cells of an array: a range, and whether it may
// be NaN or zero.
struct CellFact {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool mayBeNan = true;
  bool mayBeZero = true; // false if the range excludes zero
  // Of one value: whether it is the zero of a cell without an entry of a sparse matrix, or follows from such a cell.
  // ZeroRule::Sparse is about these zeros, and not about a number 0.
  bool hasNoEntry = false;

  CellFact() = default;
  // Exactly this value. The range of NaN is empty.
  CellFact(double value)
      : low(std::isnan(value) ? INFINITY : value), high(std::isnan(value) ? -INFINITY : value),
        mayBeNan(std::isnan(value)), mayBeZero(value == 0) {}

  static CellFact anything() { return CellFact(); }
  static CellFact withoutEntry() {
    CellFact zero = 0.0;
    zero.hasNoEntry = true;
    return zero;
  }
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

// Union: holds for every value that a or b allows.
CellFact eitherOf(const CellFact &a, const CellFact &b);
// Intersection: for a value about which both facts are known.
CellFact bothOf(const CellFact &a, const CellFact &b);
// The sum of at least `fewest` and at most `most` such terms, added in any order.
CellFact sumOf(const CellFact &term, double fewest, double most);

// The fact after rounding to single precision, as operators see the cells of f32 arrays.
CellFact inSinglePrecision(const CellFact &fact);

CellFact factAt(UnaryOperator op, const CellFact &operand);
CellFact factAt(BinaryOperator op, const CellFact &left, const CellFact &right, ZeroRule rule);
CellFact factAtIfElse(const CellFact &condition, const CellFact &then, const CellFact &otherwise);

// Whether op(0, y) is 0 for every y (`left`), or op(x, 0) for every x (not `left`). Found by
// evaluating the operator at representative values; products obey ZeroRule::Sparse.
bool absorbsZero(BinaryOperator op, bool left);

} // namespace tokamak
#endif
