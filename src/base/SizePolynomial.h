// Sums of products of sizes in normal form: a constant plus terms, each a coefficient times factors. A
// factor is a symbol, a floor division, a minimum or a maximum. Terms and factors are sorted; equal terms
// are added up. Only the sources of Size include this.
//
//   Size n = Size::symbol(0);
//   Size size = n + n * n + n + 1; // the constant 1, the term 2 * n, and the term 1 * n * n
#ifndef TOKAMAK_BASE_SIZEPOLYNOMIAL_H
#define TOKAMAK_BASE_SIZEPOLYNOMIAL_H

#include "base/Size.h"

#include <utility>
#include <vector>

namespace tokamak {

constexpr size_t mostTerms = 16, mostFactors = 8;

inline bool isUnbounded(int64_t bound) { return bound == INT64_MIN || bound == INT64_MAX; }
inline int64_t floorOf(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

struct Size::Compound {
  struct Term {
    int64_t coefficient = 1;
    std::vector<Size> factors; // sorted
  };
  std::vector<Size> operands; // of functions
  int64_t constant = 0;       // of sums
  std::vector<Term> terms;
};

// A sum under construction, in normal form.
class Size::Polynomial {
public:
  using Term = Compound::Term;

  explicit Polynomial(const Size &size);

  void add(const Polynomial &other, int64_t scale);

  // Adds scale * term.
  void add(const Term &term, int64_t scale);

  static Polynomial product(const Polynomial &a, const Polynomial &b);

  // Splits into `divisor` * quotient + rest, where the rest has the terms and the part of the
  // constant that `divisor` does not divide.
  std::pair<Polynomial, Polynomial> divide(int64_t divisor) const;

  // A sum that is nowhere larger: c * floordiv(a, d) is at least c/d * a if c is negative, else c/d * (a - d + 1), where d
  // divides c. So 2 * floordiv(n, 2) is proved to be at most n.
  Polynomial withoutDivisions() const;

  Size size() const;

private:
  static int compareFactors(const Term &a, const Term &b);

  void addScaled(int64_t value, int64_t scale, int64_t &to);

  int64_t constant_ = 0;
  std::vector<Term> terms_; // sorted by their factors
  bool fits_ = true;
};

} // namespace tokamak
#endif
