#include "runtime/values/ScalarOperations.h"

#include "runtime/image/Image.h"
#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static std::string textOfResult(BinaryOperator op, const Value &a, const Value &b) {
  return binaryScalar(op, a, b).asText();
}

TEST(ScalarOperations, writesDoublesAsJavaDoes) {
  EXPECT_EQ(textOf(1), "1.0");
  EXPECT_EQ(textOf(-0.0), "-0.0");
  EXPECT_EQ(textOf(0.1), "0.1");
  EXPECT_EQ(textOf(100), "100.0");
  EXPECT_EQ(textOf(0.001), "0.001");
  EXPECT_EQ(textOf(0.0001), "1.0E-4");
  EXPECT_EQ(textOf(1e-5), "1.0E-5");
  EXPECT_EQ(textOf(1234567.5), "1234567.5");
  EXPECT_EQ(textOf(12345678), "1.2345678E7");
  EXPECT_EQ(textOf(1e7), "1.0E7");
  EXPECT_EQ(textOf(1e23), "1.0E23");
  EXPECT_EQ(textOf(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(textOf(notANumber), "NaN");
  EXPECT_EQ(textOf(-infinity), "-Infinity");
}

TEST(ScalarOperations, keepsIntegersExact) {
  EXPECT_EQ(textOfResult(BinaryOperator::Add, integer(2), integer(3)), "5");
  EXPECT_EQ(textOfResult(BinaryOperator::Mul, integer(int64_t{1} << 60), integer(7)),
            "8070450532247928832");
  EXPECT_EQ(textOfResult(BinaryOperator::Div, integer(4), integer(2)), "2.0");
  EXPECT_EQ(textOfResult(BinaryOperator::Pow, integer(2), integer(3)), "8.0");
  EXPECT_EQ(textOfResult(BinaryOperator::IntDiv, integer(-7), integer(2)), "-3");
  EXPECT_EQ(textOfResult(BinaryOperator::Mod, integer(-7), integer(2)), "-1");
  EXPECT_EQ(textOfResult(BinaryOperator::Mod, integer(5), integer(0)), "0");
  EXPECT_EQ(textOfResult(BinaryOperator::Min, integer(5), 2.0), "2.0");
}

TEST(ScalarOperations, failsOnOverflowAndDivisionByZero) {
  EXPECT_EQ(errorOf([] { binaryScalar(BinaryOperator::Add, integer(INT64_MAX), integer(1)); }),
            "integer overflow in 9223372036854775807 + 1");
  EXPECT_EQ(errorOf([] { binaryScalar(BinaryOperator::IntDiv, integer(5), integer(0)); }),
            "integer division by zero in 5 %/% 0");
  EXPECT_EQ(errorOf([] { unaryScalar(UnaryOperator::Neg, integer(INT64_MIN)); }),
            "integer overflow in -(-9223372036854775808)");
}

TEST(ScalarOperations, comparesByTheWiderType) {
  EXPECT_TRUE(binaryScalar(BinaryOperator::Lt, integer(1), 1.5).asBoolean());
  // Converted to doubles, the two would be equal.
  EXPECT_TRUE(
      binaryScalar(BinaryOperator::Lt, integer(INT64_MAX - 1), integer(INT64_MAX)).asBoolean());
  EXPECT_TRUE(binaryScalar(BinaryOperator::Lt, integer(10), "9").asBoolean());
  EXPECT_TRUE(binaryScalar(BinaryOperator::Eq, true, "TRUE").asBoolean());
  EXPECT_FALSE(binaryScalar(BinaryOperator::Eq, notANumber, notANumber).asBoolean());
}

TEST(ScalarOperations, handlesTextAndLogic) {
  EXPECT_EQ(textOfResult(BinaryOperator::Add, "n = ", integer(3)), "n = 3");
  EXPECT_EQ(concatenate(2.0, true).asText(), "2.0TRUE");
  EXPECT_EQ(errorOf([] { binaryScalar(BinaryOperator::Sub, "a", integer(1)); }),
            "cannot compute \"a\" - 1: the operands must be numbers");
  EXPECT_TRUE(binaryScalar(BinaryOperator::And, integer(5), true).isBoolean());
  EXPECT_TRUE(unaryScalar(UnaryOperator::Not, integer(0)).asBoolean());
  EXPECT_EQ(unaryScalar(UnaryOperator::Abs, integer(-3)).asText(), "3");
  EXPECT_EQ(textOfResult(BinaryOperator::Add, true, true), "2.0");
}

TEST(ScalarOperations, namesUnassignedVariables) {
  EXPECT_EQ(errorOf([] { unaryScalar(UnaryOperator::Neg, Undefined{"y"}); }),
            "variable 'y' has no value here: it was not assigned on the way taken");
}

TEST(ScalarOperations, casts) {
  EXPECT_EQ(castValue(2.9, CastTarget::Integer).asText(), "2");
  EXPECT_EQ(castValue(-2.9, CastTarget::Integer).asText(), "-2");
  EXPECT_EQ(castValue(notANumber, CastTarget::Integer).asText(), "0");
  EXPECT_EQ(castValue(1e19, CastTarget::Integer).asText(), "9223372036854775807");
  EXPECT_EQ(castValue("1e2", CastTarget::Double).asText(), "100.0");
  EXPECT_EQ(castValue("TRUE", CastTarget::Boolean).asText(), "TRUE");
  EXPECT_EQ(castValue(matrix(1, 1, {7}), CastTarget::Scalar).asText(), "7.0");
  EXPECT_EQ(sizeOf(castValue(integer(3), CastTarget::Matrix)), "1x1");
  EXPECT_EQ(errorOf([] { castValue(matrix(2, 1, {1, 2}), CastTarget::Scalar); }),
            "as.scalar: expected a 1x1 matrix, got one of 2x1");
  EXPECT_EQ(errorOf([] { castValue("x", CastTarget::Integer); }),
            "cannot convert \"x\" to an integer");
}

TEST(ScalarOperations, castsWhatListsHold) {
  Value inner = call("list", {Value(), integer(4)});
  EXPECT_EQ(castValue(inner, CastTarget::Scalar).asText(), "4");
  EXPECT_EQ(castValue(inner, CastTarget::Double).asText(), "4.0");
  EXPECT_TRUE(
      castValue(call("list", {Value(), inner}), CastTarget::List).list()->elements[0].isInteger());
  EXPECT_EQ(cellsOf(castValue(call("list", {Value(), integer(1), 2.5}), CastTarget::Matrix)),
            (Cells{1, 2.5}));
}

TEST(ScalarOperations, parsesNumbers) {
  EXPECT_EQ(parseDouble("1e400"), infinity);
  EXPECT_EQ(parseDouble("-Inf"), -infinity);
  EXPECT_EQ(parseDouble("+1.5"), 1.5);
  EXPECT_EQ(parseDouble(".5"), 0.5);
  EXPECT_FALSE(parseDouble("inf").has_value());
  EXPECT_FALSE(parseDouble("1x").has_value());
  EXPECT_EQ(parseDouble(" 3 "), 3);
  EXPECT_EQ(parseInteger(" 3 "), 3);
  EXPECT_FALSE(parseDouble("").has_value());
  EXPECT_FALSE(parseInteger("1.0").has_value());
}
