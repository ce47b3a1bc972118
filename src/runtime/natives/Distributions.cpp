// The regularised incomplete gamma function is computed by its series for x < a + 1, else by
// Legendre's continued fraction; the incomplete beta function by its continued fraction, on the
// side where it converges fast (Abramowitz and Stegun 6.5.29, 6.5.31, 26.5.8). Both fractions are
// evaluated by Lentz' method.
#include "runtime/natives/Distributions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace tokamak::runtime {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double tiny = 1e-300;
constexpr int mostTerms = 100000;

// Evaluates b0 + a1/(b1 + a2/(b2 + ...)); `term(i)` gives a and b of step i.
struct Fraction {
  double a, b;
};
template <typename Term> double continuedFraction(double b0, const Term &term) {
  double value = b0 == 0 ? tiny : b0, c = value, d = 0;
  for (int i = 1; i < mostTerms; ++i) {
    auto [a, b] = term(i);
    d = b + a * d;
    d = 1 / (d == 0 ? tiny : d);
    c = b + a / c;
    if (c == 0)
      c = tiny;
    value *= c * d;
    if (std::fabs(c * d - 1) <= epsilon)
      break;
  }
  return value;
}

Tails incompleteGamma(double a, double x) {
  if (x <= 0)
    return {0, 1};
  if (std::isinf(x))
    return {1, 0};
  double factor = std::exp(a * std::log(x) - x - logGamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int i = 1; i < mostTerms && term > sum * epsilon; ++i)
      sum += term *= x / (a + i);
    double lower = sum * factor;
    return {lower, 1 - lower};
  }
  double fraction = continuedFraction(0, [&](int i) {
    return i == 1 ? Fraction{1, x + 1 - a} : Fraction{-(i - 1) * (i - 1 - a), x + 2 * i - 1 - a};
  });
  double upper = factor * fraction;
  return {1 - upper, upper};
}

// I_x(a, b) for x below the mean; `y` is 1 - x, computed without cancellation.
double incompleteBetaFraction(double a, double b, double x, double y) {
  double logFactor =
      a * std::log(x) + b * std::log(y) + logGamma(a + b) - logGamma(a) - logGamma(b);
  double fraction = continuedFraction(1, [&](int i) {
    int m = i / 2;
    double numerator = i % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                  : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    return Fraction{numerator, 1};
  });
  return std::exp(logFactor) / (a * fraction);
}

Tails incompleteBeta(double a, double b, double x, double y) {
  if (x <= 0)
    return {0, 1};
  if (y <= 0)
    return {1, 0};
  if (x <= (a + 1) / (a + b + 2)) {
    double lower = incompleteBetaFraction(a, b, x, y);
    return {lower, 1 - lower};
  }
  double upper = incompleteBetaFraction(b, a, y, x);
  return {1 - upper, upper};
}

Tails tailsOfT(double degrees, double x) {
  if (std::isinf(x))
    return x > 0 ? Tails{1, 0} : Tails{0, 1};
  double square = x * x, total = degrees + square;
  Tails beta = incompleteBeta(0.5, degrees / 2, square / total, degrees / total);
  double far = beta.upper / 2, near = 0.5 + beta.lower / 2;
  return x > 0 ? Tails{near, far} : Tails{far, near};
}

// Bisects between two bounds for the x where `isBelow` becomes false.
template <typename IsBelow> double bisect(double low, double high, const IsBelow &isBelow) {
  for (int i = 0; i < 2000; ++i) {
    // Bounds of different magnitude are bisected on a logarithmic scale.
    bool farApart = low > 0 && high > 4 * low;
    double middle = farApart ? std::sqrt(low) * std::sqrt(high) : low + (high - low) / 2;
    if (middle <= low || middle >= high)
      break;
    (isBelow(middle) ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

bool isPositive(const Distribution &distribution) {
  return distribution.kind != Distribution::Kind::Normal &&
         distribution.kind != Distribution::Kind::T;
}

} // namespace

Tails tailsOf(const Distribution &distribution, double x) {
  if (std::isnan(x))
    return {x, x};
  double first = distribution.first, second = distribution.second;
  switch (distribution.kind) {
  case Distribution::Kind::Normal: {
    double z = (x - first) / (second * std::numbers::sqrt2);
    return {std::erfc(-z) / 2, std::erfc(z) / 2};
  }
  case Distribution::Kind::Exponential:
    return x <= 0 ? Tails{0, 1} : Tails{-std::expm1(-first * x), std::exp(-first * x)};
  case Distribution::Kind::ChiSquared:
    return incompleteGamma(first / 2, x / 2);
  case Distribution::Kind::F: {
    if (x <= 0)
      return {0, 1};
    if (std::isinf(x))
      return {1, 0};
    double share = first * x, total = share + second;
    return incompleteBeta(first / 2, second / 2, share / total, second / total);
  }
  case Distribution::Kind::T:
    return tailsOfT(first, x);
  }
  return {};
}

double quantileOf(const Distribution &distribution, Tails tails) {
  if (std::isnan(tails.lower))
    return tails.lower;
  if (tails.lower <= 0)
    return isPositive(distribution) ? 0 : -infinity;
  if (tails.upper <= 0)
    return infinity;
  if (distribution.kind == Distribution::Kind::Exponential)
    return (tails.lower < tails.upper ? -std::log1p(-tails.lower) : -std::log(tails.upper)) /
           distribution.first;
  bool byLower = tails.lower < tails.upper;
  auto isBelow = [&](double x) {
    Tails at = tailsOf(distribution, x);
    return byLower ? at.lower < tails.lower : at.upper > tails.upper;
  };
  if (isPositive(distribution)) {
    double high = 1;
    while (isBelow(high) && std::isfinite(high))
      high *= 2;
    double low = high;
    while (low > 0 && !isBelow(low))
      low = low > tiny ? low / 2 : 0;
    return bisect(low, high, isBelow);
  }
  // The distribution is symmetric: search for the distance from the centre, on the side of the
  // smaller tail.
  bool isNormal = distribution.kind == Distribution::Kind::Normal;
  double centre = isNormal ? distribution.first : 0, scale = isNormal ? distribution.second : 1;
  Distribution standard = isNormal ? Distribution{Distribution::Kind::Normal, 0, 1} : distribution;
  double tail = byLower ? tails.lower : tails.upper;
  if (tails.lower == tails.upper)
    return centre;
  auto isNear = [&](double x) { return tailsOf(standard, x).upper > tail; };
  double high = 1;
  while (isNear(high) && std::isfinite(high))
    high *= 2;
  double distance = bisect(0, high, isNear);
  return centre + (byLower ? -distance : distance) * scale;
}

// Not std::lgamma: it writes a global variable that all threads share.
double logGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

} // namespace tokamak::runtime
