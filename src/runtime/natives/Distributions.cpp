// By Boost.Math, in which double precision isn't widened, so that all processors give the same numbers.
#include "runtime/natives/Distributions.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace tokamak::runtime {
namespace {

using Kind = Distribution::Kind;

constexpr double infinity = std::numeric_limits<double>::infinity();

// What can't be computed is NaN, infinite or 0 instead of an exception.
namespace policies = boost::math::policies;
using Policy = policies::policy<
    policies::promote_double<false>, policies::domain_error<policies::ignore_error>,
    policies::pole_error<policies::ignore_error>, policies::overflow_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>>;

template <typename Use> auto withBoost(const Distribution &distribution, const Use &use) {
  double first = distribution.first, second = distribution.second;
  switch (distribution.kind) {
  case Kind::Normal:
    break;
  case Kind::Exponential:
    return use(boost::math::exponential_distribution<double, Policy>(first));
  case Kind::ChiSquared:
    return use(boost::math::chi_squared_distribution<double, Policy>(first));
  case Kind::F:
    return use(boost::math::fisher_f_distribution<double, Policy>(first, second));
  case Kind::T:
    return use(boost::math::students_t_distribution<double, Policy>(first));
  }
  return use(boost::math::normal_distribution<double, Policy>(first, second));
}

bool isPositive(const Distribution &distribution) {
  return distribution.kind != Kind::Normal && distribution.kind != Kind::T;
}

// The probability of t beyond a distance from 0 whose square may overflow, by the first term of the series of the incomplete
// beta function (Abramowitz and Stegun 26.5.4 and 26.7.1).
double farTailOfT(double degrees, double distance) {
  double half = degrees / 2;
  double logOfBeta = std::log(boost::math::beta(half, 0.5, Policy()));
  return std::exp(half * (std::log(degrees) - 2 * std::log(distance)) - logOfBeta -
                  std::log(half)) /
         2;
}

// F whose second degrees are many more than its first ones, for which Boost loses digits in proportion to them: the incomplete
// beta function is an incomplete gamma function with a correction (M. E. Wise 1950, "The incomplete beta function as a contour
// integral"), and what is left out is about the square of the correction.
class FOfManyDegrees {
public:
  static bool serves(double first, double second) {
    constexpr double many = 1e5, smallCorrection = 1e-7;
    return second >= many && std::pow(first, 2.5) <= smallCorrection * second * second;
  }

  FOfManyDegrees(double first, double second)
      : first_(first), second_(second), shape_(first / 2), scale_(second / 2 + (shape_ - 1) / 2) {}

  Tails tails(double x) const {
    double y = scale_ * std::log1p(x / second_ * first_);
    if (!(y > 0))
      return {0, 1};
    if (std::isinf(y))
      return {1, 0};
    double beyond = y * boost::math::gamma_p_derivative(shape_, y, Policy()) * correction(y);
    return {boost::math::gamma_p(shape_, y, Policy()) - beyond,
            boost::math::gamma_q(shape_, y, Policy()) + beyond};
  }

  double quantile(Tails tails) const {
    double y = tails.lower < tails.upper ? boost::math::gamma_p_inv(shape_, tails.lower, Policy())
                                         : boost::math::gamma_q_inv(shape_, tails.upper, Policy());
    return std::expm1(y * (1 + correction(y)) / scale_) / first_ * second_;
  }

private:
  double correction(double y) const {
    return (shape_ + 1 + y) / scale_ * (shape_ - 1) / scale_ / 24;
  }

  double first_, second_, shape_, scale_;
};

} // namespace

Tails tailsOf(const Distribution &distribution, double x) {
  if (std::isnan(x))
    return {x, x};
  if (std::isinf(x))
    return x > 0 ? Tails{1, 0} : Tails{0, 1};
  if (isPositive(distribution) && x <= 0)
    return {0, 1};
  constexpr double far = 1e100;
  if (distribution.kind == Kind::T && std::abs(x) > far) {
    double tail = farTailOfT(distribution.first, std::abs(x));
    return x > 0 ? Tails{1 - tail, tail} : Tails{tail, 1 - tail};
  }
  if (distribution.kind == Kind::F) {
    double first = distribution.first, second = distribution.second;
    if (FOfManyDegrees::serves(first, second))
      return FOfManyDegrees(first, second).tails(x);
    if (FOfManyDegrees::serves(second, first)) { // of 1 / x
      Tails inverse = FOfManyDegrees(second, first).tails(1 / x);
      return {inverse.upper, inverse.lower};
    }
  }
  return withBoost(distribution, [&](const auto &boosted) {
    return Tails{cdf(boosted, x), cdf(complement(boosted, x))};
  });
}

double quantileOf(const Distribution &distribution, Tails tails) {
  if (std::isnan(tails.lower))
    return tails.lower;
  if (tails.lower <= 0)
    return isPositive(distribution) ? 0 : -infinity;
  if (tails.upper <= 0)
    return infinity;
  if (distribution.kind == Kind::F) {
    double first = distribution.first, second = distribution.second;
    if (FOfManyDegrees::serves(first, second))
      return FOfManyDegrees(first, second).quantile(tails);
    if (FOfManyDegrees::serves(second, first))
      return 1 / FOfManyDegrees(second, first).quantile({tails.upper, tails.lower});
  }
  return withBoost(distribution, [&](const auto &boosted) {
    return tails.lower < tails.upper ? quantile(boosted, tails.lower)
                                     : quantile(complement(boosted, tails.upper));
  });
}

// Not std::lgamma: it writes a global variable that all threads share.
double logGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

} // namespace tokamak::runtime
