// How long an operator is predicted to take, by the cost model and for the sizes of its plan.
//
//   Prediction prediction{1000, 600, 2, 0.9}; // on one thread, and on the machine's two
//   prediction.on(1) == 1000 && prediction.on(2) == 600
//   prediction.atPeakOn(1) == 900             // nothing that does this work here could be faster
#ifndef TOKAMAK_BASE_PREDICTION_H
#define TOKAMAK_BASE_PREDICTION_H

#include <algorithm>
#include <cstdint>

namespace tokamak {

// What keeps an operator from being faster: the rate at which cells are moved from and to memory and caches, or
// that at which the processor computes.
enum class Limit : uint8_t { Moving, Computing };

struct Prediction {
  double nanoseconds = 0; // on one thread; 0: no prediction
  double inParallel = 0;  // on all threads of the machine
  double threads = 1;     // as many
  double atPeak = 0;      // the share of it in which what limits it works at the machine's peak
  Limit limit = Limit::Moving;

  // On so many threads: its speed grows with each of them by the same amount.
  double on(double used) const {
    if (used <= 1 || threads <= 1 || nanoseconds == 0)
      return nanoseconds;
    double share = std::min((used - 1) / (threads - 1), 1.0);
    return 1 / (1 / nanoseconds + share * (1 / inParallel - 1 / nanoseconds));
  }
  double atPeakOn(double used) const { return on(used) * atPeak; }
};

} // namespace tokamak
#endif
