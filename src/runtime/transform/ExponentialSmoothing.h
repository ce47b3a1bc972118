// Exponential smoothing of time series with missing values (NaN), as the library's ema imputes them: each value is
// predicted from those before it, and a missing one counts as its prediction.
// (Holt 1957; Winters 1960, "Forecasting Sales by Exponentially Weighted Moving Averages", section 2.)
//
//   SmoothingWeights weights{.level = 0.3, .trend = 0.2, .season = 0.1};
//   std::vector<double> fitted = smoothSeries(series, SmoothingMode::Single, weights, /*period=*/4);
#ifndef TOKAMAK_RUNTIME_TRANSFORM_EXPONENTIALSMOOTHING_H
#define TOKAMAK_RUNTIME_TRANSFORM_EXPONENTIALSMOOTHING_H

#include <cstdint>
#include <span>
#include <vector>

namespace tokamak::runtime {

enum class SmoothingMode : uint8_t {
  Single,
  Double,
  Triple
}; // of the level; and a trend; and a season

struct SmoothingWeights {
  double level, trend, season; // of the newest value, 0 to 1
};

// As many values as the series. Throws Error where it is too short: Double needs two values, Triple two seasons of
// `period` values, from which it takes the first level, trend and season.
std::vector<double> smoothSeries(std::span<const double> series, SmoothingMode mode,
                                 const SmoothingWeights &weights, int64_t period);

// The root of the mean squared difference of the values that aren't missing. NaN if all are.
double errorOfSmoothing(std::span<const double> series, std::span<const double> smoothed);

} // namespace tokamak::runtime
#endif
