#include "base/CellOperators.h"

#include <gtest/gtest.h>

#include <limits>

namespace tokamak {
namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t largest = std::numeric_limits<int64_t>::max();
constexpr int64_t largestUnsigned = -1; // of ui64, read as an int64_t

TEST(IntegerSemanticsTest, SumsAndProductsKeepTheirLowestBits) {
  EXPECT_EQ(evaluate(BinaryOperator::Add, ElementType::I8, 127, 1), -128);
  EXPECT_EQ(evaluate(BinaryOperator::Sub, ElementType::U8, 0, 1), 255);
  EXPECT_EQ(evaluate(BinaryOperator::Mul, ElementType::I32, 1 << 20, 1 << 20), 0);
  EXPECT_EQ(evaluate(BinaryOperator::Add, ElementType::I64, largest, 1), least);
  EXPECT_EQ(evaluate(BinaryOperator::Mul, ElementType::U64, largestUnsigned, 2), -2);
  EXPECT_EQ(evaluate(UnaryOperator::Neg, ElementType::U16, 1), 65535);
  EXPECT_EQ(evaluate(UnaryOperator::Abs, ElementType::I8, -128), -128);
  EXPECT_EQ(evaluate(UnaryOperator::Abs, ElementType::U64, largestUnsigned), largestUnsigned);
  EXPECT_EQ(evaluate(UnaryOperator::Sign, ElementType::U64, largestUnsigned), 1);
}

TEST(IntegerSemanticsTest, QuotientsAreTruncatedAndNeverFail) {
  for (BinaryOperator op : {BinaryOperator::Div, BinaryOperator::IntDiv}) {
    EXPECT_EQ(evaluate(op, ElementType::I32, -7, 2), -3);
    EXPECT_EQ(evaluate(op, ElementType::I32, 7, 0), 0);
    EXPECT_EQ(evaluate(op, ElementType::I8, -128, -1), -128);
    EXPECT_EQ(evaluate(op, ElementType::I64, least, -1), least);
    EXPECT_EQ(evaluate(op, ElementType::U64, largestUnsigned, 2), largest);
  }
  EXPECT_EQ(evaluate(BinaryOperator::Mod, ElementType::I32, -7, 2), -1);
  EXPECT_EQ(evaluate(BinaryOperator::Mod, ElementType::I32, -7, 0), 0);
  EXPECT_EQ(evaluate(BinaryOperator::Mod, ElementType::I64, least, -1), 0);
  EXPECT_EQ(evaluate(BinaryOperator::Mod, ElementType::U64, largestUnsigned, 10), 5);
}

TEST(IntegerSemanticsTest, PowersAreProducts) {
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::I8, 3, 4), 81);
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::I8, 3, 5), 243 - 256);
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::U64, 3, largestUnsigned),
            static_cast<int64_t>(12297829382473034411u)); // the inverse of 3 modulo 2^64
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::I32, 0, 0), 1);
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::I32, 2, -1), 0);
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::I32, -1, -3), -1);
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::I32, -1, -4), 1);
  EXPECT_EQ(evaluate(BinaryOperator::Pow, ElementType::I32, 0, -4), 0);
}

TEST(IntegerSemanticsTest, UnsignedCellsAreComparedAsSuch) {
  EXPECT_EQ(evaluate(BinaryOperator::Lt, ElementType::U64, 1, largestUnsigned), 1);
  EXPECT_EQ(evaluate(BinaryOperator::Ge, ElementType::I64, 1, -1), 1);
  EXPECT_EQ(evaluate(BinaryOperator::Max, ElementType::U64, 1, largestUnsigned), largestUnsigned);
  EXPECT_EQ(evaluate(BinaryOperator::Min, ElementType::U64, 1, largestUnsigned), 1);
}

TEST(IntegerSemanticsTest, ShiftsByMoreThanTheWidthLoseAllBits) {
  EXPECT_EQ(evaluate(BinaryOperator::BitwShiftL, ElementType::I8, 3, 7), -128);
  EXPECT_EQ(evaluate(BinaryOperator::BitwShiftL, ElementType::I8, 3, 8), 0);
  EXPECT_EQ(evaluate(BinaryOperator::BitwShiftL, ElementType::I8, 3, 64), 3);
  EXPECT_EQ(evaluate(BinaryOperator::BitwShiftR, ElementType::I8, -128, 20), -1);
  EXPECT_EQ(evaluate(BinaryOperator::BitwShiftR, ElementType::U64, largestUnsigned, 63), 1);
}

TEST(IntegerSemanticsTest, OperatorsSayWhatTheyTake) {
  EXPECT_TRUE(takes(UnaryOperator::Exp, ElementType::BF16));
  EXPECT_FALSE(takes(UnaryOperator::Exp, ElementType::I32));
  EXPECT_TRUE(takes(BinaryOperator::Add, ElementType::U8));
  EXPECT_FALSE(takes(BinaryOperator::Add, ElementType::Bool));
  EXPECT_TRUE(takes(BinaryOperator::And, ElementType::Bool));
}

} // namespace
} // namespace tokamak
