#include "runtime/transform/TextPatterns.h"

#include <gtest/gtest.h>

namespace tokamak::runtime {
namespace {

TEST(TextPatterns, BecomeMoreGeneral) {
  const char *dates[] = {"d4-1d2-1d2", "d+-+d+-+d+", "d+-+d+-+d+", "d+-+d+-+d+"};
  for (int level = 1; level <= 4; ++level)
    EXPECT_EQ(patternOfText("2020-01-01", level), dates[level - 1]);
  EXPECT_EQ(patternOfText("McDonald", 1), "u1l1u1l5");
  EXPECT_EQ(patternOfText("McDonald", 3), "a+");
  EXPECT_EQ(patternOfText("12345678901", 2), "d++");
  EXPECT_EQ(patternOfText("12345678901", 3), "d+");
  EXPECT_EQ(patternOfText("3.25", 4), "d+");
  EXPECT_EQ(patternOfText("New York City", 5), "a+");
  EXPECT_EQ(patternOfText("\u00e4b", 1), "y1l1");
  EXPECT_EQ(patternOfText("", 6), "");
}

TEST(TextPatterns, FindTextsOffThePattern) {
  std::string dates[] = {"2020-01-01", "2021-12-05", "abc", "2019-03-04"};
  EXPECT_EQ(rowsOffPattern(dates, 0.7), (std::vector<int64_t>{2}));
  EXPECT_EQ(rowsOffPattern(dates, 0.75), std::vector<int64_t>());
  // An empty text is off every pattern but its own.
  std::string words[] = {"ab", "", "Cd", "x"};
  EXPECT_EQ(rowsOffPattern(words, 0.9), (std::vector<int64_t>{1}));
  EXPECT_EQ(rowsOffPattern({}, 0.5), std::vector<int64_t>());
}

} // namespace
} // namespace tokamak::runtime
