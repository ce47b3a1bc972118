#include "oracle/BoundedInterpreter.h"

#include "ir/tok/TokDialect.h"
#include "oracle/Agreement.h"
#include "runtime/parallel/TileScheduler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace tokamak;
using namespace tokamak::oracle;
using runtime::Array;
using runtime::Value;

namespace {

Value row(std::vector<double> cells) {
  runtime::ArrayPointer array = Array::create({1, static_cast<int64_t>(cells.size())});
  std::copy(cells.begin(), cells.end(), array->mutableData());
  return array;
}

// The result of `body`, which uses %x and defines %r of this type, for a row x.
class Bounds : public testing::Test {
protected:
  Bounded of(const std::string &body, const Value &x, const std::string &type,
             BoundedOptions options = {}) {
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        fmt::format("func.func @f(%x: tensor<?x?xf64>) -> {} {{ {} return %r : {} }}", type, body,
                    type),
        &context_);
    EXPECT_TRUE(module);
    runtime::Scheduler scheduler(1);
    runtime::ExecutionContext execution;
    execution.scheduler = &scheduler;
    BoundedInterpreter interpreter(*module, execution, options);
    return interpreter.call("f", {{x, {}, {}, {}}}).front();
  }
  Bounded sum(std::vector<double> cells, BoundedOptions options = {}) {
    return of("%r = tok.aggregate sum full %x : tensor<?x?xf64> -> f64", row(std::move(cells)),
              "f64", options);
  }

  mlir::MLIRContext context_;
};

constexpr const char *matrix = "tensor<?x?xf64>";

} // namespace

TEST_F(Bounds, ofCellsAreNothing) {
  EXPECT_TRUE(of("%r = tok.binary mul %x, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> "
                 "tensor<?x?xf64>",
                 row({0.1, 0.3}), matrix)
                  .engine.isExact());
}

TEST_F(Bounds, ofFunctionsAreBetweenEnginesOnly) {
  Bounded result =
      of("%r = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>", row({0.1}), matrix);
  EXPECT_GT(result.engine[0], 0);
  EXPECT_LT(result.engine[0], 1e-14);
  EXPECT_TRUE(result.plan.isExact());
}

// Its vector code may be off to either side of two operands that are close to each other.
TEST_F(Bounds, ofFunctionsOfSumsAreThoseOfTheirCodeBetweenPlansToo) {
  Bounded result = of("%s = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64> "
                      "%r = tok.unary tanh %s : tensor<?x?xf64> -> tensor<?x?xf64>",
                      row({0.1, 0.2, 0.3}), matrix);
  EXPECT_GT(result.plan[0], 6 * 0x1p-52 * std::tanh(0.6));
  EXPECT_LT(result.plan[0], 1e-14);
}

TEST_F(Bounds, knowWhereSinglePrecisionEnds) {
  BoundedOptions single{.singlePrecision = true};
  EXPECT_NE(sum({3e38, -3e38, 1}).engine[0], CellErrors::anything);
  EXPECT_EQ(sum({3e38, -3e38, 1}, single).engine[0], CellErrors::anything);
  // Below the smallest single-precision number no sum is exact.
  EXPECT_TRUE(sum({0x1p-160, 0x1p-160}).engine.isExact());
  EXPECT_GE(sum({0x1p-160, 0x1p-160}, single).engine[0], 0x1p-149);
}

TEST_F(Bounds, ofMeansLeaveTheSignOfAZeroOpenAsSumsDo) {
  EXPECT_EQ(
      of("%r = tok.aggregate mean full %x : tensor<?x?xf64> -> f64", row({-0.0}), "f64").engine[0],
      CellErrors::zeroSign);
}

TEST_F(Bounds, areNotRoundedDownWhereCellsAreMoved) {
  // 1e-3 and 1e-60 are not representable in single precision.
  auto bound = [&](double error) {
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: tensor<?x?xf32>) -> tensor<?x?xf32> { %r = tok.cbind %x, %x : "
        "(tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32> return %r : tensor<?x?xf32> }",
        &context_);
    runtime::ExecutionContext execution;
    BoundedInterpreter interpreter(*module, execution, {.singlePrecision = true});
    CellErrors errors({0, error});
    return interpreter.call("f", {{row({1, 2}), errors, errors, {}}}).front().engine[1];
  };
  EXPECT_GE(bound(1e-3), 1e-3);
  EXPECT_GE(bound(1e-60), 1e-60);
  EXPECT_EQ(bound(CellErrors::zeroSign), CellErrors::zeroSign);
  EXPECT_EQ(bound(CellErrors::anything), CellErrors::anything);
}

TEST_F(Bounds, loopsThatFailAreLeftOutWhereNobodyNeedsThem) {
  constexpr const char *text = R"(
    %zero = tok.constant 0 : i64
    %one = tok.constant 1 : i64
    %last = tok.while carrying (%j = %zero) : i64 {
      %q = tok.binary intdiv %j, %zero : (i64, i64) -> i64
      %c = tok.binary lt %q, %one : (i64, i64) -> i1
      tok.condition %c, %j : i64
    } do {
      tok.yield %j : i64
    }
    %unused = tok.binary add %last, %one : (i64, i64) -> i64
    %r = tok.unary abs %x : tensor<?x?xf64> -> tensor<?x?xf64>)";
  EXPECT_THROW(of(text, row({1}), matrix), Error);
  EXPECT_EQ(of(text, row({1}), matrix, {.failsWhereNeeded = true}).value.array()->data()[0], 1);
}

TEST_F(Bounds, goWithTheirCellsWhereDimensionsAreRepeated) {
  constexpr const char *cells = R"(
    %n1 = tok.constant 1 : i64
    %n2 = tok.constant 2 : i64
    %a = tok.view %x [%n2, %n1, %n1] : tensor<?x?xf64> -> tensor<?x?x?xf64>
    %e = tok.unary exp %a : tensor<?x?x?xf64> -> tensor<?x?x?xf64>)";
  constexpr const char *array = "tensor<?x?x?xf64>";
  auto isSmall = [](double error) { return error > 0 && error < 1e-10; };
  for (const char *body :
       {"%b = tok.literal dense<[[[1.0], [3.0]]]> : tensor<1x2x1xf64> "
        "%r = tok.binary mul %b, %e : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>",
        "%b = tok.literal dense<[[[1.0, 3.0]]]> : tensor<1x1x2xf64> "
        "%r = tok.matmul %e, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>",
        "%r = tok.expand %e [%n2, %n1, %n2] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>"}) {
    CellErrors errors = of(std::string(cells) + body, row({1, 700}), array).engine;
    EXPECT_TRUE(isSmall(errors[0]) && isSmall(errors[1])) << body;
    EXPECT_TRUE(errors[2] > 1e280 && errors[3] > 1e280) << body;
  }
}

TEST_F(Bounds, ofWindowsAreThoseOfWhatComesTogether) {
  constexpr const char *array = "tensor<?x?x?xf64>";
  // Windows of two neighbours among three cells, of which only the last one is not exact.
  const std::string cells = R"(
    %n1 = tok.constant 1 : i64
    %n2 = tok.constant 2 : i64
    %n3 = tok.constant 3 : i64
    %zeros = tok.literal dense<[[0.0, 0.0, 1.0]]> : tensor<1x3xf64>
    %e = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
    %p = tok.binary mul %e, %zeros : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    %s = tok.binary add %x, %p : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    %a = tok.view %s [%n1, %n1, %n3] : tensor<?x?xf64> -> tensor<?x?x?xf64>)";
  auto errorsOf = [&](const std::string &native, const std::string &types) {
    return of(cells + native + " %n2, %n2, %n1, %n1, %n1, %n1) : (tensor<?x?x?xf64>, " + types +
                  ", i64, i64, i64, i64, i64, i64) -> tensor<?x?x?xf64>",
              row({0.1, 0.2, 10}), array)
        .engine;
  };
  for (const char *kind : {"max", "sum"}) {
    CellErrors errors = errorsOf("%k = tok.constant \"" + std::string(kind) +
                                     "\" : !tok.string %r = tok.native \"pool\"(%a, %k,",
                                 "!tok.string");
    EXPECT_LT(errors[0], 1e-15) << kind;
    EXPECT_GT(errors[1], 1e-13) << kind;
  }
  CellErrors errors = errorsOf("%w = tok.literal dense<[[[2.0, 1000.0]]]> : tensor<1x1x2xf64> "
                               "%r = tok.native \"convolve\"(%a, %w, %n1,",
                               "tensor<?x?x?xf64>, i64");
  EXPECT_GT(errors[0], 0);
  EXPECT_LT(errors[0], 1e-12);
  EXPECT_GT(errors[1], 1e-10);
}

TEST_F(Bounds, areThoseOfSinglePrecisionWhereArraysAre) {
  auto sum = [&](const std::string &type) {
    return of("%y = tok.cast %x : tensor<?x?xf64> -> " + type +
                  " %s = tok.aggregate sum row %y : " + type + " -> " + type +
                  " %r = tok.cast %s : " + type + " -> tensor<?x?xf64>",
              row({0.1, 0.2, 0.3}), matrix)
        .engine[0];
  };
  EXPECT_LT(sum("tensor<?x?xf64>"), 1e-15);
  EXPECT_GT(sum("tensor<?x?xf32>"), 1e-8);
  // Conversion to single precision adds a rounding error.
  EXPECT_GT(of("%s = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64> "
               "%r = tok.cast %s : tensor<?x?xf64> -> tensor<?x?xf32>",
               row({0.1, 0.2, 0.3}), "tensor<?x?xf32>")
                .engine[0],
            1e-8);
}

TEST_F(Bounds, ofSumsGrowWithTheSum) {
  EXPECT_GT(sum({0.1, 0.2, 0.3}).engine[0], 0);
  EXPECT_LT(sum({0.1, 0.2, 0.3}).engine[0], 1e-15);
  EXPECT_GT(sum({1e10, 0.1, -1e10}).engine[0], 1e-7);
}

TEST_F(Bounds, ofSumsOfWholeNumbersAreNothing) {
  EXPECT_TRUE(sum({1, 2, -3.5, 1e6}).engine.isExact());
  EXPECT_EQ(sum({1, -1}).engine[0], CellErrors::zeroSign);
}

TEST_F(Bounds, areAnythingWhereAPartialSumMayOverflow) {
  EXPECT_EQ(sum({1e308, 1e308, -1e308}).engine[0], CellErrors::anything);
}

TEST_F(Bounds, ofScansAreThoseOfTheirBeginnings) {
  auto scan = [&](const char *name, std::vector<double> cells) {
    return of(fmt::format("%t = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>\n"
                          "%r = tok.native \"{}\"(%t) : (tensor<?x?xf64>) -> tensor<?x?xf64>",
                          name),
              row(std::move(cells)), matrix)
        .engine;
  };
  std::vector<double> cells = {0.1, 7, 1e-200, 3, 1e-200, 0, 0.5};
  CellErrors products = scan("cumprod", cells), maxima = scan("cummax", cells);
  for (size_t count = 1; count <= cells.size(); ++count) {
    std::vector<double> beginning(cells.begin(), cells.begin() + static_cast<int64_t>(count));
    EXPECT_EQ(products[static_cast<int64_t>(count) - 1],
              of("%r = tok.aggregate prod full %x : tensor<?x?xf64> -> f64", row(beginning), "f64")
                  .engine[0])
        << count;
  }
  EXPECT_TRUE(maxima.isExact());
  EXPECT_EQ(scan("cummin", {0.0, -0.0, 1})[1], CellErrors::zeroSign);
  // The bound of a long column is computed in one pass.
  EXPECT_EQ(scan("cumprod", std::vector<double>(300'000, 0.5))[299'999], CellErrors::anything);
}

TEST_F(Bounds, areCarriedOn) {
  Bounded result = of("%s = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>\n"
                      "%c = tok.constant 1000.0 : f64\n"
                      "%r = tok.binary mul %s, %c : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>",
                      row({0.1, 0.2}), matrix);
  EXPECT_GT(result.engine[0], 1e-14);
  EXPECT_LT(result.engine[0], 1e-12);
}

TEST_F(Bounds, ofComparisonsAreNothingFarFromEquality) {
  const char *body = "%s = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>\n"
                     "%c = tok.constant 0.3 : f64\n"
                     "%r = tok.binary lt %s, %c : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>";
  EXPECT_TRUE(of(body, row({0.1, 0.1}), matrix).engine.isExact());
  EXPECT_GE(of(body, row({0.1, 0.2}), matrix).engine[0], 1);
}

TEST_F(Bounds, leaveProductsOfZerosOpenWhereMatricesMayBeSparse) {
  const char *body = "%r = tok.binary mul %x, %c : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>";
  std::string text = "%c = tok.constant 0x7FF0000000000000 : f64\n" + std::string(body);
  EXPECT_TRUE(of(text, row({0, 1}), matrix).engine.isExact());
  Bounded sparse = of(text, row({0, 1}), matrix, {.sparse = true});
  EXPECT_EQ(sparse.engine[0], CellErrors::anything);
  EXPECT_EQ(sparse.engine[1], 0);
}

TEST_F(Bounds, leaveNoDivisionOpen) {
  constexpr const char *body = "%c = tok.constant 0.0 : f64\n"
                               "%r = tok.binary div %x, %c : (tensor<?x?xf64>, f64) -> "
                               "tensor<?x?xf64>";
  EXPECT_TRUE(of(body, row({0, 1}), matrix, {.sparse = true}).engine.isExact());
}

TEST_F(Bounds, thatMatterForAConditionAreUndecided) {
  const char *body = "%s = tok.aggregate sum full %x : tensor<?x?xf64> -> f64\n"
                     "%c = tok.constant 0.3 : f64\n"
                     "%b = tok.binary lt %s, %c : (f64, f64) -> i1\n"
                     "%r = tok.if %b -> f64 { tok.yield %s : f64 } else { tok.yield %c : f64 }";
  EXPECT_THROW(of(body, row({0.1, 0.2}), "f64"), Undecided);
  EXPECT_NO_THROW(of(body, row({0.1, 0.1}), "f64"));
  Bounded taken = of(body, row({0.1, 0.2}), "f64", {.takesReferenceDecisions = true});
  EXPECT_NEAR(taken.value.asDouble(), 0.3, 1e-15);
}

TEST_F(Bounds, ofChainsHoldInEveryOrder) {
  // (x %*% t(x)) %*% x: x %*% t(x) is exact, but t(x) %*% x, computed in the other order, is
  // rounded.
  const char *body = "%t = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>\n"
                     "%p = tok.matmul %x, %t : (tensor<?x?xf64>, tensor<?x?xf64>) -> "
                     "tensor<?x?xf64>\n"
                     "%r = tok.matmul %p, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> "
                     "tensor<?x?xf64>";
  EXPECT_GT(of(body, row({0.1}), matrix).engine[0], 0);
  EXPECT_TRUE(of(body, row({3, 1, -2}), matrix).engine.isExact());
  EXPECT_EQ(of(body, row({1e120, 1}), matrix).engine[0], CellErrors::anything);
  EXPECT_EQ(of(body, row({1e-120, 1}), matrix).engine[0], CellErrors::anything);
}

TEST_F(Bounds, coverEveryCellOfAMatrixFromAPartOfAFrame) {
  Bounded part = of("%e = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>\n"
                    "%f = tok.cast %e : tensor<?x?xf64> -> !tok.frame\n"
                    "%o = tok.constant 1 : i64\n%t = tok.constant 2 : i64\n"
                    "%p = tok.slice %f, %o, %o, %o, %t : (!tok.frame, i64, i64, i64, i64) -> "
                    "!tok.frame\n"
                    "%r = tok.cast %p : !tok.frame -> tensor<?x?xf64>",
                    row({0.1, 0.2, 0.3}), matrix);
  EXPECT_TRUE(part.engine.covers(2));
  EXPECT_EQ(part.engine[1], CellErrors::anything);
}

TEST_F(Bounds, letTheSignOfAZeroGoWhereMatricesMayBeSparse) {
  const char *body = "%t = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>\n"
                     "%r = tok.unary sinh %t : tensor<?x?xf64> -> tensor<?x?xf64>";
  EXPECT_EQ(of(body, row({-0.0}), matrix).engine[0], 0);
  EXPECT_EQ(of(body, row({-0.0}), matrix, {.sparse = true}).engine[0], CellErrors::zeroSign);
}

TEST_F(Bounds, ofWhatNobodyNeedsAreNotAskedFor) {
  std::string text = "%c = tok.constant 3 : i64\n%o = tok.constant 1 : i64\n"
                     "%y = tok.rbind %x, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> "
                     "tensor<?x?xf64>\n"
                     "%bad = tok.matmul %y, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> "
                     "tensor<?x?xf64>\n";
  std::string unused = text + "%r = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>";
  std::string used = text + "%r = tok.transpose %bad : (tensor<?x?xf64>) -> tensor<?x?xf64>";
  EXPECT_THROW(of(unused, row({1}), matrix), Error);
  EXPECT_NO_THROW(of(unused, row({1}), matrix, {.failsWhereNeeded = true}));
  EXPECT_THROW(of(used, row({1}), matrix, {.failsWhereNeeded = true}), Error);
}

TEST(Agreement, isAboutBitsWhereNothingIsAllowed) {
  EXPECT_FALSE(disagreement(row({0.5, NAN}), {}, row({0.5, -NAN})));
  EXPECT_TRUE(disagreement(row({0.0}), {}, row({-0.0})));
  EXPECT_FALSE(disagreement(row({0.0}), CellErrors({CellErrors::zeroSign}), row({-0.0})));
  auto difference = disagreement(row({1, 2}), CellErrors({0, 0.5}), row({1, 2.75}));
  ASSERT_TRUE(difference);
  EXPECT_EQ(describe(*difference), "cell [1, 2]: expected 2, got 2.75 (may be 0.5 off)");
}

TEST(Agreement, isAboutSizesAndTypes) {
  EXPECT_TRUE(disagreement(row({1, 2}), {}, row({1})));
  EXPECT_TRUE(disagreement(int64_t{1}, {}, 1.0));
}
