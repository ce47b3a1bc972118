// Probabilities of the distributions that DML knows, and their quantiles.
//
//   Distribution normal{Distribution::Kind::Normal, 0, 1};
//   tailsOf(normal, 1.96).lower                    // 0.975...
//   quantileOf(normal, {0.975, 0.025})             // 1.96...
#ifndef TOKAMAK_RUNTIME_DISTRIBUTIONS_H
#define TOKAMAK_RUNTIME_DISTRIBUTIONS_H

#include <cstdint>

namespace tokamak::runtime {

struct Distribution {
  enum class Kind : uint8_t { Normal, Exponential, ChiSquared, F, T } kind = Kind::Normal;
  // Normal: mean and standard deviation. Exponential: rate. ChiSquared and T: degrees of freedom.
  // F: degrees of freedom of the numerator and the denominator. All but a mean are positive.
  double first = 0, second = 1;
};

// The probabilities of values up to and above x, each accurate where it is small.
struct Tails {
  double lower, upper;
};
Tails tailsOf(const Distribution &distribution, double x);

// The x with these tails; the smaller one of them decides. -Inf or Inf (0 for distributions of
// positive numbers) where one is 0.
double quantileOf(const Distribution &distribution, Tails tails);

// log |Gamma(x)|, from any number of threads at once.
double logGamma(double x);

} // namespace tokamak::runtime
#endif
