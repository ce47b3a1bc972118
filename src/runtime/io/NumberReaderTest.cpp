#include "runtime/io/NumberReader.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tokamak::runtime;

namespace {

// Parses the whole text and compares the result with strtod, bit by bit.
void expectRounded(const std::string &text) {
  double value = 0;
  const char *end = readNumber(text.data(), text.data() + text.size(), value);
  ASSERT_EQ(end, text.data() + text.size()) << text;
  EXPECT_EQ(std::bit_cast<uint64_t>(value), std::bit_cast<uint64_t>(std::strtod(text.c_str(), {})))
      << text;
}

} // namespace

TEST(NumberReader, roundsCorrectly) {
  for (const char *text : {"0",
                           "-0",
                           "-0.0",
                           "1",
                           "1.",
                           ".5",
                           "-.5e1",
                           "12345678",
                           "123456789012345678901234567890",
                           "9007199254740993",
                           "9007199254740993.0",
                           "9007199254740995.00",
                           "4503599627370497.5",
                           "4503599627370498.50",
                           "9007199254740993.0000000000000000001",
                           "1e22",
                           "1e23",
                           "9007199254740991e22",
                           "0.1",
                           "0.30000000000000004",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "1e400",
                           "-1e400",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "2.5e-324",
                           "1e-400",
                           "2.2250738585072011e-308",
                           "0e999999999999",
                           "1e-99999999999",
                           "18446744073709551616",
                           "8.5e+03",
                           "00000000000000000000001",
                           "0.000000000000000000000000000001"})
    expectRounded(text);
}

TEST(NumberReader, roundsRandomNumbers) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value))
      continue;
    expectRounded(fmt::format("{}", value));
    expectRounded(fmt::format("{:.{}e}", value, random() % 20));
    double moderate = static_cast<double>(random() >> 11) * 0x1p-53;
    expectRounded(fmt::format("{}", moderate));
    expectRounded(fmt::format("{:.{}f}", moderate * 1000, random() % 25));
    expectRounded(fmt::format("{}", static_cast<int64_t>(random()) >> (random() % 64)));
  }
}

TEST(NumberReader, roundsAllExponentsOfItsTable) {
  std::mt19937_64 random(11);
  for (int64_t k = -digits::largestPower - 2; k <= digits::largestPower + 2; ++k)
    for (int i = 0; i < 500; ++i) {
      expectRounded(fmt::format("{}e{}", random() >> (1 + random() % 12), k));
      expectRounded(
          fmt::format("{}e{}", random() % 10 == 0 ? ~uint64_t{0} >> 1 : random() % 1000, k));
    }
}

// Halfway between two neighbours, cut to 19 digits: as close to a tie as 64 bits come.
TEST(NumberReader, roundsNumbersBesideTies) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 100000; ++i) {
    double value =
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 400) - 250);
    long double tie = (static_cast<long double>(value) + std::nextafter(value, 1e300)) / 2;
    expectRounded(fmt::format("{:.{}e}", tie, 16 + random() % 4));
  }
}

TEST(NumberReader, stopsWhereTheNumberEnds) {
  auto lengthOf = [](std::string_view text) -> int64_t {
    double value = 0;
    const char *end = readNumber(text.data(), text.data() + text.size(), value);
    return end ? end - text.data() : -1;
  };
  EXPECT_EQ(lengthOf("12.5,3"), 4);
  EXPECT_EQ(lengthOf("1e"), 1);
  EXPECT_EQ(lengthOf("1e+"), 1);
  EXPECT_EQ(lengthOf("1e5x"), 3);
  EXPECT_EQ(lengthOf("1.2.3"), 3);
  EXPECT_EQ(lengthOf("123456789x"), 9);
  for (const char *text : {"", "-", "+", ".", "-.", "e5", "x", "NaN", "--1", ".e1"})
    EXPECT_EQ(lengthOf(text), -1) << text;
}

TEST(NumberReader, readsWholeFields) {
  EXPECT_EQ(fieldNumber("+2.5"), 2.5);
  EXPECT_EQ(fieldNumber("-INF"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(fieldNumber("infinity"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(fieldNumber("nan").value()));
  for (const char *text : {"", "1x", "0x10", "1,0", "+-1", "infinit", "nan(1)", " 1"})
    EXPECT_FALSE(fieldNumber(text).has_value()) << text;
  EXPECT_EQ(fieldInteger("-12"), -12);
  EXPECT_EQ(fieldInteger("+12"), 12);
  EXPECT_EQ(fieldInteger("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char *text : {"", "1.0", "9223372036854775808", "+-1", "+", "1 "})
    EXPECT_FALSE(fieldInteger(text).has_value()) << text;
}
