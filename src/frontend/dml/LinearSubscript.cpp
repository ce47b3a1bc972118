#include "frontend/dml/LinearSubscript.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

namespace tokamak::frontend {

double LinearForm::factorOf(const std::string &name) const {
  auto found = terms.find(name);
  return found == terms.end() ? 0 : found->second;
}

LinearForm LinearForm::plus(const LinearForm &other, double factor) const {
  LinearForm result = *this;
  result.constant += factor * other.constant;
  for (const auto &[name, otherFactor] : other.terms) {
    double &term = result.terms[name];
    term += factor * otherFactor;
    if (term == 0)
      result.terms.erase(name);
  }
  return result;
}

LinearForm LinearForm::times(double factor) const { return LinearForm().plus(*this, factor); }

// Doubles represent every integer of this size exactly (1e15 < 2^53).
static bool isWhole(double value) { return value == std::floor(value) && std::fabs(value) < 1e15; }

bool LinearForm::isWhole() const {
  return frontend::isWhole(constant) &&
         llvm::all_of(terms, [](const auto &term) { return frontend::isWhole(term.second); });
}

namespace {

// Whether constant + sum of factor * index can be zero, with each index varying independently
// within its bounds: a test by interval and by greatest common divisor.
class FreeEquation {
public:
  explicit FreeEquation(double constant) : constant_(constant), low_(constant), high_(constant) {}

  void add(double factor, const IndexBounds &bounds) {
    if (factor == 0)
      return;
    isWhole_ &= isWhole(factor);
    divisor_ = isWhole_ ? std::gcd(divisor_, static_cast<int64_t>(factor)) : 1;
    double unknown = INFINITY;
    double atFirst = bounds.first ? factor * *bounds.first : factor > 0 ? -unknown : unknown;
    double atLast = bounds.last ? factor * *bounds.last : factor > 0 ? unknown : -unknown;
    low_ += std::fmin(atFirst, atLast);
    high_ += std::fmax(atFirst, atLast);
  }

  bool mayHold() const {
    if (low_ > 0 || high_ < 0)
      return false;
    if (divisor_ == 0)
      return constant_ == 0;
    return !isWhole_ || !isWhole(constant_) || static_cast<int64_t>(constant_) % divisor_ == 0;
  }

private:
  double constant_, low_, high_;
  bool isWhole_ = true;
  int64_t divisor_ = 0;
};

} // namespace

bool mayMeet(const LinearForm &a, const LinearForm &b, const IndexSpace &space) {
  FreeEquation equation(a.constant - b.constant);
  bool hasInner = false;
  for (const auto &[name, bounds] : space.bounds) {
    double left = a.factorOf(name), right = b.factorOf(name);
    equation.add(left, bounds);
    equation.add(-right, bounds);
    hasInner |= name != space.tested && (left != 0 || right != 0);
  }
  // The terms that are constant in all iterations must cancel out, since their values are unknown.
  LinearForm difference = a.plus(b, -1);
  for (const auto &[name, factor] : difference.terms)
    if (!space.bounds.contains(name))
      return true;
  if (!equation.mayHold())
    return false;

  double factor = a.factorOf(space.tested);
  if (hasInner || factor == 0 || factor != b.factorOf(space.tested))
    return true;
  // Dependence distance: factor * i + x = factor * i' + y requires i' - i = (x - y) / factor, which
  // must be a non-zero integer within the bounds.
  double distance = std::fabs((a.constant - b.constant) / factor);
  const IndexBounds &bounds = space.bounds.at(space.tested);
  bool isWithin = !bounds.first || !bounds.last || distance <= *bounds.last - *bounds.first;
  return distance != 0 && isWhole(distance) && isWithin;
}

} // namespace tokamak::frontend
