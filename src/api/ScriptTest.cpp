#include "api/Script.h"

#include <gtest/gtest.h>
#include <thread>

namespace tokamak::api {
namespace {

using runtime::Array;
using runtime::Value;

constexpr const char *text = R"(
# Scales a matrix.
#   by a number
scale = function(matrix[double] X, double k = 2) return (matrix[double] Y) { Y = X * k }

both = function(matrix[double] X) return (matrix[double] Y, double s) { Y = X + 1; s = sum(X) }
printed = function(int n) { print("n is " + n) }
wrong = function(matrix[double] X) return (double s) {
  s = sum(Z)
}
fails = function(matrix[double] X) return (matrix[double] Y) { Y = X[5, ] }
named = function(matrix[double] X) return (matrix[double] Y) { Y = eval("scale", X, 3) }
)";

RunOptions withoutCache() {
  RunOptions options;
  options.cacheFolder = "off";
  options.threads = 1;
  return options;
}

Value matrix(ElementType type = ElementType::F64) {
  return Array::withElementType(Array::filled({2, 3}, 1), type);
}

Value only(std::shared_ptr<const runtime::List> results) {
  EXPECT_EQ(results->elements.size(), 1u);
  return results->elements.at(0);
}

template <typename Action> std::string textOfRejection(const Action &action) {
  try {
    action();
  } catch (const Rejected &error) {
    return error.text();
  }
  return "nothing was rejected";
}

TEST(Script, CallsFunctionsWithValues) {
  Script script("script.dml", text, withoutCache());
  Function &scale = script.function("scale");
  std::vector<Argument> positional{{"", matrix()}, {"", 0.5}};
  EXPECT_EQ(only(scale.call(positional)).array()->at(1, 2), 0.5);
  std::vector<Argument> byName{{"k", int64_t{3}}, {"X", matrix()}};
  EXPECT_EQ(only(scale.call(byName)).array()->at(1, 2), 3);
  std::vector<Argument> defaulted{{"", matrix()}};
  EXPECT_EQ(only(scale.call(defaulted)).array()->at(1, 2), 2);
}

TEST(Script, GivesResultsByName) {
  Script script("script.dml", text, withoutCache());
  std::vector<Argument> arguments{{"", matrix()}};
  auto results = script.function("both").call(arguments);
  EXPECT_EQ(results->names, (std::vector<std::string>{"Y", "s"}));
  EXPECT_EQ(results->elements[1].asDouble(), 6);
}

TEST(Script, ComputesInThePrecisionOfItsArguments) {
  Script script("script.dml", text, withoutCache());
  auto typeOf = [&](ElementType given) {
    std::vector<Argument> arguments{{"", matrix(given)}};
    return only(script.function("scale").call(arguments)).array()->elementType();
  };
  EXPECT_EQ(typeOf(ElementType::F64), ElementType::F64);
  EXPECT_EQ(typeOf(ElementType::F32), ElementType::F32);
  EXPECT_EQ(typeOf(ElementType::F16), ElementType::F32);
  EXPECT_EQ(typeOf(ElementType::I32), ElementType::F64);
}

TEST(Script, TakesNumbersForArraysOfOneCellAndColumnsForThoseOfOneDimension) {
  Script script("script.dml", text, withoutCache());
  std::vector<Argument> arguments{{"", Array::filled({4}, 1)}, {"", Array::filled({1, 1}, 5)}};
  Value result = only(script.function("scale").call(arguments));
  EXPECT_EQ(result.array()->shape().text(), "4x1");
  EXPECT_EQ(result.array()->at(3, 0), 5);
}

TEST(Script, CompilesOnceForNumbersOfBothKinds) {
  Script script("script.dml", text, withoutCache());
  for (const Value &k : {Value(2.0), Value(int64_t{2}), Value(3.5)}) {
    std::vector<Argument> arguments{{"", matrix()}, {"k", k}};
    script.function("scale").call(arguments);
  }
  EXPECT_LE(script.counts().specializations, 2) << "the second is for values that differ";
}

TEST(Script, FindsFunctionsOfTheLibrary) {
  Script script("script.dml", "", withoutCache());
  Function &normalize = script.function("normalize");
  EXPECT_EQ(&normalize, &script.function("normalize"));
  EXPECT_EQ(normalize.signature().parameters.at(0).name, "X");
  std::vector<Argument> arguments{{"", matrix()}};
  EXPECT_EQ(normalize.call(arguments)->elements.at(0).array()->rows(), 2);
  EXPECT_THROW(script.function("normalise"), Error);
}

TEST(Script, CallsFunctionsByNameAndPrints) {
  std::string printed;
  RunOptions options = withoutCache();
  options.output = [&](std::string_view part) { printed += part; };
  Script script("script.dml", text, options);
  std::vector<Argument> arguments{{"", matrix()}};
  EXPECT_EQ(only(script.function("named").call(arguments)).array()->at(0, 0), 3);
  std::vector<Argument> number{{"", int64_t{7}}};
  EXPECT_TRUE(script.function("printed").call(number)->elements.empty());
  Script("other.dml", "print(\"k is \" + $k)", options).run({{"k", "5"}});
  EXPECT_EQ(printed, "n is 7\nk is 5\n");
}

TEST(Script, ShowsSignaturesAndComments) {
  Script script("script.dml", text, withoutCache());
  const Signature &signature = script.function("scale").signature();
  EXPECT_EQ(signature.text(), "scale(X: matrix[double], k: double = 2) -> (Y: matrix[double])");
  EXPECT_EQ(signature.comment, "Scales a matrix.\n  by a number");
  EXPECT_EQ(script.functions().size(), 6u);
}

TEST(Script, RejectsMistakesWithTheirPlace) {
  Script script("script.dml", text, withoutCache());
  std::vector<Argument> arguments{{"", matrix()}};
  std::string rejection = textOfRejection([&] { script.function("wrong").call(arguments); });
  EXPECT_TRUE(rejection.starts_with("script.dml:9:11: error: unknown variable 'Z'\n"
                                    "      s = sum(Z)\n"))
      << rejection;
  EXPECT_EQ(textOfRejection([] { Script("bad.dml", "x = (1", withoutCache()); }).substr(0, 10),
            "bad.dml:1:");
}

TEST(Script, RejectsWrongArguments) {
  Script script("script.dml", text, withoutCache());
  Function &scale = script.function("scale");
  auto rejection = [&](std::vector<Argument> arguments) {
    std::string whole = textOfRejection([&] { scale.call(arguments); });
    return whole.substr(0, whole.find('\n'));
  };
  EXPECT_EQ(rejection({}), "error: scale: the argument 'X' is missing");
  EXPECT_EQ(rejection({{"", matrix()}, {"", 1.0}, {"", 1.0}}),
            "error: scale takes 2 arguments, but 3 were given");
  EXPECT_EQ(rejection({{"Y", matrix()}}), "error: scale has no parameter 'Y'");
  EXPECT_EQ(rejection({{"", matrix()}, {"X", matrix()}}),
            "error: scale: the argument 'X' is given twice");
  EXPECT_EQ(rejection({{"", Value("text")}}),
            "error: scale: 'X' is of type matrix[double], got a string");
  EXPECT_EQ(rejection({{"", matrix()}, {"", matrix()}}),
            "error: scale: 'k' is of type double, got an array of size 2x3");
  EXPECT_EQ(rejection({{"", Array::filled({2, 2, 2}, 1)}}),
            "error: a matrix has two dimensions, X has size 2x2x2");
}

TEST(Script, DescribesFailuresOfTheRun) {
  Script script("script.dml", text, withoutCache());
  std::vector<Argument> arguments{{"", matrix()}};
  try {
    script.function("fails").call(arguments);
    FAIL() << "a row out of range was read";
  } catch (const Error &error) {
    EXPECT_EQ(error.place().line, 11);
    EXPECT_NE(script.describe(error).find("Y = X[5, ]"), std::string::npos);
    EXPECT_EQ(script.describe(error).find("eval("), std::string::npos);
  }
}

TEST(Script, ExplainsCalls) {
  Script script("script.dml", text, withoutCache());
  std::vector<Argument> arguments{{"", matrix()}};
  exec::Explanations explain;
  explain.fusion = true;
  EXPECT_NE(script.function("both").explain(arguments, explain).find("fusion of block"),
            std::string::npos);
}

TEST(Script, IsCalledBySeveralThreads) {
  RunOptions options = withoutCache();
  options.threads = 2;
  Script script("script.dml", text, options);
  std::atomic<int> right = 0;
  auto callOften = [&] {
    for (int i = 1; i <= 20; ++i) {
      std::vector<Argument> arguments{{"", matrix()}, {"", double(i)}};
      right += only(script.function("scale").call(arguments)).array()->at(0, 0) == i;
    }
  };
  std::thread first(callOften), second(callOften);
  first.join();
  second.join();
  EXPECT_EQ(right, 40);
}

} // namespace
} // namespace tokamak::api
