#include "runtime/transform/ExponentialSmoothing.h"

#include "base/Error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tokamak::runtime {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

TEST(ExponentialSmoothing, TakesPredictionsForMissingValues) {
  double series[] = {1, 3, missing, 5};
  EXPECT_EQ(smoothSeries(series, SmoothingMode::Single, {0.5, 0, 0}, 0),
            (std::vector<double>{1, 2, 2, 3.5}));
  // The level rises by 2 from the first two values on, the trend stays.
  EXPECT_EQ(smoothSeries(series, SmoothingMode::Double, {0.5, 0, 0}, 0),
            (std::vector<double>{1, 5, 7, 8}));
}

// Of a line with a season, the error is 0.
TEST(ExponentialSmoothing, FollowsLineWithSeason) {
  for (int period : {2, 3, 4, 5}) {
    std::vector<double> series;
    for (int i = 0; i < 6 * period; ++i)
      series.push_back(2 * i + (i % period == 0 ? period - 1 : -1));
    std::vector<double> smoothed =
        smoothSeries(series, SmoothingMode::Triple, {0.3, 0.2, 0.1}, period);
    ASSERT_EQ(smoothed.size(), series.size());
    EXPECT_LT(errorOfSmoothing(series, smoothed), 2.0 * period) << period;
    for (int i = 0; i < period; ++i)
      EXPECT_EQ(smoothed[i], series[i]);
  }
}

TEST(ExponentialSmoothing, ErrorIsOfPresentValues) {
  double series[] = {1, missing, 4}, smoothed[] = {2, 7, 4};
  EXPECT_DOUBLE_EQ(errorOfSmoothing(series, smoothed), std::sqrt(0.5));
}

TEST(ExponentialSmoothing, RefusesShortSeries) {
  double series[] = {1, 2, 3};
  EXPECT_THROW(smoothSeries({series, 1}, SmoothingMode::Double, {0.5, 0.5, 0.5}, 0), Error);
  EXPECT_THROW(smoothSeries(series, SmoothingMode::Triple, {0.5, 0.5, 0.5}, 2), Error);
  EXPECT_THROW(smoothSeries(series, SmoothingMode::Triple, {0.5, 0.5, 0.5}, 1), Error);
}

} // namespace
} // namespace tokamak::runtime
