// The order of cells that sorting and counting distinct values use.
//
//   compareCells(1, NAN) < 0;   sameCell(NAN, NAN)
#ifndef TOKAMAK_RUNTIME_VALUES_CELLORDER_H
#define TOKAMAK_RUNTIME_VALUES_CELLORDER_H

#include <cmath>

namespace tokamak::runtime {

inline bool sameCell(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// NaN counts as larger than every number.
inline int compareCells(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return a < b ? -1 : a > b;
}

} // namespace tokamak::runtime
#endif
