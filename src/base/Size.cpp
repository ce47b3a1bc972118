#include "base/SizePolynomial.h"

#include <algorithm>
#include <compare>

namespace tokamak {

// `b` is positive.
static Size::Range quotientOf(Size::Range a, Size::Range b) {
  auto bound = [](int64_t x, int64_t y) { return isUnbounded(x) ? x : floorOf(x, y); };
  return {bound(a.low, a.low < 0 ? b.low : b.high), bound(a.high, a.high < 0 ? b.high : b.low)};
}

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

} // namespace tokamak
