// How long an operator is predicted to take, by the cost model and for the sizes of its plan or those of a run.
//
//   Prediction prediction{1000, 600, 2, 0.9}; // on one thread, and on the machine's two
//   prediction.on(1) == 1000 && prediction.on(2) == 600
//   prediction.atPeakOn(1) == 900             // nothing that does this work here could be faster
//   prediction.forBytes(4e6)                  // if its arrays turn out to be larger or smaller than planned
#ifndef TOKAMAK_BASE_PREDICTION_H
#define TOKAMAK_BASE_PREDICTION_H

#include <algorithm>
#include <array>
#include <cmath>
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

  // Of an operator whose sizes are estimates: the bytes of the arrays that it is planned to read and write, each
  // counted once, and what it takes if these are `step` times, `step`^2 times ... as many, and as few; 0: the sizes
  // are known.
  struct Time {
    double nanoseconds, inParallel;
  };
  static constexpr double step = 4;
  static constexpr int stepsDown = 8, stepsUp = 4;
  using Times = std::array<Time, stepsDown + stepsUp + 1>; // the smallest first
  double bytes = 0;
  Times ofOtherSizes = {};

  // On so many threads: its speed grows with each of them by the same amount.
  double on(double used) const {
    if (used <= 1 || threads <= 1 || nanoseconds == 0)
      return nanoseconds;
    double share = std::min((used - 1) / (threads - 1), 1.0);
    return 1 / (1 / nanoseconds + share * (1 / inParallel - 1 / nanoseconds));
  }
  double atPeakOn(double used) const { return on(used) * atPeak; }

  // If its arrays have so many bytes: between two of the times for other sizes.
  Prediction forBytes(double actual) const {
    if (bytes == 0 || actual <= 0)
      return *this;
    constexpr double last = stepsDown + stepsUp,
                     shortest = 1e-3; // nanoseconds: logarithms are finite
    double place = std::clamp(std::log(actual / bytes) / std::log(step) + stepsDown, 0.0, last),
           below = std::min(std::floor(place), last - 1);
    const Time &less = ofOtherSizes[static_cast<size_t>(below)],
               &more = ofOtherSizes[static_cast<size_t>(below) + 1];
    auto between = [&](double Time::*time) {
      auto logarithm = [&](const Time &of) { return std::log(std::max(of.*time, shortest)); };
      return std::exp(std::lerp(logarithm(less), logarithm(more), place - below));
    };
    Prediction result = *this;
    result.nanoseconds = between(&Time::nanoseconds);
    result.inParallel = between(&Time::inParallel);
    return result;
  }
};

} // namespace tokamak
#endif
