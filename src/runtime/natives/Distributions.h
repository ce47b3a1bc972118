// Probabilities and quantiles of the distributions that DML supports.
//
//   Distribution normal{Distribution::Kind::Normal, 0, 1};
//   tailsOf(normal, 1.96).lower                    // 0.975...
//   quantileOf(normal, {0.975, 0.025})             // 1.96...
#ifndef TOKAMAK_RUNTIME_NATIVES_DISTRIBUTIONS_H
#define TOKAMAK_RUNTIME_NATIVES_DISTRIBUTIONS_H

#include <cstdint>

namespace tokamak::runtime {

struct Distribution {
  enum class Kind : uint8_t { Normal, Exponential, ChiSquared, F, T } kind = Kind::Normal;
  // Normal: mean and standard deviation. Exponential: rate. ChiSquared and T: degrees of freedom.
  // F: degrees of freedom of the numerator and the denominator. All but a mean are positive.
  double first = 0, second = 1;
};

// The probabilities of values <= x and > x. Both are kept, since each is accurate where it is
// small, while 1 minus the other is not.
struct Tails {
  double lower, upper;
};
Tails tailsOf(const Distribution &distribution, double x);

// The x with these tails, computed from the smaller one. If a tail is 0: -Inf or Inf, but 0 at the
// lower end of distributions of positive numbers.
double quantileOf(const Distribution &distribution, Tails tails);

// log |Gamma(x)|. Thread-safe.
double logGamma(double x);

} // namespace tokamak::runtime
#endif
