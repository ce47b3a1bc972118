// The algebra of sizes: an integer that is a function of symbols, each of which stands for a number
// that is fixed but may be unknown before the program runs (the rows of an unread file). Sums,
// products, floor divisions, minima and maxima are kept in a normal form, so that sizes computed in
// different ways are proved equal by comparing them. One representation serves from the analysis of
// programs to the launch of kernels.
//
//   Size n = Size::symbol(0), m = Size::symbol(1, /*estimate=*/500);
//   2 * (n + m) == m + n + m + n                        // true
//   (n + 1).provedDifferent(n)                          // true
//   (n * m - 1).text()                                  // "s0*s1~500 - 1"
//   floorDivide(2 * n + 1, Size::constant(2)).evaluate([](int64_t) { return 7; })   // 7
//
// A range bounds what a size may be, and proofs use it; an estimate may inform costs, but never
// legality. Neither counts where sizes are compared. The arithmetic is exact, so a proof about a
// program's integers assumes that they do not overflow: in a program an overflow is an error.
#ifndef TOKAMAK_BASE_SIZE_H
#define TOKAMAK_BASE_SIZE_H

#include "base/Sizes.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

class Size {
public:
  // Both bounds are included. INT64_MIN and INT64_MAX mean that there is no bound.
  struct Range {
    int64_t low, high;
    bool operator==(const Range &) const = default;
  };
  static constexpr Range ofArrays = {0, largestSize};
  static constexpr Range ofIntegers = {INT64_MIN, INT64_MAX};

  Size() = default; // unknown
  static Size unknown() { return Size(); }
  static Size constant(int64_t value) { return Size(Kind::Constant, value, value, {value, value}); }
  // `estimate`: -1 if there is none.
  static Size symbol(int64_t id, int64_t estimate = -1, Range range = ofArrays) {
    return range.low == range.high ? constant(range.low) : Size(Kind::Symbol, id, estimate, range);
  }

  bool isUnknown() const { return kind_ == Kind::Unknown; }
  bool isConstant() const { return kind_ == Kind::Constant; }
  bool isConstant(int64_t value) const { return isConstant() && value_ == value; }
  // A symbol alone.
  bool isSymbol() const { return kind_ == Kind::Symbol; }
  int64_t constantValue() const { return value_; }
  int64_t symbolId() const { return value_; }
  // Whether `holds(id)` is true for every symbol.
  bool everySymbol(const std::function<bool(int64_t)> &holds) const;

  int64_t estimate(int64_t fallback) const { return estimate_ >= 0 ? estimate_ : fallback; }
  Range range() const { return range_; }

  // Unknown if an operand is unknown, or if the result is too large to represent: more than 16
  // terms, more than 8 factors in one of them, or a coefficient beyond 64 bits.
  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b);
  friend Size operator*(const Size &a, const Size &b);
  // The largest integer that is not above a / b. Unknown unless b is proved positive.
  friend Size floorDivide(const Size &a, const Size &b);
  friend Size minimum(const Size &a, const Size &b);
  friend Size maximum(const Size &a, const Size &b);

  // The same normal form; unknown sizes count as equal, as elements of a lattice do.
  bool operator==(const Size &other) const { return compare(*this, other) == 0; }
  // Each is true only if proved: all are false for unknown sizes.
  bool provedEqual(const Size &other) const { return !isUnknown() && *this == other; }
  bool provedDifferent(const Size &other) const;
  bool provedAtMost(const Size &other) const;

  // The join of two lattice elements: equal sizes stay, others become unknown.
  static Size join(const Size &a, const Size &b) { return a == b ? a : unknown(); }

  // The value of a known size; `valueOf(id)` is that of a symbol.
  template <typename ValueOf> int64_t evaluate(const ValueOf &valueOf) const {
    if (isConstant())
      return value_;
    return isSymbol() ? valueOf(value_) : evaluateCompound(valueOf);
  }
  // The size with `replacement(id)` in place of each symbol.
  Size substitute(const std::function<Size(int64_t)> &replacement) const;

  // The serialised form: "10", "s0", "2*s0 + 1", "floordiv(s0 - 1, 2)", "min(s0, s1)", "unknown".
  // A symbol is followed by its range, if it is not that of arrays, and its estimate, if there is
  // one: "s0:129..4096~500".
  std::string text() const;
  // The same with other names of the symbols, for messages.
  std::string text(const std::function<std::string(const Size &symbol)> &nameOf) const;
  static std::optional<Size> parse(std::string_view text);

private:
  enum class Kind : uint8_t { Unknown, Constant, Symbol, FloorDivision, Minimum, Maximum, Sum };
  struct Compound;
  class Polynomial;
  class Parser;

  Size(Kind kind, int64_t value, int64_t estimate, Range range)
      : kind_(kind), value_(value), estimate_(estimate), range_(range) {}
  static Size function(Kind kind, std::vector<Size> operands);
  static Size extreme(Kind kind, const Size &a, const Size &b);
  static int compare(const Size &a, const Size &b);
  int64_t evaluateCompound(const std::function<int64_t(int64_t)> &valueOf) const;

  Kind kind_ = Kind::Unknown;
  int64_t value_ = 0; // of a constant, or the id of a symbol
  int64_t estimate_ = -1;
  Range range_ = ofIntegers;
  std::shared_ptr<const Compound> compound_; // operands or terms of the other kinds
};

inline Size operator+(const Size &a, int64_t b) { return a + Size::constant(b); }
inline Size operator-(const Size &a, int64_t b) { return a - Size::constant(b); }
inline Size operator*(int64_t a, const Size &b) { return Size::constant(a) * b; }

} // namespace tokamak
#endif
