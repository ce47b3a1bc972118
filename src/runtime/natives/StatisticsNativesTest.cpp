#include "runtime/natives/NativeTesting.h"

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

TEST(StatisticsNatives, takesMoments) {
  Value x = matrix(4, 1, {1, 2, 3, 6});
  EXPECT_EQ(call("moment", {x, Value(), integer(2)}).asDouble(), 3.5);
  EXPECT_EQ(call("moment", {x, Value(), integer(1)}).asDouble(), 3);
  EXPECT_EQ(call("cov", {x, x, Value()}).asDouble(), 14.0 / 3);
  EXPECT_EQ(call("trace", {matrix(2, 2, {1, 2, 3, 4})}).asDouble(), 5);
}
