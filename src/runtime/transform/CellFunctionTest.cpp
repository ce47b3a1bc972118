#include "runtime/transform/CellFunction.h"

#include "base/Error.h"
#include "runtime/transform/TextHash.h"

#include <gtest/gtest.h>

namespace tokamak::runtime {
namespace {

CellFunctionValue valueOf(const char *expression, CellFunctionValue x = std::string("ab")) {
  return CellFunction(expression).call({&x, 1});
}

std::string errorOf(const char *expression, const CellFunctionValue &x = std::string("ab")) {
  try {
    valueOf(expression, x);
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

TEST(CellFunction, BindsOperatorsAsJava) {
  EXPECT_EQ(valueOf("x -> 1 + 2 * 3 - 4 / 3"), CellFunctionValue(int64_t{6}));
  EXPECT_EQ(valueOf("x -> -7 / 2 + -7 % 2"), CellFunctionValue(int64_t{-4}));
  EXPECT_EQ(valueOf("x -> 7 / 2.0"), CellFunctionValue(3.5));
  EXPECT_EQ(valueOf("x -> 1 < 2 && !(3 <= 2) || false"), CellFunctionValue(true));
  EXPECT_EQ(valueOf("x -> 1 == 1 ? 2 > 3 ? 'a' : 'b' : 'c'"), CellFunctionValue(std::string("b")));
  EXPECT_EQ(valueOf("x -> (1 < 2 & 2 < 1) | true && !(true ^ true)"), CellFunctionValue(true));
  EXPECT_EQ(valueOf("x -> x + 1 + 2"), CellFunctionValue(std::string("ab12")));
  EXPECT_EQ(valueOf("x -> 1 + 2 + x"), CellFunctionValue(std::string("3ab")));
}

TEST(CellFunction, WrapsAroundWhereIntegersOverflow) {
  EXPECT_EQ(valueOf("x -> 9223372036854775807 + 1"), CellFunctionValue(INT64_MIN));
  EXPECT_EQ(valueOf("x -> (-9223372036854775807 - 1) / -1"), CellFunctionValue(INT64_MIN));
}

TEST(CellFunction, LeavesEscapesToRegularExpressions) {
  EXPECT_EQ(valueOf(R"(x -> x.replaceAll("[\s]+", "_"))", std::string("a  b")),
            CellFunctionValue(std::string("a_b")));
  EXPECT_EQ(valueOf(R"(x -> x.split(",").length)", std::string("a,b,,")),
            CellFunctionValue(int64_t{2}));
}

TEST(CellFunction, NamesWhatIsWrong) {
  EXPECT_EQ(errorOf("x -> x."), "map: \"x -> x.\", at character 7: unknown function '.'");
  EXPECT_EQ(errorOf("x -> (x"), "map: \"x -> (x\", at character 8: expected ')'");
  EXPECT_EQ(errorOf("x -> 1 / 0"), "map: an integer is divided by 0");
  EXPECT_EQ(errorOf("x -> x.charAt(5)"), "map: '.charAt': there is no character 5 in \"ab\"");
  EXPECT_EQ(errorOf("x -> x ? 1 : 2"), "map: '?' is not defined for the text \"ab\"");
  EXPECT_EQ(errorOf("x -> x.substring(2, 1)"),
            "map: '.substring' from 2 to 1 of the text \"ab\" with 2 characters");
  EXPECT_EQ(errorOf("x -> x.trim(1)"), "map: '.trim' takes 1 arguments, got 2");
  std::string deep = "x -> " + std::string(10000, '(') + "1";
  EXPECT_NE(errorOf(deep.c_str()).find("nested too deeply"), std::string::npos);
}

TEST(TextHash, IsThatOfJavaStrings) {
  EXPECT_EQ(textHash(""), 0);
  EXPECT_EQ(textHash("hello world"), 1794106052);
  EXPECT_EQ(textHash("polygenelubricants"), INT32_MIN);
  EXPECT_EQ(textHash("Grüße"), 69215351);     // of code points
  EXPECT_EQ(textHash("\U0001F600"), 1772899); // of a pair of surrogates
  EXPECT_EQ(bucketOf("polygenelubricants", 7), 2147483648 % 7 + 1);
}

} // namespace
} // namespace tokamak::runtime
