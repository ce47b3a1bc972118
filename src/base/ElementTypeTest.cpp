#include "base/ElementType.h"

#include <gtest/gtest.h>

#include <set>

namespace tokamak {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ElementTypeTest, NamesAreThoseOfTheDialect) {
  std::set<std::string_view> names;
  for (int i = 0; i < elementTypeCount; ++i) {
    auto type = static_cast<ElementType>(i);
    EXPECT_TRUE(names.insert(nameOf(type)).second) << nameOf(type);
    int64_t size = withCellType(type, []<typename Cell>() { return int64_t{sizeof(Cell)}; });
    EXPECT_EQ(byteSize(type), size) << nameOf(type);
    EXPECT_EQ(withCellSize(type, []<typename Cell>() { return int64_t{sizeof(Cell)}; }), size);
  }
  EXPECT_EQ(nameOf(ElementType::U16), "ui16");
  EXPECT_EQ(elementTypeNamed("ui16"), ElementType::U16);
  EXPECT_EQ(elementTypeNamed("u16"), std::nullopt);
  EXPECT_FALSE(names.contains("u16"));
}

TEST(ElementTypeTest, FloatsBecomeIntegersTowardsZeroAndSaturate) {
  EXPECT_EQ(convertCell<int8_t>(-300.7), -128);
  EXPECT_EQ(convertCell<int8_t>(127.9), 127);
  EXPECT_EQ(convertCell<uint8_t>(-0.9), 0);
  EXPECT_EQ(convertCell<uint8_t>(-7.0), 0);
  EXPECT_EQ(convertCell<int64_t>(0x1p63), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convertCell<int64_t>(-0x1p63), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(convertCell<uint64_t>(0x1p63), uint64_t{1} << 63);
  EXPECT_EQ(convertCell<uint64_t>(infinity), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(convertCell<int32_t>(-infinity), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(convertCell<int32_t>(std::nan("")), 0);
  EXPECT_EQ(convertCell<int32_t>(2147483647.0f), std::numeric_limits<int32_t>::max());
  EXPECT_TRUE(convertCell<bool>(std::nan("")));
  EXPECT_FALSE(convertCell<bool>(-0.0));
}

TEST(ElementTypeTest, IntegersKeepTheirLowestBits) {
  EXPECT_EQ(convertCell<int8_t>(int32_t{300}), 44);
  EXPECT_EQ(convertCell<uint8_t>(int32_t{-1}), 255);
  EXPECT_EQ(wrappedTo(ElementType::U8, -1), 255);
  EXPECT_EQ(wrappedTo(ElementType::I16, 40000), 40000 - 65536);
  EXPECT_EQ(wrappedTo(ElementType::U64, -1), -1);
  EXPECT_EQ(wrappedTo(ElementType::Bool, 256), 1);
  EXPECT_EQ(doubleOf(ElementType::U64, -1), 0x1p64);
  EXPECT_EQ(doubleOf(ElementType::I64, -1), -1);
  EXPECT_EQ(integerOf(ElementType::U64, 0x1.8p63), static_cast<int64_t>(uint64_t{3} << 62));
}

// Ties go to the even number; the first rounding, to f32, is part of the rule.
TEST(ElementTypeTest, HalfPrecisionRoundsToTheNearest) {
  EXPECT_EQ(roundedTo(ElementType::F16, 2049), 2048);
  EXPECT_EQ(roundedTo(ElementType::F16, 2051), 2052);
  EXPECT_EQ(roundedTo(ElementType::F16, 65520), infinity);
  EXPECT_EQ(roundedTo(ElementType::F16, 65519), 65504);
  EXPECT_EQ(roundedTo(ElementType::F16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(roundedTo(ElementType::F16, 0x1p-25), 0);
  EXPECT_EQ(roundedTo(ElementType::F16, 2049 + 0x1p-30), 2048);
  EXPECT_EQ(roundedTo(ElementType::BF16, 257), 256);
  EXPECT_EQ(roundedTo(ElementType::BF16, 259), 260);
  EXPECT_EQ(roundedTo(ElementType::BF16, 3.4e38), infinity);
  EXPECT_EQ(roundedTo(ElementType::BF16, -0x1p-140), 0);
  EXPECT_EQ(roundedTo(ElementType::BF16, -0x1p-133), -0x1p-133);
  EXPECT_TRUE(std::isnan(roundedTo(ElementType::BF16, std::nan(""))));
  EXPECT_TRUE(std::isnan(roundedTo(ElementType::F16, std::nan(""))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
}

} // namespace
} // namespace tokamak
