#include "runtime/values/TextFormat.h"

#include "runtime/natives/NativeTesting.h"

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static std::string format(std::string_view format, std::vector<Value> arguments) {
  return formatText(format, arguments);
}

TEST(TextFormat, printsScalars) {
  EXPECT_EQ(printed({integer(3)}), "3\n");
  EXPECT_EQ(printed({3.0}), "3.0\n");
  EXPECT_EQ(printed({true}), "TRUE\n");
  EXPECT_EQ(printed({"100%"}), "100%\n");
}

TEST(TextFormat, printsMatrices) {
  EXPECT_EQ(printed({matrix(2, 2, {1, 2.0005, -0.0, -0.0001})}), "1.000 2.001\n0.000 -0.000\n\n");
  EXPECT_EQ(printed({matrix(1, 3, {notANumber, infinity, -infinity})}),
            "NaN Infinity -Infinity\n\n");
  EXPECT_EQ(printed({matrix(0, 2, {})}), "\n");
}

TEST(TextFormat, roundsHalvesToEven) {
  EXPECT_EQ(textOf(matrix(1, 2, {0.125, 0.375}), TextOptions{.decimals = 2}), "0.12 0.38\n");
}

TEST(TextFormat, obeysTheParametersOfToString) {
  Value x = matrix(2, 2, {1, 0, 0, 4});
  EXPECT_EQ(
      call("to_string", {x, integer(1), integer(1), integer(1), Value(), Value(), Value()}).text(),
      "1.0\n");
  EXPECT_EQ(call("to_string", {x, Value(), Value(), integer(0), Value(), ",", ";"}).text(),
            "1,0;0,4;");
  EXPECT_EQ(call("to_string", {x, Value(), Value(), integer(0), true, Value(), Value()}).text(),
            "1 1 1\n2 2 4\n");
  EXPECT_EQ(call("to_string", {2.5, Value(), Value(), Value(), Value(), Value(), Value()}).text(),
            "2.5");
}

TEST(TextFormat, printsLists) {
  Value list = call("list", {Value(), integer(1), 2.5, "a", true, matrix(1, 1, {7})});
  EXPECT_EQ(printed({list}), "List containing:\n[1, 2.5, a, TRUE, \nMatrix:\n7.000\n]\n");
}

TEST(TextFormat, formatsAsJavaDoes) {
  EXPECT_EQ(format("%d|%5d|%-5d|%05d|%+d|%,d",
                   {integer(1), integer(2), integer(3), integer(4), integer(5), integer(1234567)}),
            "1|    2|3    |00004|+5|1,234,567");
  EXPECT_EQ(format("%f %.2f %8.1f %e %.1e", {1.5, 0.125, 2.25, 12345.678, 0.00095}),
            "1.500000 0.13      2.3 1.234568e+04 9.5e-04");
  EXPECT_EQ(format("%g %g %g", {0.0001, 123456.0, 1e10}), "0.000100000 123456 1.00000e+10");
  EXPECT_EQ(format("%s %s %s %6s %-6s|%b", {integer(1), 2.5, true, "ab", "cd", false}),
            "1 2.5 true     ab cd    |false");
  EXPECT_EQ(format("%x 100%%%n", {integer(255)}), "ff 100%\n");
  EXPECT_EQ(format("%X %o %E %G %B", {integer(255), integer(8), 12345.678, 1e10, true}),
            "FF 10 1.234568E+04 1.00000E+10 TRUE");
  EXPECT_EQ(format("%.2f %.0f %.3f", {-1.005, 2.5, 1e20}), "-1.01 3 100000000000000000000.000");
  EXPECT_EQ(format("%f %5.1f", {notANumber, -infinity}), "NaN -Infinity");
}

TEST(TextFormat, refusesWrongFormats) {
  EXPECT_EQ(errorOf([] { format("%d", {1.5}); }), "print: %d cannot show a double");
  EXPECT_EQ(errorOf([] { format("%f", {integer(1)}); }), "print: %f cannot show an integer");
  EXPECT_EQ(errorOf([] { format("%s %s", {"a"}); }),
            "print: no argument for '%s': the format needs more than 1");
  EXPECT_EQ(errorOf([] { format("%q", {"a"}); }), "print: unknown conversion '%q'");
}

TEST(ProgramNatives, stopAndAssertFail) {
  std::vector<Value> message = {"enough"};
  ExecutionContext context;
  try {
    findNative("stop")->function(context, message, {});
    FAIL();
  } catch (const tokamak::Error &error) {
    EXPECT_EQ(error.kind(), tokamak::ErrorKind::Stop);
    EXPECT_EQ(error.message(), "enough");
  }
  EXPECT_EQ(errorOf("assert", {false}), "assertion failed");
  EXPECT_EQ(errorOf("assert", {true}), "no error");
}
