#include "frontend/onnx/file/NarrowFloats.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace tokamak;
using namespace tokamak::onnx;

namespace {

void expectNumbers(DataType type, unsigned first, const std::vector<float> &numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    float number = narrowFloat(type, first + static_cast<unsigned>(i));
    EXPECT_EQ(number, numbers[i]) << nameOf(type) << " " << first + i;
    EXPECT_EQ(std::signbit(number), std::signbit(numbers[i])) << nameOf(type) << " " << first + i;
  }
}

void expectNan(DataType type, unsigned bits) {
  EXPECT_TRUE(std::isnan(narrowFloat(type, bits))) << nameOf(type) << " " << bits;
}

int nansOf(DataType type) {
  int count = 0;
  for (unsigned bits = 0; bits < 1U << bitsOf(type); ++bits)
    count += std::isnan(narrowFloat(type, bits));
  return count;
}

} // namespace

TEST(OnnxNarrowFloats, followTheirFormats) {
  expectNumbers(DataType::Float4E2M1, 0,
                {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0F, -0.5, -1, -1.5, -2, -3, -4, -6});
  expectNumbers(DataType::Float6E2M3, 0,
                {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.375, 1.5, 1.625,
                 1.75, 1.875, 2, 2.25});
  expectNumbers(DataType::Float6E2M3, 30, {7, 7.5, -0.0F, -0.125});
  expectNumbers(DataType::Float6E3M2, 0,
                {0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625});
  expectNumbers(DataType::Float6E3M2, 30, {24, 28, -0.0F, -0.0625});
  expectNumbers(DataType::Float8E4M3FN, 0, {0, 0x1p-9F, 0x2p-9F});
  expectNumbers(DataType::Float8E4M3FN, 7, {0x7p-9F, 0x1p-6F, 0x9p-9F});
  expectNumbers(DataType::Float8E4M3FN, 0x38, {1, 1.125});
  expectNumbers(DataType::Float8E4M3FN, 0x7d, {416, 448});
  expectNumbers(DataType::Float8E4M3FN, 0x80, {-0.0F, -0x1p-9F});
  expectNumbers(DataType::Float8E4M3FNUZ, 0, {0, 0x1p-10F});
  expectNumbers(DataType::Float8E4M3FNUZ, 0x7e, {224, 240});
  expectNumbers(DataType::Float8E4M3FNUZ, 0xff, {-240});
  expectNumbers(DataType::Float8E5M2, 0, {0, 0x1p-16F, 0x2p-16F, 0x3p-16F, 0x1p-14F});
  expectNumbers(DataType::Float8E5M2, 0x7a, {49152, 57344, INFINITY});
  expectNumbers(DataType::Float8E5M2, 0xfc, {-INFINITY});
  expectNumbers(DataType::Float8E5M2FNUZ, 0, {0, 0x1p-17F});
  expectNumbers(DataType::Float8E5M2FNUZ, 0x7e, {49152, 57344});
  expectNumbers(DataType::Float8E8M0, 0, {0x1p-127F, 0x1p-126F});
  expectNumbers(DataType::Float8E8M0, 127, {1, 2});
  expectNumbers(DataType::Float8E8M0, 254, {0x1p127F});
}

TEST(OnnxNarrowFloats, haveTheirNans) {
  expectNan(DataType::Float8E4M3FN, 0x7f);
  expectNan(DataType::Float8E4M3FN, 0xff);
  expectNan(DataType::Float8E4M3FNUZ, 0x80);
  expectNan(DataType::Float8E5M2, 0x7d);
  expectNan(DataType::Float8E5M2FNUZ, 0x80);
  expectNan(DataType::Float8E8M0, 0xff);
  EXPECT_EQ(nansOf(DataType::Float8E4M3FN), 2);
  EXPECT_EQ(nansOf(DataType::Float8E4M3FNUZ), 1);
  EXPECT_EQ(nansOf(DataType::Float8E5M2), 6);
  EXPECT_EQ(nansOf(DataType::Float8E5M2FNUZ), 1);
  EXPECT_EQ(nansOf(DataType::Float8E8M0), 1);
  EXPECT_EQ(nansOf(DataType::Float4E2M1), 0);
  EXPECT_EQ(nansOf(DataType::Float6E2M3), 0);
  EXPECT_EQ(nansOf(DataType::Float6E3M2), 0);
}

// The types that their cells are widened to hold every one of their numbers.
TEST(OnnxNarrowFloats, fitIntoTheTypesThatCellsAreWidenedTo) {
  for (DataType type : {DataType::Float4E2M1, DataType::Float6E2M3, DataType::Float6E3M2,
                        DataType::Float8E4M3FN, DataType::Float8E4M3FNUZ, DataType::Float8E5M2,
                        DataType::Float8E5M2FNUZ, DataType::Float8E8M0}) {
    for (unsigned bits = 0; bits < 1U << bitsOf(type); ++bits) {
      float number = narrowFloat(type, bits);
      float kept = widenedElementTypeOf(type) == ElementType::BF16
                       ? static_cast<float>(BFloat16(number))
                       : static_cast<float>(static_cast<Float16>(number));
      EXPECT_TRUE(kept == number || (std::isnan(kept) && std::isnan(number)))
          << nameOf(type) << " " << bits;
    }
  }
}
