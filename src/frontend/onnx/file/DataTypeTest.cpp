#include "frontend/onnx/file/DataType.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;

TEST(OnnxDataType, namesNumbersOfTheFormat) {
  EXPECT_EQ(nameOf(static_cast<DataType>(1)), "float");
  EXPECT_EQ(nameOf(static_cast<DataType>(16)), "bfloat16");
  EXPECT_EQ(nameOf(static_cast<DataType>(20)), "float8e5m2fnuz");
  EXPECT_EQ(nameOf(static_cast<DataType>(28)), "float6e3m2");
  EXPECT_EQ(nameOf(static_cast<DataType>(0)), "no type");
  EXPECT_EQ(nameOf(static_cast<DataType>(29)), "type 29");
  EXPECT_EQ(nameOf(static_cast<DataType>(-1)), "type -1");
  EXPECT_FALSE(isKnown(DataType::Undefined));
  EXPECT_FALSE(isKnown(static_cast<DataType>(29)));
}

TEST(OnnxDataType, keepsCellsInTheirOwnTypeOrAWiderOne) {
  for (int number = 1; number <= 28; ++number) {
    auto type = static_cast<DataType>(number);
    std::optional<ElementType> same = elementTypeOf(type), widened = widenedElementTypeOf(type);
    if (type == DataType::String) {
      EXPECT_FALSE(same || widened);
      continue;
    }
    ASSERT_TRUE(widened) << nameOf(type);
    if (same)
      EXPECT_EQ(bitsOf(type), 8 * byteSize(*same)) << nameOf(type);
    if (same)
      EXPECT_EQ(same, widened) << nameOf(type);
    else if (isComplex(type))
      EXPECT_EQ(bitsOf(type), 2 * 8 * byteSize(*widened)) << nameOf(type);
    else
      EXPECT_LE(bitsOf(type), 8 * byteSize(*widened)) << nameOf(type);
  }
}
