#include "runtime/natives/NativeTesting.h"

#include <cmath>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

TEST(StatisticsNatives, takesQuantiles) {
  Value even = matrix(4, 1, {4, 1, 3, 2}), odd = matrix(3, 1, {3, 1, 2});
  EXPECT_EQ(call("quantile", {even, Value(), 0.5}).asDouble(), 2.5);
  EXPECT_EQ(call("quantile", {even, Value(), 1.0}).asDouble(), 4);
  EXPECT_EQ(call("quantile", {odd, Value(), 0.5}).asDouble(), 2);
  EXPECT_EQ(cellsOf(call("quantile", {even, Value(), matrix(2, 1, {0.5, 0.25})})), (Cells{2, 1}));
  EXPECT_EQ(errorOf("quantile", {even, Value(), 2.0}), "quantile: 2.0 is not a probability");
}

TEST(StatisticsNatives, takesMedians) {
  EXPECT_EQ(call("median", {matrix(4, 1, {4, 1, 3, 2}), Value()}).asDouble(), 2.5);
  EXPECT_EQ(call("median", {matrix(3, 1, {4, 1, 3}), Value()}).asDouble(), 3);
  EXPECT_EQ(call("median", {matrix(2, 1, {1, 9}), matrix(2, 1, {1, 2})}).asDouble(), 9);
  EXPECT_EQ(call("inter_quartile_mean", {matrix(4, 1, {1, 2, 3, 100}), Value()}).asDouble(), 2.5);
  EXPECT_EQ(errorOf("median", {matrix(0, 1, {}), Value()}), "median: the vector is empty");
}

TEST(StatisticsNatives, quantilesKeepTheSignOfZero) {
  auto isNegative = [](const Value &value) { return std::signbit(value.asDouble()); };
  Value zeros = matrix(3, 1, {-0.0, -1, 0.0}), ones = matrix(3, 1, {1, 1, 1});
  for (const Value &weights : {Value(), ones}) {
    EXPECT_TRUE(isNegative(call("quantile", {matrix(1, 1, {-0.0}), Value(), 0.9})));
    EXPECT_TRUE(isNegative(call("median", {zeros, weights}))) << "-0 comes before 0";
    EXPECT_FALSE(isNegative(call("quantile", {zeros, weights, 1.0})));
  }
}

// Beside sums in extended precision.
TEST(StatisticsNatives, addsUpOnAnyNumberOfThreads) {
  for (int64_t count : {15, 4096, 4111, 300'000}) {
    Cells x, y;
    long double meanX = 0, meanY = 0, products = 0, fourth = 0;
    for (int64_t i = 0; i < count; ++i) {
      x.push_back(1e6 + static_cast<double>(i * 7919 % 1009));
      y.push_back(static_cast<double>(i * 104729 % 997) / 997);
      meanX += x.back();
      meanY += y.back();
    }
    meanX /= count;
    meanY /= count;
    for (int64_t i = 0; i < count; ++i) {
      products += (x[i] - meanX) * (y[i] - meanY);
      fourth += (x[i] - meanX) * (x[i] - meanX) * (x[i] - meanX) * (x[i] - meanX);
    }
    Value a = matrix(count, 1, x), b = matrix(count, 1, y);
    auto covariance = static_cast<double>(products / (count - 1)),
         moment = static_cast<double>(fourth / count);
    double found = call("cov", {a, b, Value()}, 1).asDouble();
    EXPECT_NEAR(found, covariance, 1e-9 * std::abs(covariance) + 1e-9) << count;
    EXPECT_EQ(found, call("cov", {a, b, Value()}, 3).asDouble()) << count;
    EXPECT_NEAR(call("moment", {a, Value(), integer(4)}).asDouble(), moment, 1e-12 * moment);
  }
}

TEST(StatisticsNatives, takesMoments) {
  Value x = matrix(4, 1, {1, 2, 3, 6});
  EXPECT_EQ(call("moment", {x, Value(), integer(2)}).asDouble(), 3.5);
  EXPECT_EQ(call("moment", {x, Value(), integer(1)}).asDouble(), 3);
  EXPECT_EQ(call("cov", {x, x, Value()}).asDouble(), 14.0 / 3);
  EXPECT_EQ(call("trace", {matrix(2, 2, {1, 2, 3, 4})}).asDouble(), 5);
}
