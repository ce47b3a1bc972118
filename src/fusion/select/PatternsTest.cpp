// Which patterns are found in blocks, and that --fusion=patterns makes one operator of each.
#include "fusion/select/Patterns.h"

#include "fusion/select/FusedBlock.h"

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

constexpr const char *sizes = "X:mxk Y:mxk Z:mxk W:pxq/0.01 U:pxn+ V:qxn+ A:pxq v:kx1 w:mx1 s";

// The names of the patterns in the block, the last one first, each with the number of operations.
std::string patternsIn(const std::string &body, const char *result) {
  TestBlock block(sizes, result, body);
  BlockGraph graph(block.function(),
                   [&](mlir::Value value) -> const tok::Facts & { return block.factsOf(value); });
  std::string text;
  for (const PatternMatch &match : matchPatterns(graph))
    text += (text.empty() ? "" : "; ") + match.name.str() + " of " +
            std::to_string(match.inside.size() + 1);
  return text;
}

std::string operatorsOf(const std::string &body, const char *result,
                        Selector selector = Selector::Patterns) {
  return FusedBlock(sizes, result, body).fuse(selector).operators();
}

constexpr const char *one = "  %one = tok.constant 1 : i64\n  %two = tok.constant 2 : i64\n";
constexpr const char *wide = R"(
  %T = tok.transpose %V : (!m) -> !m
  %P = tok.matmul %U, %T : (!m, !m) -> !m
)";

struct Sample {
  const char *pattern; // with the number of operations
  const char *operators;
  std::string body;
  const char *result = "!m";
};

const Sample samples[] = {
    {"multiple added of 2", "cell(3) -> 1", R"(
  %0 = tok.binary mul %s, %Y : (f64, !m) -> !m
  %1 = tok.binary sub %X, %0 : (!m, !m) -> !m
  return %1 : !m)"},
    {"1 - X * Y of 2", "cell(2) -> 1", std::string(one) + R"(
  %0 = tok.binary mul %X, %Y : (!m, !m) -> !m
  %1 = tok.binary sub %one, %0 : (i64, !m) -> !m
  return %1 : !m)"},
    {"derivative of the logistic function of 2", "cell(1) -> 1", std::string(one) + R"(
  %0 = tok.binary sub %one, %X : (i64, !m) -> !m
  %1 = tok.binary mul %0, %X : (!m, !m) -> !m
  return %1 : !m)"},
    {"logistic function of 4", "cell(1) -> 1", std::string(one) + R"(
  %0 = tok.unary neg %X : !m -> !m
  %1 = tok.unary exp %0 : !m -> !m
  %2 = tok.binary add %one, %1 : (i64, !m) -> !m
  %3 = tok.binary div %one, %2 : (i64, !m) -> !m
  return %3 : !m)"},
    {"sum of squares of 2", "row(1) -> 1", std::string(one) + R"(
  %0 = tok.binary pow %X, %two : (!m, i64) -> !m
  %1 = tok.aggregate sum row %0 : !m -> !m
  return %1 : !m)"},
    {"sum of products of 3", "cell(3) -> 1", R"(
  %0 = tok.binary mul %Y, %Z : (!m, !m) -> !m
  %1 = tok.binary mul %X, %0 : (!m, !m) -> !m
  %2 = tok.aggregate sum full %1 : !m -> f64
  return %2 : f64)",
     "f64"},
    {"sum of products of 2", "row(2) -> 1", R"(
  %0 = tok.binary mul %Y, %Z : (!m, !m) -> !m
  %1 = tok.aggregate sum column %0 : !m -> !m
  return %1 : !m)"},
    {"chain of products of 3", "row(3) -> 1", R"(
  %T = tok.transpose %X : (!m) -> !m
  %0 = tok.matmul %X, %v : (!m, !m) -> !m
  %1 = tok.binary mul %0, %w : (!m, !m) -> !m
  %2 = tok.matmul %T, %1 : (!m, !m) -> !m
  return %2 : !m)"},
    {"chain of products of 3", "row(3) -> 1", R"(
  %T = tok.transpose %X : (!m) -> !m
  %0 = tok.matmul %X, %v : (!m, !m) -> !m
  %1 = tok.binary sub %0, %w : (!m, !m) -> !m
  %2 = tok.matmul %T, %1 : (!m, !m) -> !m
  return %2 : !m)"},
    {"weighted squared loss of 5", "outer(4) -> 1", std::string(one) + wide + R"(
  %0 = tok.binary sub %A, %P : (!m, !m) -> !m
  %1 = tok.binary pow %0, %two : (!m, i64) -> !m
  %2 = tok.binary mul %W, %1 : (!m, !m) -> !m
  %3 = tok.aggregate sum full %2 : !m -> f64
  return %3 : f64)",
     "f64"},
    {"weighted squared loss of 6", "outer(3) -> 1", std::string(one) + wide + R"(
  %zero = tok.constant 0 : i64
  %0 = tok.binary ne %W, %zero : (!m, i64) -> !m
  %1 = tok.binary sub %P, %W : (!m, !m) -> !m
  %2 = tok.binary pow %1, %two : (!m, i64) -> !m
  %3 = tok.binary mul %0, %2 : (!m, !m) -> !m
  %4 = tok.aggregate sum full %3 : !m -> f64
  return %4 : f64)",
     "f64"},
    {"weighted cross-entropy of 5", "outer(4) -> 1", std::string(wide) + R"(
  %0 = tok.binary add %P, %s : (!m, f64) -> !m
  %1 = tok.unary log %0 : !m -> !m
  %2 = tok.binary mul %W, %1 : (!m, !m) -> !m
  %3 = tok.aggregate sum full %2 : !m -> f64
  return %3 : f64)",
     "f64"},
    {"weighted sigmoid of 3", "outer(3) -> 1", std::string(wide) + R"(
  %0 = tok.unary sigmoid %P : !m -> !m
  %1 = tok.binary mul %W, %0 : (!m, !m) -> !m
  return %1 : !m)"},
    {"weighted division of 3", "outer(3) -> 1", std::string(wide) + R"(
  %0 = tok.binary mul %W, %P : (!m, !m) -> !m
  %1 = tok.matmul %0, %V : (!m, !m) -> !m
  return %1 : !m)"},
    {"weighted division of 4", "outer(3) -> 1", std::string(one) + wide + R"(
  %L = tok.transpose %U : (!m) -> !m
  %0 = tok.binary add %P, %one : (!m, i64) -> !m
  %1 = tok.binary div %W, %0 : (!m, !m) -> !m
  %2 = tok.matmul %L, %1 : (!m, !m) -> !m
  return %2 : !m)"},
    {"weighted function of 3", "outer(3) -> 1", std::string(wide) + R"(
  %0 = tok.unary exp %P : !m -> !m
  %1 = tok.binary mul %W, %0 : (!m, !m) -> !m
  return %1 : !m)"},
    {"weighted product of 2", "outer(3) -> 1", std::string(wide) + R"(
  %1 = tok.binary mul %W, %P : (!m, !m) -> !m
  return %1 : !m)"},
};

} // namespace

TEST(Patterns, eachIsOneOperator) {
  for (const Sample &sample : samples) {
    EXPECT_EQ(patternsIn(sample.body, sample.result), sample.pattern) << sample.body;
    EXPECT_EQ(operatorsOf(sample.body, sample.result), sample.operators) << sample.body;
  }
}

// What lies outside runs alone: the exponential function is no part of X + s * Y.
TEST(Patterns, othersAreOperatorsOfTheirOwn) {
  const char *body = R"(
  %0 = tok.binary mul %Y, %s : (!m, f64) -> !m
  %1 = tok.binary add %X, %0 : (!m, !m) -> !m
  %2 = tok.unary exp %1 : !m -> !m
  %3 = tok.unary abs %2 : !m -> !m
  return %3 : !m)";
  EXPECT_EQ(operatorsOf(body, "!m"), "cell(3) -> 1; cell(1) -> 1; cell(1) -> 1");
  EXPECT_EQ(operatorsOf(body, "!m", Selector::Cost), "cell(3) -> 1");
}

// A result with another reader is stored, so it is no part of the operator.
TEST(Patterns, whatOthersReadIsStored) {
  const char *body = R"(
  %0 = tok.binary mul %Y, %s : (!m, f64) -> !m
  %1 = tok.binary add %X, %0 : (!m, !m) -> !m
  %2 = tok.unary exp %0 : !m -> !m
  return %1, %2 : !m, !m)";
  EXPECT_EQ(patternsIn(body, "!m, !m"), "");
  EXPECT_EQ(operatorsOf(body, "!m, !m"), "cell(2) -> 1; cell(2) -> 1; cell(1) -> 1");
}

// Two different matrices are no chain, and a column beside a matrix is no multiple added to it.
TEST(Patterns, namesAndShapesHaveToAgree) {
  EXPECT_EQ(patternsIn(R"(
  %T = tok.transpose %Y : (!m) -> !m
  %0 = tok.matmul %X, %v : (!m, !m) -> !m
  %1 = tok.matmul %T, %0 : (!m, !m) -> !m
  return %1 : !m)",
                       "!m"),
            "");
  EXPECT_EQ(patternsIn(R"(
  %0 = tok.binary mul %w, %s : (!m, f64) -> !m
  %1 = tok.binary sub %X, %0 : (!m, !m) -> !m
  return %1 : !m)",
                       "!m"),
            "");
}

// An operation belongs to one pattern: the last one in the block that fits.
TEST(Patterns, noOperationIsInTwo) {
  EXPECT_EQ(patternsIn(R"(
  %0 = tok.binary mul %s, %Y : (f64, !m) -> !m
  %1 = tok.binary add %X, %0 : (!m, !m) -> !m
  %2 = tok.binary mul %s, %1 : (f64, !m) -> !m
  %3 = tok.binary add %Z, %2 : (!m, !m) -> !m
  return %3 : !m)",
                       "!m"),
            "multiple added of 2; multiple added of 2");
}
