#include "base/SizePolynomial.h"

#include <algorithm>

namespace tokamak {
namespace {

int64_t clamped(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, INT64_MIN, INT64_MAX));
}

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

} // namespace

Size::Polynomial::Polynomial(const Size &size) {
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

void Size::Polynomial::add(const Polynomial &other, int64_t scale) {
  fits_ = fits_ && other.fits_;
  addScaled(other.constant_, scale, constant_);
  for (const Term &term : other.terms_)
    add(term, scale);
}

void Size::Polynomial::add(const Term &term, int64_t scale) {
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

Size::Polynomial Size::Polynomial::product(const Polynomial &a, const Polynomial &b) {
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

std::pair<Size::Polynomial, Size::Polynomial> Size::Polynomial::divide(int64_t divisor) const {
  Polynomial quotient(Size::constant(floorOf(constant_, divisor))), rest(Size::constant(0));
  rest.constant_ = constant_ - floorOf(constant_, divisor) * divisor;
  for (const Term &term : terms_)
    if (term.coefficient % divisor == 0)
      quotient.add({term.coefficient / divisor, term.factors}, 1);
    else
      rest.add(term, 1);
  return {quotient, rest};
}

Size::Polynomial Size::Polynomial::withoutDivisions() const {
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

Size Size::Polynomial::size() const {
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

int Size::Polynomial::compareFactors(const Term &a, const Term &b) {
  if (a.factors.size() != b.factors.size())
    return a.factors.size() < b.factors.size() ? -1 : 1;
  for (size_t i = 0; i < a.factors.size(); ++i)
    if (int order = compare(a.factors[i], b.factors[i]))
      return order;
  return 0;
}

void Size::Polynomial::addScaled(int64_t value, int64_t scale, int64_t &to) {
  int64_t scaled = 0;
  fits_ = fits_ && !__builtin_mul_overflow(value, scale, &scaled) &&
          !__builtin_add_overflow(to, scaled, &to);
}

} // namespace tokamak
