// Normal form: a constant plus terms, each a coefficient times factors. A factor is a symbol, a
// floor division, a minimum or a maximum. Terms and factors are sorted; equal terms are added up.
#include "base/Size.h"

#include <algorithm>
#include <charconv>
#include <compare>

#include <fmt/format.h>

namespace tokamak {
namespace {

constexpr size_t mostTerms = 16, mostFactors = 8;

int64_t clamped(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, INT64_MIN, INT64_MAX));
}

bool isUnbounded(int64_t bound) { return bound == INT64_MIN || bound == INT64_MAX; }

Size::Range sumOf(Size::Range a, Size::Range b) {
  auto bound = [](int64_t x, int64_t y) {
    return isUnbounded(x) ? x : isUnbounded(y) ? y : clamped(static_cast<__int128>(x) + y);
  };
  return {bound(a.low, b.low), bound(a.high, b.high)};
}

Size::Range productOf(Size::Range a, Size::Range b) {
  auto bound = [](int64_t x, int64_t y) { return clamped(static_cast<__int128>(x) * y); };
  auto [low, high] = std::minmax(
      {bound(a.low, b.low), bound(a.low, b.high), bound(a.high, b.low), bound(a.high, b.high)});
  return {low, high};
}

int64_t floorOf(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// `b` is positive.
Size::Range quotientOf(Size::Range a, Size::Range b) {
  auto bound = [](int64_t x, int64_t y) { return isUnbounded(x) ? x : floorOf(x, y); };
  return {bound(a.low, a.low < 0 ? b.low : b.high), bound(a.high, a.high < 0 ? b.high : b.low)};
}

} // namespace

//===- polynomials ---------------------------------------------------------------------------===//

struct Size::Compound {
  struct Term {
    int64_t coefficient = 1;
    std::vector<Size> factors; // sorted
  };
  std::vector<Size> operands; // of functions
  int64_t constant = 0;       // of sums
  std::vector<Term> terms;
};

// A sum under construction.
class Size::Polynomial {
public:
  using Term = Compound::Term;

  explicit Polynomial(const Size &size) {
    if (size.kind_ == Kind::Constant) {
      constant_ = size.value_;
    } else if (size.kind_ == Kind::Sum) {
      constant_ = size.compound_->constant;
      terms_ = size.compound_->terms;
    } else {
      terms_.push_back({1, {size}});
      fits_ = !size.isUnknown();
    }
  }

  void add(const Polynomial &other, int64_t scale) {
    fits_ = fits_ && other.fits_;
    addScaled(other.constant_, scale, constant_);
    for (const Term &term : other.terms_)
      add(term, scale);
  }

  // Adds scale * term.
  void add(const Term &term, int64_t scale) {
    auto place =
        std::lower_bound(terms_.begin(), terms_.end(), term,
                         [](const Term &a, const Term &b) { return compareFactors(a, b) < 0; });
    if (place == terms_.end() || compareFactors(*place, term) != 0)
      place = terms_.insert(place, {0, term.factors});
    addScaled(term.coefficient, scale, place->coefficient);
    if (place->coefficient == 0)
      terms_.erase(place);
    fits_ = fits_ && terms_.size() <= mostTerms && term.factors.size() <= mostFactors;
  }

  static Polynomial product(const Polynomial &a, const Polynomial &b) {
    Polynomial result(Size::constant(0));
    result.fits_ = a.fits_ && b.fits_;
    if (result.fits_) {
      result.add(b, a.constant_);
      for (const Term &left : a.terms_) {
        result.add(left, b.constant_);
        for (const Term &right : b.terms_) {
          Term both{left.coefficient, left.factors};
          both.factors.insert(both.factors.end(), right.factors.begin(), right.factors.end());
          std::sort(both.factors.begin(), both.factors.end(),
                    [](const Size &x, const Size &y) { return compare(x, y) < 0; });
          result.add(both, right.coefficient);
        }
      }
    }
    return result;
  }

  // Splits into `divisor` * quotient + rest, where the rest has the terms and the part of the
  // constant that `divisor` does not divide.
  std::pair<Polynomial, Polynomial> divide(int64_t divisor) const {
    Polynomial quotient(Size::constant(floorOf(constant_, divisor))), rest(Size::constant(0));
    rest.constant_ = constant_ - floorOf(constant_, divisor) * divisor;
    for (const Term &term : terms_)
      if (term.coefficient % divisor == 0)
        quotient.add({term.coefficient / divisor, term.factors}, 1);
      else
        rest.add(term, 1);
    return {quotient, rest};
  }

  // A sum that is nowhere larger: c * floordiv(a, d) is at least c/d * a if c is negative, else c/d * (a - d + 1), where d
  // divides c. So 2 * floordiv(n, 2) is proved to be at most n.
  Polynomial withoutDivisions() const {
    Polynomial result(Size::constant(constant_));
    result.fits_ = fits_;
    for (const Term &term : terms_) {
      const Size &factor = term.factors.front();
      const Size *divisor = factor.kind_ == Kind::FloorDivision && term.factors.size() == 1
                                ? &factor.compound_->operands[1]
                                : nullptr;
      if (!divisor || !divisor->isConstant() || term.coefficient % divisor->value_ != 0) {
        result.add(term, 1);
        continue;
      }
      Polynomial dividend(factor.compound_->operands[0]);
      if (term.coefficient > 0)
        dividend.add(Polynomial(Size::constant(divisor->value_ - 1)), -1);
      result.add(dividend, term.coefficient / divisor->value_);
    }
    return result;
  }

  Size size() const {
    if (!fits_)
      return unknown();
    if (terms_.empty())
      return Size::constant(constant_);
    if (terms_.size() == 1 && constant_ == 0 && terms_[0].coefficient == 1 &&
        terms_[0].factors.size() == 1)
      return terms_[0].factors[0];
    Range range = {constant_, constant_};
    int64_t estimate = constant_;
    bool isEstimated = true;
    for (const Term &term : terms_) {
      Range ofTerm = {term.coefficient, term.coefficient};
      int64_t estimateOfTerm = term.coefficient;
      for (const Size &factor : term.factors) {
        ofTerm = productOf(ofTerm, factor.range_);
        isEstimated = isEstimated && factor.estimate_ >= 0 &&
                      !__builtin_mul_overflow(estimateOfTerm, factor.estimate_, &estimateOfTerm);
      }
      range = sumOf(range, ofTerm);
      isEstimated = isEstimated && !__builtin_add_overflow(estimate, estimateOfTerm, &estimate);
    }
    if (isEstimated)
      estimate = std::clamp(estimate, range.low, range.high);
    Size result(Kind::Sum, 0, isEstimated ? std::max<int64_t>(estimate, 0) : -1, range);
    result.compound_ = std::make_shared<Compound>(Compound{{}, constant_, terms_});
    return result;
  }

private:
  static int compareFactors(const Term &a, const Term &b) {
    if (a.factors.size() != b.factors.size())
      return a.factors.size() < b.factors.size() ? -1 : 1;
    for (size_t i = 0; i < a.factors.size(); ++i)
      if (int order = compare(a.factors[i], b.factors[i]))
        return order;
    return 0;
  }

  void addScaled(int64_t value, int64_t scale, int64_t &to) {
    int64_t scaled = 0;
    fits_ = fits_ && !__builtin_mul_overflow(value, scale, &scaled) &&
            !__builtin_add_overflow(to, scaled, &to);
  }

  int64_t constant_ = 0;
  std::vector<Term> terms_; // sorted by their factors
  bool fits_ = true;
};

//===- order ---------------------------------------------------------------------------------===//

// A total order of normal forms; ranges and estimates don't count.
int Size::compare(const Size &a, const Size &b) {
  auto order = [](auto x, auto y) { return x < y ? -1 : x > y; };
  if (a.kind_ != b.kind_)
    return order(a.kind_, b.kind_);
  if (!a.compound_)
    return order(a.value_, b.value_);
  if (a.compound_ == b.compound_)
    return 0;
  const Compound &left = *a.compound_, &right = *b.compound_;
  auto compareAll = [](const std::vector<Size> &x, const std::vector<Size> &y) {
    if (x.size() != y.size())
      return x.size() < y.size() ? -1 : 1;
    for (size_t i = 0; i < x.size(); ++i)
      if (int order = compare(x[i], y[i]))
        return order;
    return 0;
  };
  if (int result = compareAll(left.operands, right.operands))
    return result;
  if (int result = order(left.constant, right.constant))
    return result;
  if (int result = order(left.terms.size(), right.terms.size()))
    return result;
  for (size_t i = 0; i < left.terms.size(); ++i) {
    if (int result = compareAll(left.terms[i].factors, right.terms[i].factors))
      return result;
    if (int result = order(left.terms[i].coefficient, right.terms[i].coefficient))
      return result;
  }
  return 0;
}

bool Size::provedDifferent(const Size &other) const {
  if (isUnknown() || other.isUnknown())
    return false;
  if (isConstant() && other.isConstant())
    return value_ != other.value_;
  Range difference = (*this - other).range_;
  return difference.low > 0 || difference.high < 0;
}

bool Size::provedAtMost(const Size &other) const {
  if (isUnknown() || other.isUnknown())
    return false;
  Size difference = other - *this;
  if (difference.range_.low >= 0)
    return true;
  auto isDivision = [](const Compound::Term &term) {
    return term.factors.front().kind_ == Kind::FloorDivision;
  };
  return difference.kind_ == Kind::Sum &&
         std::ranges::any_of(difference.compound_->terms, isDivision) &&
         Polynomial(difference).withoutDivisions().size().range_.low >= 0;
}

//===- arithmetic ----------------------------------------------------------------------------===//

Size operator+(const Size &a, const Size &b) {
  if (a.isConstant(0))
    return b;
  if (b.isConstant(0))
    return a;
  Size::Polynomial sum(a);
  sum.add(Size::Polynomial(b), 1);
  return sum.size();
}

Size operator-(const Size &a, const Size &b) {
  if (b.isConstant(0))
    return a;
  Size::Polynomial difference(a);
  difference.add(Size::Polynomial(b), -1);
  return difference.size();
}

Size operator*(const Size &a, const Size &b) {
  if (a.isConstant(1))
    return b;
  if (b.isConstant(1))
    return a;
  if (a.isConstant(0) || b.isConstant(0))
    return Size::constant(0);
  return Size::Polynomial::product(Size::Polynomial(a), Size::Polynomial(b)).size();
}

Size Size::function(Kind kind, std::vector<Size> operands) {
  Range range = operands[0].range_;
  int64_t estimate = operands[0].estimate_;
  for (size_t i = 1; i < operands.size(); ++i) {
    const Size &operand = operands[i];
    bool isEstimated = estimate >= 0 && operand.estimate_ >= 0;
    if (kind == Kind::FloorDivision) {
      range = quotientOf(range, operand.range_);
      estimate = isEstimated && operand.estimate_ > 0 ? estimate / operand.estimate_ : -1;
    } else if (kind == Kind::Minimum) {
      range = {std::min(range.low, operand.range_.low), std::min(range.high, operand.range_.high)};
      estimate = isEstimated ? std::min(estimate, operand.estimate_) : -1;
    } else {
      range = {std::max(range.low, operand.range_.low), std::max(range.high, operand.range_.high)};
      estimate = isEstimated ? std::max(estimate, operand.estimate_) : -1;
    }
  }
  if (range.low == range.high)
    return constant(range.low);
  Size result(kind, 0, estimate, range);
  result.compound_ = std::make_shared<Compound>(Compound{std::move(operands), 0, {}});
  return result;
}

Size floorDivide(const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown() || b.range_.low < 1)
    return Size::unknown();
  if (!b.isConstant()) {
    // A multiple of the divisor, which can't be seen term by term: (n*m) / m.
    if (b.isSymbol() && a.kind_ == Size::Kind::Sum && a.compound_->constant == 0) {
      Size quotient = Size::constant(0);
      for (const auto &term : a.compound_->terms) {
        auto place = std::find(term.factors.begin(), term.factors.end(), b);
        if (place == term.factors.end())
          return Size::function(Size::Kind::FloorDivision, {a, b});
        Size rest = Size::constant(term.coefficient);
        for (auto factor = term.factors.begin(); factor != term.factors.end(); ++factor)
          if (factor != place)
            rest = rest * *factor;
        quotient = quotient + rest;
      }
      return quotient;
    }
    return a == b ? Size::constant(1) : Size::function(Size::Kind::FloorDivision, {a, b});
  }
  int64_t divisor = b.value_;
  if (divisor == 1)
    return a;
  // floor((d*q + r) / d) is q + floor(r / d).
  auto [quotient, rest] = Size::Polynomial(a).divide(divisor);
  Size remainder = rest.size();
  if (remainder.range_.low >= 0 && remainder.range_.high < divisor)
    return quotient.size();
  // floor(floor(x / c) / d) is floor(x / (c*d)) for positive c and d.
  if (remainder.kind_ == Size::Kind::FloorDivision)
    return quotient.size() +
           floorDivide(remainder.compound_->operands[0], remainder.compound_->operands[1] * b);
  return quotient.size() + Size::function(Size::Kind::FloorDivision, {remainder, b});
}

// Operands that others make superfluous are left out; what all terms share stays inside.
Size Size::extreme(Kind kind, const Size &a, const Size &b) {
  if (a.isUnknown() || b.isUnknown())
    return unknown();
  std::vector<Size> operands;
  for (const Size *operand : {&a, &b})
    if (operand->kind_ == kind)
      operands.insert(operands.end(), operand->compound_->operands.begin(),
                      operand->compound_->operands.end());
    else
      operands.push_back(*operand);
  auto isSuperfluous = [&](const Size &operand, const Size &other) {
    return kind == Kind::Minimum ? other.provedAtMost(operand) : operand.provedAtMost(other);
  };
  std::vector<Size> kept;
  for (const Size &operand : operands) {
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const Size &other) { return isSuperfluous(operand, other); }))
      continue;
    std::erase_if(kept, [&](const Size &other) { return isSuperfluous(other, operand); });
    kept.push_back(operand);
  }
  if (kept.size() == 1)
    return kept[0];
  if (kept.size() > mostTerms)
    return unknown();
  std::sort(kept.begin(), kept.end(),
            [](const Size &x, const Size &y) { return compare(x, y) < 0; });
  return function(kind, std::move(kept));
}

Size minimum(const Size &a, const Size &b) { return Size::extreme(Size::Kind::Minimum, a, b); }
Size maximum(const Size &a, const Size &b) { return Size::extreme(Size::Kind::Maximum, a, b); }

//===- symbols -------------------------------------------------------------------------------===//

bool Size::everySymbol(const std::function<bool(int64_t)> &holds) const {
  if (isSymbol())
    return holds(value_);
  if (!compound_)
    return true;
  auto everyOf = [&](const std::vector<Size> &sizes) {
    return std::all_of(sizes.begin(), sizes.end(),
                       [&](const Size &size) { return size.everySymbol(holds); });
  };
  return everyOf(compound_->operands) &&
         std::all_of(compound_->terms.begin(), compound_->terms.end(),
                     [&](const Compound::Term &term) { return everyOf(term.factors); });
}

int64_t Size::evaluateCompound(const std::function<int64_t(int64_t)> &valueOf) const {
  int64_t value = compound_->constant;
  for (const Compound::Term &term : compound_->terms) {
    int64_t product = term.coefficient;
    for (const Size &factor : term.factors)
      product *= factor.evaluate(valueOf);
    value += product;
  }
  if (kind_ == Kind::Sum)
    return value;
  const std::vector<Size> &operands = compound_->operands;
  value = operands[0].evaluate(valueOf);
  for (size_t i = 1; i < operands.size(); ++i) {
    int64_t operand = operands[i].evaluate(valueOf);
    value = kind_ == Kind::FloorDivision ? floorOf(value, operand)
            : kind_ == Kind::Minimum     ? std::min(value, operand)
                                         : std::max(value, operand);
  }
  return value;
}

Size Size::substitute(const std::function<Size(int64_t)> &replacement) const {
  if (isSymbol())
    return replacement(value_);
  if (!compound_)
    return *this;
  if (kind_ == Kind::Sum) {
    Size sum = constant(compound_->constant);
    for (const Compound::Term &term : compound_->terms) {
      Size product = constant(term.coefficient);
      for (const Size &factor : term.factors)
        product = product * factor.substitute(replacement);
      sum = sum + product;
    }
    return sum;
  }
  const std::vector<Size> &operands = compound_->operands;
  Size result = operands[0].substitute(replacement);
  for (size_t i = 1; i < operands.size(); ++i) {
    Size operand = operands[i].substitute(replacement);
    result = kind_ == Kind::FloorDivision ? floorDivide(result, operand)
             : kind_ == Kind::Minimum     ? minimum(result, operand)
                                          : maximum(result, operand);
  }
  return result;
}

//===- text ----------------------------------------------------------------------------------===//

std::string Size::text() const {
  return text([](const Size &symbol) {
    std::string text = fmt::format("s{}", symbol.value_);
    if (symbol.range_ != ofArrays)
      text += fmt::format(":{}..{}", symbol.range_.low, symbol.range_.high);
    return symbol.estimate_ < 0 ? text : text + fmt::format("~{}", symbol.estimate_);
  });
}

std::string Size::text(const std::function<std::string(const Size &symbol)> &nameOf) const {
  switch (kind_) {
  case Kind::Unknown:
    return "unknown";
  case Kind::Constant:
    return fmt::format("{}", value_);
  case Kind::Symbol:
    return nameOf(*this);
  case Kind::FloorDivision:
  case Kind::Minimum:
  case Kind::Maximum: {
    std::string text = kind_ == Kind::FloorDivision ? "floordiv"
                       : kind_ == Kind::Minimum     ? "min"
                                                    : "max";
    for (size_t i = 0; i < compound_->operands.size(); ++i)
      text += (i == 0 ? "(" : ", ") + compound_->operands[i].text(nameOf);
    return text + ")";
  }
  case Kind::Sum:
    break;
  }
  std::string text;
  auto sign = [&](bool isNegative) {
    if (text.empty())
      text = isNegative ? "-" : "";
    else
      text += isNegative ? " - " : " + ";
  };
  auto magnitude = [](int64_t value) {
    return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  };
  for (const Compound::Term &term : compound_->terms) {
    sign(term.coefficient < 0);
    if (magnitude(term.coefficient) != 1)
      text += fmt::format("{}*", magnitude(term.coefficient));
    for (size_t i = 0; i < term.factors.size(); ++i)
      text += (i == 0 ? "" : "*") + term.factors[i].text(nameOf);
  }
  if (compound_->constant != 0) {
    sign(compound_->constant < 0);
    text += fmt::format("{}", magnitude(compound_->constant));
  }
  return text;
}

// Recursive descent over the grammar of text(); nesting is limited.
class Size::Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Size> parse() {
    if (text_ == "unknown")
      return unknown();
    int64_t value = 0;
    if (std::string_view all = text_; number(value) && text_.empty())
      return constant(value);
    else
      text_ = all;
    std::optional<Size> size = sum();
    return size && !size->isUnknown() && atEnd() ? size : std::nullopt;
  }

private:
  bool atEnd() {
    skipBlanks();
    return text_.empty();
  }
  void skipBlanks() { text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size())); }
  bool take(std::string_view word) {
    skipBlanks();
    if (!text_.starts_with(word))
      return false;
    text_.remove_prefix(word.size());
    return true;
  }
  template <typename Number> bool number(Number &value) {
    auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc())
      return false;
    text_.remove_prefix(end - text_.data());
    return true;
  }

  std::optional<Size> sum() {
    if (++depth_ > 64)
      return std::nullopt;
    bool isNegative = take("-");
    std::optional<Size> total = product();
    if (total && isNegative)
      total = -1 * *total;
    isNegative = false;
    while (total && (take("+") || (isNegative = take("-")))) {
      std::optional<Size> next = product();
      if (!next)
        return std::nullopt;
      total = isNegative ? *total - *next : *total + *next;
      isNegative = false;
    }
    --depth_;
    return total;
  }

  std::optional<Size> product() {
    std::optional<Size> total = factor();
    while (total && take("*")) {
      std::optional<Size> next = factor();
      if (!next)
        return std::nullopt;
      total = *total * *next;
    }
    return total;
  }

  std::optional<Size> factor() {
    if (take("floordiv"))
      return function(floorDivide);
    if (take("min"))
      return function(minimum);
    if (take("max"))
      return function(maximum);
    if (take("s"))
      return symbol();
    skipBlanks();
    int64_t value = 0;
    return number(value) && value >= 0 ? std::optional(constant(value)) : std::nullopt;
  }

  std::optional<Size> symbol() {
    int64_t id = 0, estimate = -1;
    Range range = ofArrays;
    if (!number(id) || id < 0)
      return std::nullopt;
    if (text_.starts_with(":")) {
      text_.remove_prefix(1);
      if (!number(range.low) || !take("..") || !number(range.high) || range.low > range.high)
        return std::nullopt;
    }
    if (text_.starts_with("~")) {
      text_.remove_prefix(1);
      if (!number(estimate) || estimate < 0)
        return std::nullopt;
    }
    return Size::symbol(id, estimate, range);
  }

  std::optional<Size> function(Size (*of)(const Size &, const Size &)) {
    if (!take("("))
      return std::nullopt;
    std::optional<Size> total = sum();
    int operands = 1;
    for (; total && take(","); ++operands) {
      std::optional<Size> next = sum();
      if (!next)
        return std::nullopt;
      total = of(*total, *next);
    }
    bool isWhole = operands == 2 || (operands > 2 && of != floorDivide);
    return take(")") && isWhole ? total : std::nullopt;
  }

  std::string_view text_;
  int depth_ = 0;
};

std::optional<Size> Size::parse(std::string_view text) { return Parser(text).parse(); }

} // namespace tokamak
