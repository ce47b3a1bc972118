// The smaller and the larger of two numbers, NaN if one is NaN; of equal ones, as 0 and -0 are, the first. Inline, so that
// loops over them become vectors.
//
//   maximum(2.0, 3.0) == 3.0
//   std::isnan(maximum(2.0, NAN))
#ifndef TOKAMAK_BASE_EXTREMES_H
#define TOKAMAK_BASE_EXTREMES_H

#include <limits>

namespace tokamak {

inline double minimum(double a, double b) {
  double smaller = b < a ? b : a;
  return a != a || b != b ? std::numeric_limits<double>::quiet_NaN() : smaller;
}

inline double maximum(double a, double b) {
  double larger = b > a ? b : a;
  return a != a || b != b ? std::numeric_limits<double>::quiet_NaN() : larger;
}

} // namespace tokamak

#endif
