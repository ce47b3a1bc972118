#include "oracle/FirstDivergence.h"

#include "ir/tok/TokDialect.h"
#include "reference/Interpreter.h"
#include "runtime/parallel/TileScheduler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <sstream>

using namespace tokamak;
using namespace tokamak::oracle;

namespace {

enum class TestEngine { Right, TakesDifferencesForSums, ReturnsCsr };

// Compares the reference with a test engine on a program.
class FirstDivergence : public testing::Test {
protected:
  Comparison compare(llvm::StringRef text, TestEngine engine) {
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module);
    runtime::Scheduler scheduler(1);
    std::ostringstream output;
    runtime::ExecutionContext execution;
    execution.scheduler = &scheduler;
    execution.output = &output;
    return firstDivergence(*module, execution, {}, [&](mlir::ModuleOp copy) {
      if (engine == TestEngine::TakesDifferencesForSums)
        copy.walk([](tok::BinaryOp op) {
          if (op.getKind() == BinaryOperator::Sub)
            op.setCellOperator(static_cast<uint32_t>(BinaryOperator::Add));
        });
      EngineRun run{reference::Interpreter(copy, execution).call("main", {}), {}};
      for (runtime::Value &result : run.results)
        if (engine == TestEngine::ReturnsCsr && result.isArray())
          result.array() = runtime::Array::asSparse(result.array());
      return run;
    });
  }

  mlir::MLIRContext context_;
};

constexpr const char *straight = R"(
func.func @main() {
  %n = tok.constant 2 : i64
  %c = tok.constant 3.0 : f64
  %x = tok.fill %c, %n, %n : (f64, i64, i64) -> tensor<?x?xf64>
  %y = tok.binary mul %x, %c : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %z = tok.binary sub %y, %c : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %s = tok.aggregate sum full %z : tensor<?x?xf64> -> f64
  tok.print %s : (f64) -> ()
  return
})";

constexpr const char *nested = R"(
func.func private @step(%x: f64, %i: i64) -> f64 {
  %two = tok.constant 2 : i64
  %late = tok.binary gt %i, %two : (i64, i64) -> i1
  %r = tok.if %late -> f64 {
    %d = tok.binary sub %x, %i : (f64, i64) -> f64
    tok.yield %d : f64
  } else {
    %d = tok.binary add %x, %i : (f64, i64) -> f64
    tok.yield %d : f64
  }
  return %r : f64
}
func.func @main() {
  %from = tok.constant 1 : i64
  %to = tok.constant 5 : i64
  %start = tok.constant 10.0 : f64
  %last = tok.for %i = %from to %to step %from carrying (%x = %start) : f64 {
    %next = tok.call @step(%x, %i) : (f64, i64) -> f64
    tok.yield %next : f64
  }
  tok.print %last : (f64) -> ()
  return
})";

} // namespace

TEST_F(FirstDivergence, isNoneWhereEnginesAgree) {
  Comparison comparison = compare(straight, TestEngine::Right);
  EXPECT_FALSE(comparison.divergence);
  EXPECT_EQ(comparison.values, 4);
}

TEST_F(FirstDivergence, readsSparseResults) {
  EXPECT_FALSE(compare(straight, TestEngine::ReturnsCsr).divergence);
}

TEST_F(FirstDivergence, namesTheOperationItsOperandsAndTheCell) {
  Comparison comparison = compare(straight, TestEngine::TakesDifferencesForSums);
  ASSERT_TRUE(comparison.divergence);
  EXPECT_EQ(comparison.divergence->operation, "-");
  EXPECT_EQ(comparison.divergence->operands, "2x2, 3.0");
  EXPECT_EQ(comparison.divergence->what, "cell [1, 1]: expected 6, got 12; 4 cells are wrong");
  EXPECT_FALSE(comparison.divergence->onlyTogether);
}

TEST_F(FirstDivergence, opensLoopsCallsAndBranches) {
  Comparison comparison = compare(nested, TestEngine::TakesDifferencesForSums);
  ASSERT_TRUE(comparison.divergence);
  EXPECT_EQ(comparison.divergence->operation, "-");
  // The third iteration is the first to subtract: 10 + 1 + 2, minus 3.
  EXPECT_EQ(comparison.divergence->operands, "13.0, 3");
  EXPECT_EQ(comparison.divergence->what, "expected 10, got 16");
}
