#include "runtime/transform/ExponentialSmoothing.h"

#include "base/Error.h"

#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace tokamak::runtime {
namespace {

double valueOr(double value, double prediction) { return std::isnan(value) ? prediction : value; }

double weighted(double weight, double newer, double older) {
  return weight * newer + (1 - weight) * older;
}

std::vector<double> smoothLevel(std::span<const double> series, double weight) {
  std::vector<double> smoothed;
  for (double value : series)
    smoothed.push_back(smoothed.empty()
                           ? value
                           : weighted(weight, valueOr(value, smoothed.back()), smoothed.back()));
  return smoothed;
}

std::vector<double> smoothTrend(std::span<const double> series, const SmoothingWeights &weights) {
  double level = series[1], trend = series[1] - series[0];
  std::vector<double> smoothed = {series[0], level + trend};
  for (size_t i = 2; i < series.size(); ++i) {
    double before = level;
    level = weighted(weights.level, valueOr(series[i], smoothed.back()), level + trend);
    trend = weighted(weights.trend, level - before, trend);
    smoothed.push_back(level + trend);
  }
  return smoothed;
}

// The centred moving average over one period; the ends of an even period count half.
std::vector<double> movingAverage(std::span<const double> series, int64_t period) {
  std::vector<double> share(static_cast<size_t>(period), 1.0 / static_cast<double>(period));
  if (period % 2 == 0) {
    share.front() /= 2;
    share.push_back(share.front());
  }
  std::vector<double> averages;
  for (size_t begin = 0; begin + share.size() <= series.size(); ++begin)
    averages.push_back(std::inner_product(share.begin(), share.end(), series.begin() + begin, 0.0));
  return averages;
}

// What a line through values at 1, 2, ... is at 0, and by how much it rises.
std::pair<double, double> lineThrough(std::span<const double> values) {
  auto count = static_cast<double>(values.size());
  double meanPlace = (count + 1) / 2,
         mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double products = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double place = static_cast<double>(i) + 1 - meanPlace;
    products += place * (values[i] - mean);
    squares += place * place;
  }
  double slope = products / squares;
  return {mean - slope * meanPlace, slope};
}

// What the first two periods are above their moving average, by place in the period; with a mean of 0.
std::vector<double> firstSeason(std::span<const double> firstPeriods,
                                std::span<const double> averages, size_t period) {
  size_t first = (firstPeriods.size() - averages.size()) / 2;
  auto above = [&](size_t i) { return firstPeriods[first + i] - averages[i]; };
  std::vector<double> season(period);
  for (size_t i = 0; i < period; ++i)
    season[(i + period / 2) % period] =
        i + period < averages.size() ? (above(i) + above(i + period)) / 2 : above(i);
  double mean = std::accumulate(season.begin(), season.end(), 0.0) / static_cast<double>(period);
  for (double &value : season)
    value -= mean;
  return season;
}

std::vector<double> smoothSeason(std::span<const double> series, const SmoothingWeights &weights,
                                 int64_t period) {
  auto length = static_cast<size_t>(period);
  std::span<const double> firstPeriods = series.first(2 * length);
  std::vector<double> averages = movingAverage(firstPeriods, period);
  auto [level, trend] = lineThrough(averages);
  std::vector<double> season =
      firstSeason(firstPeriods, averages, length); // one more for each value
  std::vector<double> smoothed(series.begin(), series.begin() + period);
  smoothed.push_back(level + trend + season[0]);
  for (size_t i = 1; i + length < series.size(); ++i) {
    double before = level, value = valueOr(series[i + length - 1], smoothed.back());
    level = weighted(weights.level, value - season[i - 1], level + trend);
    trend = weighted(weights.trend, level - before, trend);
    season.push_back(weighted(weights.season, value - level, season[i - 1]));
    smoothed.push_back(level + trend + season[i]);
  }
  return smoothed;
}

} // namespace

std::vector<double> smoothSeries(std::span<const double> series, SmoothingMode mode,
                                 const SmoothingWeights &weights, int64_t period) {
  auto need = [&](int64_t least) {
    if (std::ssize(series) < least)
      throw Error(
          fmt::format("a series of {} values is too short, {} are needed", series.size(), least));
  };
  switch (mode) {
  case SmoothingMode::Single:
    return smoothLevel(series, weights.level);
  case SmoothingMode::Double:
    need(2);
    return smoothTrend(series, weights);
  case SmoothingMode::Triple:
    if (period < 2 || period > std::ssize(series))
      throw Error(fmt::format("a season of {} values, expected 2 to {}", period, series.size()));
    need(2 * period);
    return smoothSeason(series, weights, period);
  }
  return {};
}

double errorOfSmoothing(std::span<const double> series, std::span<const double> smoothed) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < series.size(); ++i)
    if (!std::isnan(series[i])) {
      sum += (series[i] - smoothed[i]) * (series[i] - smoothed[i]);
      ++count;
    }
  return std::sqrt(sum / count);
}

} // namespace tokamak::runtime
