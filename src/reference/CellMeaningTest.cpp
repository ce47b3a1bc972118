#include "reference/CellMeaning.h"

#include "reference/ScalarMeaning.h"
#include "reference/TextProgram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::Value;

static const double infinity = std::numeric_limits<double>::infinity();
static const int64_t largest = std::numeric_limits<int64_t>::max();

TEST(CellMeaning, RemainderAndQuotientTruncate) {
  Value seven = int64_t{-7}, two = int64_t{2}, zero = int64_t{0};
  EXPECT_EQ(shown(binary(BinaryOperator::Mod, seven, two)), "-1");
  EXPECT_EQ(shown(binary(BinaryOperator::IntDiv, seven, two)), "-3");
  EXPECT_EQ(shown(binary(BinaryOperator::Mod, -7.0, 2.0)), "-1.0");
  EXPECT_EQ(shown(binary(BinaryOperator::IntDiv, -7.0, 2.0)), "-3.0");
  EXPECT_EQ(shown(binary(BinaryOperator::Mod, matrix(1, 2, {-7, 7}), 2.0)), "-1 1");
  EXPECT_EQ(shown(binary(BinaryOperator::Mod, seven, zero)), "0");
  EXPECT_TRUE(std::isnan(binary(BinaryOperator::Mod, 1.0, 0.0).asDouble()));
  EXPECT_EQ(shown(binary(BinaryOperator::Mod, 3.0, 0.6)), "0.0");
  EXPECT_EQ(messageOf([&] { binary(BinaryOperator::IntDiv, seven, zero); }),
            "integer division by zero in -7 %/% 0");
}

TEST(CellMeaning, IntegersStayExactAndMustFit) {
  EXPECT_EQ(binary(BinaryOperator::Add, int64_t{9007199254740993}, int64_t{0}).asInteger(),
            9007199254740993);
  EXPECT_FALSE(
      binary(BinaryOperator::Eq, int64_t{9007199254740993}, int64_t{9007199254740992}).asBoolean());
  EXPECT_EQ(messageOf([] { binary(BinaryOperator::Add, largest, int64_t{1}); }),
            "integer overflow in 9223372036854775807 + 1");
  EXPECT_TRUE(binary(BinaryOperator::Div, int64_t{1}, int64_t{2}).isDouble());
  EXPECT_TRUE(binary(BinaryOperator::Pow, int64_t{3}, int64_t{2}).isDouble());
  EXPECT_TRUE(binary(BinaryOperator::Max, int64_t{3}, int64_t{2}).isInteger());
  EXPECT_TRUE(binary(BinaryOperator::Max, int64_t{3}, 2.0).isDouble());
  EXPECT_EQ(shown(unary(UnaryOperator::Abs, int64_t{-3})), "3");
  EXPECT_EQ(shown(unary(UnaryOperator::Neg, int64_t{3})), "-3");
}

TEST(CellMeaning, TextsCompareAndJoin) {
  EXPECT_TRUE(binary(BinaryOperator::Lt, "abc", "abd").asBoolean());
  EXPECT_TRUE(binary(BinaryOperator::Eq, "3", int64_t{3}).asBoolean());
  EXPECT_EQ(concat("n=", int64_t{3}).text(), "n=3");
  EXPECT_EQ(concat(1.0, true).text(), "1.0TRUE");
  EXPECT_EQ(binary(BinaryOperator::Add, "a", 2.5).text(), "a2.5");
  EXPECT_EQ(messageOf([] { binary(BinaryOperator::Mul, "a", int64_t{2}); }),
            "cannot compute \"a\" * 2: the operands must be numbers");
}

TEST(CellMeaning, BooleansCountAsOneAndZero) {
  EXPECT_EQ(shown(binary(BinaryOperator::Add, true, true)), "2.0");
  EXPECT_EQ(shown(binary(BinaryOperator::And, int64_t{2}, std::nan(""))), "TRUE");
  EXPECT_EQ(shown(binary(BinaryOperator::Gt, matrix(1, 3, {1, 2, 3}), int64_t{1})), "0 1 1");
  EXPECT_EQ(shown(unary(UnaryOperator::Not, matrix(1, 3, {0, 2, -1}))), "1 0 0");
}

TEST(CellMeaning, EitherVectorIsBroadcast) {
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 6}), column = matrix(2, 1, {10, 20}),
        row = matrix(1, 3, {1, 2, 3});
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, x, column)), "-9 -8 -7; -16 -15 -14");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, column, x)), "9 8 7; 16 15 14");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, row, x)), "0 0 0; -3 -3 -3");
  EXPECT_EQ(shown(binary(BinaryOperator::Add, column, row)), "11 12 13; 21 22 23");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, matrix(1, 1, {1}), column)), "-9; -19");
  EXPECT_EQ(messageOf([&] { binary(BinaryOperator::Sub, matrix(3, 1, {1, 2, 3}), x); }),
            "sizes do not agree: 3x1 - 2x3; expected equal sizes, or 1 where they differ");
}

TEST(CellMeaning, OneRepeatedIsNotBoth) {
  auto binary = [](BinaryOperator op, const Value &lhs, const Value &rhs) {
    return tokamak::reference::binary(op, lhs, rhs, BinarySizes::OneRepeated);
  };
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 6}), column = matrix(2, 1, {10, 20}),
        row = matrix(1, 3, {1, 2, 3});
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, x, x)), "0 0 0; 0 0 0");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, x, column)), "-9 -8 -7; -16 -15 -14");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, x, row)), "0 0 0; 3 3 3");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, int64_t{1}, x)), "0 -1 -2; -3 -4 -5");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, column, matrix(1, 1, {1}))), "9; 19");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, row, x)), "0 0 0; -3 -3 -3");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, column, x)), "9 8 7; 16 15 14");
  EXPECT_EQ(shown(binary(BinaryOperator::Sub, matrix(1, 1, {1}), column)), "-9; -19");
  std::string rule = "; expected equal sizes, or one operand that is a vector of matching length";
  EXPECT_EQ(messageOf([&] { binary(BinaryOperator::Sub, matrix(3, 1, {1, 2, 3}), x); }),
            "sizes do not agree: 3x1 - 2x3" + rule);
  EXPECT_EQ(messageOf([&] { binary(BinaryOperator::Add, row, column); }),
            "sizes do not agree: 1x3 + 2x1" + rule);
  EXPECT_EQ(messageOf([&] { binary(BinaryOperator::Add, column, row); }),
            "sizes do not agree: 2x1 + 1x3" + rule +
                "; outer(u, v, \"+\") combines a column with a row");
  // A 1x1 matrix combines with everything, like a scalar.
  EXPECT_EQ(shown(binary(BinaryOperator::Mul, x, matrix(1, 1, {2}))), "2 4 6; 8 10 12");
}

TEST(CellMeaning, EmptyMatricesStayEmpty) {
  Value empty = matrix(0, 3, {});
  EXPECT_EQ(shown(unary(UnaryOperator::Exp, empty)), "0x3");
  EXPECT_EQ(shown(binary(BinaryOperator::Add, empty, 1.0)), "0x3");
  EXPECT_EQ(shown(binary(BinaryOperator::Add, empty, matrix(1, 3, {1, 2, 3}))), "0x3");
  EXPECT_EQ(shown(binary(BinaryOperator::Add, matrix(1, 3, {1, 2, 3}), empty)), "0x3");
}

TEST(CellMeaning, RoundGoesHalfUp) {
  EXPECT_EQ(shown(unary(UnaryOperator::Round, matrix(1, 4, {-2.5, -0.4, 0.5, 2.5}))), "-2 0 1 3");
  EXPECT_EQ(unary(UnaryOperator::Round, std::nan("")).asDouble(), 0);
}

TEST(CellMeaning, IfElseSelectsCells) {
  Value c = matrix(1, 3, {1, 0, std::nan("")});
  EXPECT_EQ(shown(ifElse(c, matrix(1, 3, {1, 2, 3}), 9.0)), "1 9 3");
  EXPECT_EQ(shown(ifElse(true, matrix(1, 3, {1, 2, 3}), 9.0)), "1 2 3");
  EXPECT_EQ(shown(ifElse(false, matrix(1, 3, {1, 2, 3}), int64_t{9})), "9 9 9");
  EXPECT_EQ(shown(ifElse(int64_t{2}, "yes", "no")), "yes");
  EXPECT_EQ(shown(ifElse(c, matrix(2, 1, {1, 2}), matrix(1, 1, {9}))), "1 9 1; 2 9 2");
  EXPECT_EQ(
      messageOf([&] { ifElse(c, matrix(1, 2, {1, 2}), 9.0); }),
      "ifelse: sizes do not agree: 1x3 and 1x2; expected equal sizes, or 1 where they differ");
  Value column = matrix(2, 1, {1, 2}), whole = matrix(2, 3, {10, 20, 30, 40, 50, 60});
  EXPECT_EQ(shown(ifElse(c, column, whole, IfElseSizes::OneWhole)), "1 20 1; 2 50 2");
  EXPECT_EQ(messageOf([&] { ifElse(c, column, c, IfElseSizes::OneWhole); }),
            "ifelse: sizes do not agree: 1x3, 2x1 and 1x3; expected equal sizes, or vectors of "
            "matching length beside a matrix");
}

TEST(CellMeaning, ScalarIfElseOfMixedNumbersIsADouble) {
  TextProgram program(R"(
    func.func @f(%c: i1, %a: i64, %b: f64) -> f64 {
      %r = tok.ifelse %c, %a, %b : (i1, i64, f64) -> f64
      return %r : f64
    })");
  EXPECT_TRUE(program.call("f", {true, int64_t{1}, 2.5}).isDouble());
}

TEST(CellMeaning, OuterPairsEveryCell) {
  Value u = matrix(2, 1, {1, 2}), v = matrix(1, 3, {1, 2, 3});
  EXPECT_EQ(shown(outer(u, v, "*")), "1 2 3; 2 4 6");
  EXPECT_EQ(shown(outer(u, v, "==")), "1 0 0; 0 1 0");
  EXPECT_EQ(shown(outer(v, u, "-")), "0 1 2; -1 0 1");
  EXPECT_EQ(shown(outer(u, matrix(2, 2, {1, 2, 2, 1}), "==")), "1 0; 1 0");
  EXPECT_EQ(messageOf([&] { outer(v, matrix(1, 2, {1, 2}), "*"); }),
            "sizes do not agree: 1x3 * 1x2; expected equal sizes, or 1 where they differ");
  EXPECT_EQ(messageOf([&] { outer(u, v, "plus"); }), "outer: unknown operator \"plus\"");
}

TEST(CellMeaning, ReplaceFindsNaN) {
  Value x = matrix(1, 4, {1, std::nan(""), infinity, -1});
  EXPECT_EQ(shown(replace(x, std::nan(""), 0.0)), "1 0 inf -1");
  EXPECT_EQ(shown(replace(matrix(1, 2, {1, infinity}), infinity, 5.0)), "1 5");
}

TEST(ScalarMeaning, CastsConvert) {
  EXPECT_EQ(shown(castToInteger(-1.9)), "-1");
  EXPECT_EQ(shown(castToInteger(std::nan(""))), "0");
  EXPECT_EQ(castToInteger(1e19).asInteger(), largest);
  EXPECT_EQ(shown(castToInteger("12")), "12");
  EXPECT_EQ(shown(castToDouble(true)), "1.0");
  EXPECT_EQ(shown(castToBoolean(0.5)), "TRUE");
  EXPECT_EQ(shown(castToScalar(matrix(1, 1, {2.5}))), "2.5");
  EXPECT_EQ(shown(castToMatrix(int64_t{3})), "3");
  EXPECT_EQ(messageOf([] { castToScalar(matrix(1, 2, {1, 2})); }),
            "as.scalar: expected a 1x1 matrix, got one of 1x2");
  EXPECT_EQ(messageOf([] { castToInteger("x"); }), "cannot convert \"x\" to an integer");
}
