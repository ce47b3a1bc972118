#include "runtime/transform/CellFunction.h"

#include "base/Error.h"
#include "runtime/transform/JavaHash.h"

#include <fmt/format.h>
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
  EXPECT_EQ(valueOf("x -> 1 == 1 ? 2 > 3 ? 'a' : 'b' : 'c'"), CellFunctionValue(U'b'));
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

TEST(CellFunction, CountsCharacters) {
  std::string text = "\u00e9a\U0001F600b";
  EXPECT_EQ(valueOf("x -> x.length()", text), CellFunctionValue(int64_t{5})); // two of a pair
  EXPECT_EQ(valueOf("x -> x.charAt(0)", text), CellFunctionValue(U'\u00e9'));
  EXPECT_EQ(valueOf("x -> x.substring(1, 4)", text), CellFunctionValue(std::string("a\U0001F600")));
  EXPECT_EQ(valueOf(R"(x -> x.indexOf("b"))", text), CellFunctionValue(int64_t{4}));
  EXPECT_EQ(valueOf(R"(x -> x.indexOf("c"))", text), CellFunctionValue(int64_t{-1}));
  EXPECT_EQ(valueOf(R"j(x -> x.replaceAll("(.)", "<$1>"))j", std::string("\u00c4b")),
            CellFunctionValue(std::string("<\u00c4><b>")));
  EXPECT_EQ(valueOf("x -> UtilFunctions.getAsciiAtIdx(x, 1)", text),
            CellFunctionValue(int64_t{0xe9}));
}

// A character is a number for operators, but a text beside a text.
TEST(CellFunction, TakesCharactersAsJavaDoes) {
  EXPECT_EQ(valueOf("x -> x.charAt(0) + 1"), CellFunctionValue(int64_t{98}));
  EXPECT_EQ(valueOf("x -> 'a' + x.charAt(1)"), CellFunctionValue(int64_t{195}));
  EXPECT_EQ(valueOf("x -> x.charAt(1) > 'a' && x.charAt(0) == 'a'"), CellFunctionValue(true));
  EXPECT_EQ(valueOf(R"(x -> x.charAt(0) == "a")"), CellFunctionValue(true));
  EXPECT_EQ(valueOf(R"(x -> "" + x.charAt(1) + 'c')"), CellFunctionValue(std::string("bc")));
  EXPECT_EQ(valueOf("x -> x.replace('a', '-')"), CellFunctionValue(std::string("-b")));
  EXPECT_EQ(valueOf(R"(x -> x.replace("", "-"))"), CellFunctionValue(std::string("-a-b-")));
  EXPECT_EQ(valueOf("x -> x.toUpperCase()", std::string("Stra\u00dfe \u00e9")),
            CellFunctionValue(std::string("STRASSE \u00c9")));
  EXPECT_EQ(valueOf("x -> x.toLowerCase()", std::string("\u00c4\u0416")),
            CellFunctionValue(std::string("\u00e4\u0436")));
}

TEST(CellFunction, SplitsAsJavaDoes) {
  auto parts = [](const char *separator, const char *text) {
    return valueOf((std::string("x -> x.split(\"") + separator + "\")").c_str(), std::string(text));
  };
  EXPECT_EQ(parts("", "hello"), CellFunctionValue(CellTextArray{"h", "e", "l", "l", "o"}));
  EXPECT_EQ(parts(",", ","), CellFunctionValue(CellTextArray{}));
  EXPECT_EQ(parts(",", ""), CellFunctionValue(CellTextArray{""}));
  EXPECT_EQ(parts(",", ",a,,b,"), CellFunctionValue(CellTextArray{"", "a", "", "b"}));
}

// A regular expression that tries one character after the other needs no more stack for long texts.
TEST(CellFunction, MatchesLongTexts) {
  std::string text(300000, 'a');
  EXPECT_EQ(valueOf(R"(x -> x.matches("(a|b)*c"))", text), CellFunctionValue(false));
  EXPECT_EQ(valueOf(R"(x -> x.replaceFirst("(a|b)*$", "c$1\\$"))", text),
            CellFunctionValue(std::string("ca$")));
}

TEST(CellFunction, TakesNumbersAsJavaDoes) {
  auto valueOfNumber = [](const char *function, CellFunctionValue number) {
    return CellFunction(function).call({&number, 1});
  };
  EXPECT_EQ(valueOfNumber("x -> Math.round(x)", 0.49999999999999994),
            CellFunctionValue(int64_t{0}));
  EXPECT_EQ(valueOfNumber("x -> Math.round(x)", -2.5), CellFunctionValue(int64_t{-2}));
  EXPECT_EQ(valueOfNumber("x -> Math.round(x)", 1e300), CellFunctionValue(INT64_MAX));
  EXPECT_EQ(valueOfNumber("x -> Math.round(x)", std::nan("")), CellFunctionValue(int64_t{0}));
  EXPECT_EQ(valueOfNumber("x -> x.intValue()", 1e300), CellFunctionValue(int64_t{INT32_MAX}));
  EXPECT_EQ(valueOfNumber("x -> x == 9007199254740992", int64_t{9007199254740993}),
            CellFunctionValue(false));
  EXPECT_EQ(valueOfNumber("x -> x > 9007199254740992", int64_t{9007199254740993}),
            CellFunctionValue(true));
  EXPECT_EQ(valueOfNumber("x -> Math.max(x, 1) == x", std::nan("")), CellFunctionValue(false));
  EXPECT_EQ(valueOfNumber("x -> Math.min(x, 1.5)", int64_t{2}), CellFunctionValue(1.5));
}

TEST(CellFunction, ReadsNumbersAsJavaDoes) {
  EXPECT_EQ(valueOf("x -> 1e-4 + 2E+1"), CellFunctionValue(20.0001));
  EXPECT_EQ(valueOf("x -> .5 - 1e2-1"), CellFunctionValue(-100.5));
  EXPECT_EQ(valueOf("x -> 5L / 2"), CellFunctionValue(int64_t{2}));
  EXPECT_EQ(valueOf("x -> 5d / 2"), CellFunctionValue(2.5));
  EXPECT_EQ(valueOf("x -> 0.1f"), CellFunctionValue(double{0.1F}));
  EXPECT_EQ(valueOf("x -> 0xFf - 0"), CellFunctionValue(int64_t{255}));
  EXPECT_EQ(valueOf("x -> Integer.MAX_VALUE + Math.floor(Math.PI)"),
            CellFunctionValue(2147483650.0));
  for (const char *wrong : {"1e", "1.5L", "0x", "0xg", "1.2.3", "5Lf"})
    EXPECT_EQ(errorOf((std::string("x -> ") + wrong).c_str()),
              "map: \"x -> " + std::string(wrong) + "\", at character " +
                  std::to_string(6 + std::string(wrong).size()) + ": '" + wrong + "' is no number");
}

TEST(CellFunction, ConvertsNumbersAsJavaDoes) {
  EXPECT_EQ(valueOf("x -> (int) 3.9 + (int) -3.9"), CellFunctionValue(int64_t{0}));
  EXPECT_EQ(valueOf("x -> (int) 1e10"), CellFunctionValue(int64_t{INT32_MAX}));
  EXPECT_EQ(valueOf("x -> (int) 4294967297L"), CellFunctionValue(int64_t{1}));
  EXPECT_EQ(valueOf("x -> (long) 1e300"), CellFunctionValue(INT64_MAX));
  EXPECT_EQ(valueOf("x -> (byte) 200"), CellFunctionValue(int64_t{-56}));
  EXPECT_EQ(valueOf("x -> (double) 7 / 2"), CellFunctionValue(3.5));
  EXPECT_EQ(valueOf("x -> (float) 0.1"), CellFunctionValue(double{0.1F}));
  EXPECT_EQ(valueOf("x -> (char) (x.charAt(0) + 1)"), CellFunctionValue(U'b'));
  EXPECT_EQ(valueOf("x -> (int) x.charAt(0)"), CellFunctionValue(int64_t{97}));
  EXPECT_EQ(valueOf("x -> ((String) x).length() * (x).length()"), CellFunctionValue(int64_t{4}));
  EXPECT_EQ(errorOf("x -> (int) x"), "map: '(int)' needs a number, got the text \"ab\"");
}

TEST(CellFunction, FindsAndSplitsFromAPlaceOn) {
  std::string text = "ab cbdb";
  EXPECT_EQ(valueOf(R"(x -> x.indexOf("b", 2))", text), CellFunctionValue(int64_t{4}));
  EXPECT_EQ(valueOf(R"(x -> x.indexOf("b", -5))", text), CellFunctionValue(int64_t{1}));
  EXPECT_EQ(valueOf(R"(x -> x.indexOf("", 100))", text), CellFunctionValue(int64_t{7}));
  EXPECT_EQ(valueOf(R"(x -> x.lastIndexOf("b", 3))", text), CellFunctionValue(int64_t{1}));
  EXPECT_EQ(valueOf(R"(x -> x.lastIndexOf("b", -1))", text), CellFunctionValue(int64_t{-1}));
  EXPECT_EQ(valueOf(R"(x -> x.split("b", 2))", text),
            CellFunctionValue(CellTextArray{"a", " cbdb"}));
  EXPECT_EQ(valueOf(R"(x -> x.split("b", -1))", text),
            CellFunctionValue(CellTextArray{"a", " c", "d", ""}));
  EXPECT_EQ(valueOf(R"(x -> String.join("|", x.split("b", 0)))", text),
            CellFunctionValue(std::string("a| c|d")));
  EXPECT_EQ(valueOf(R"(x -> x.split("b", 1))", text), CellFunctionValue(CellTextArray{text}));
}

TEST(CellFunction, TellsCharactersApartAsJavaDoes) {
  auto classesOf = [](const std::string &text) {
    std::string classes;
    for (const char *name :
         {"Digit", "Letter", "LetterOrDigit", "UpperCase", "LowerCase", "Whitespace"}) {
      std::string function = fmt::format("x -> Character.is{}(x.charAt(0))", name);
      classes += valueOf(function.c_str(), text) == CellFunctionValue(true) ? name[1] : '-';
    }
    return classes;
  };
  EXPECT_EQ(classesOf("7"), "i-e---");
  EXPECT_EQ(classesOf("a"), "-ee-o-");
  EXPECT_EQ(classesOf("Q"), "-eep--");
  EXPECT_EQ(classesOf("_"), "------");
  EXPECT_EQ(classesOf("\t"), "-----h");
  EXPECT_EQ(classesOf("\u00c4"), "-eep--");
  EXPECT_EQ(classesOf("\u0663"), "i-e---"); // a digit of Arabic
  EXPECT_EQ(classesOf("\u2003"), "-----h");
  EXPECT_EQ(classesOf("\u00a0"), "------");
  EXPECT_EQ(valueOf("x -> Character.toUpperCase(x.charAt(0))", std::string("\u00e9")),
            CellFunctionValue(U'\u00c9'));
  EXPECT_EQ(valueOf("x -> Character.getNumericValue('z')"), CellFunctionValue(int64_t{35}));
}

TEST(CellFunction, FormatsTextsAsJavaDoes) {
  EXPECT_EQ(valueOf(R"(x -> String.format("%05d|%4s|%.2f|%s", 42, x, 2.345, x.charAt(1)))"),
            CellFunctionValue(std::string("00042|  ab|2.35|b")));
  EXPECT_EQ(errorOf(R"(x -> String.format("%d", x))"),
            "map: 'String.format': %d cannot show a string");
  EXPECT_EQ(errorOf("x -> String.format()"),
            "map: 'String.format' takes at least 1 arguments, got 0");
}

TEST(CellFunction, NamesWhatIsWrong) {
  EXPECT_EQ(errorOf("x -> x.").substr(0, 82),
            "map: \"x -> x.\", at character 7: unknown function '.'; there are .length, .charAt, ");
  EXPECT_EQ(errorOf("x -> (x"), "map: \"x -> (x\", at character 8: expected ')'");
  EXPECT_EQ(errorOf("x -> 1 / 0"), "map: an integer is divided by 0");
  EXPECT_EQ(errorOf("x -> x.charAt(5)"), "map: '.charAt': there is no character 5 in \"ab\"");
  EXPECT_EQ(errorOf("x -> x ? 1 : 2"), "map: '?' is not defined for the text \"ab\"");
  EXPECT_EQ(errorOf("x -> x.substring(2, 1)"),
            "map: '.substring' from 2 to 1 of the text \"ab\" with 2 characters");
  EXPECT_EQ(errorOf("x -> x.trim(1)"), "map: '.trim' takes 1 arguments, got 2");
  EXPECT_EQ(errorOf(R"(x -> x.matches("a("))"),
            "map: \"a(\" is no regular expression: missing closing parenthesis, at character 3");
  EXPECT_EQ(errorOf(R"(x -> x.replaceAll("a", "$1"))"),
            "map: the replacement \"$1\" names group 1 of 0");
  EXPECT_EQ(
      errorOf("x -> Math.random()").substr(0, 104),
      "map: \"x -> Math.random()\", at character 6: unknown function 'Math.random'; there are "
      "Math.abs, Math.min,");
  EXPECT_EQ(errorOf("x -> LocalDate.of(1)"),
            "map: \"x -> LocalDate.of(1)\", at character 6: unknown function 'LocalDate.of'; there "
            "are functions of "
            "Character, Double, Integer, Long, Math, PorterStemmer, String, UtilFunctions, and "
            "methods of texts");
  std::string deep = "x -> " + std::string(10000, '(') + "1";
  EXPECT_NE(errorOf(deep.c_str()).find("nested too deeply"), std::string::npos);
}

TEST(JavaHash, IsThatOfJava) {
  EXPECT_EQ(hashOf(""), 0);
  EXPECT_EQ(hashOf("hello world"), 1794106052);
  EXPECT_EQ(hashOf("polygenelubricants"), INT32_MIN);
  EXPECT_EQ(hashOf("Grüße"), 69215351);     // of code points
  EXPECT_EQ(hashOf("\U0001F600"), 1772899); // of a pair of surrogates
  EXPECT_EQ(hashOf(int64_t{-3}), 2);
  EXPECT_EQ(hashOf(5.0), 0x40140000);
  EXPECT_EQ(bucketOf(INT32_MIN, 7), 2147483648 % 7 + 1);
  EXPECT_EQ(bucketOfToken(-948594721, 128), 96);
}

} // namespace
} // namespace tokamak::runtime
