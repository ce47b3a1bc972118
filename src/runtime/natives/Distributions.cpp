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
