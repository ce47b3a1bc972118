#include "runtime/io/PlainNumber.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

using namespace tokamak::runtime;

namespace {

// The size of the number in front of `next`, or -1 if it is left to readNumber; with readNumber's value. What stands
// around the number doesn't matter.
int64_t sizeOf(std::string_view number, std::string_view next = ",") {
  int64_t size = -1;
  for (char around : {'7', '.', '-', 'e', '\xff'}) {
    std::string text = std::string(16, around).append(number).append(next);
    text += std::string(32, around);
    const char *position = text.data() + 16;
    EXPECT_TRUE(PlainNumberRange(text).contains(position));
    double value = 0, expected = 0;
    const char *end = readPlainNumber(position, value);
    const char *expectedEnd = readNumber(position, text.data() + text.size(), expected);
    size = end ? end - position : -1;
    if (end) {
      EXPECT_EQ(end, expectedEnd) << text;
      EXPECT_EQ(std::bit_cast<uint64_t>(value), std::bit_cast<uint64_t>(expected)) << text;
    }
  }
  return size;
}

} // namespace

TEST(PlainNumber, readsDigitsAroundAPoint) {
  for (const char *number :
       {"1.5", "-1.5", "0.25", "0.0001", "1234567.5", "7.", "-0.123456789012345678",
        "9.999999999999999999", "3.1415926535897931", "1.7976931348623157", "1234567.890123456789"})
    EXPECT_EQ(sizeOf(number), std::string_view(number).size()) << number;
  for (const char *next : {"\n", "\r\n", ";", " ", "x", "..", "-", "\xff"})
    EXPECT_EQ(sizeOf("2.5", next), 3) << next;
}

TEST(PlainNumber, leavesOthersToTheGeneralReader) {
  for (const char *number : {"", "-", ".5", "-.5", "+1.5", "12", "0.0", "12345678.5",
                             "0.1234567890123456789", "12.345678901234567890", "1.5e3", "1.5E3",
                             "NaN", "\"1.5\"", "--1.5", "1.00000000000000000000000000000000000005"})
    EXPECT_EQ(sizeOf(number), -1) << number;
}

TEST(PlainNumber, agreesWithTheGeneralReader) {
  std::mt19937_64 random(3);
  int read = 0, count = 20000;
  for (int i = 0; i < count; ++i) {
    double moderate = static_cast<double>(static_cast<int64_t>(random()) >> 10) * 0x1p-52;
    read += sizeOf(fmt::format("{}", moderate)) >= 0;
    sizeOf(fmt::format("{:.{}f}", moderate * 1000, random() % 25));
    sizeOf(fmt::format("{}.{}", random() % 10000000, random() >> (random() % 64)));
  }
  EXPECT_GT(read, count * 9 / 10);
}

TEST(PlainNumber, needsRoomAroundANumber) {
  std::string text(48, '0');
  PlainNumberRange range(text);
  EXPECT_TRUE(range.contains(text.data() + 16));
  EXPECT_FALSE(range.contains(text.data() + 15));
  EXPECT_FALSE(range.contains(text.data() + 17));
}
