// Whole programs on sparse matrices: the layout and the cells of elementwise results.
#include "base/CellOperators.h"
#include "cost/ModelFile.h"
#include "exec/Program.h"
#include "ir/tok/Precision.h"
#include "ir/tok/TokDialect.h"
#include "runtime/parallel/TileScheduler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <sstream>

using namespace tokamak;
using runtime::Array;
using runtime::ArrayReference;
using runtime::Value;

namespace {

// Writes a machine model in which work at the entries of sparse matrices is cheap: the layouts must
// not depend on the machine that runs the tests.
std::string machineForSparseMatrices() {
  cost::MachineModel machine;
  machine.gatherNanoseconds = 0.1;
  std::string path =
      testing::TempDir() + "sparse-results-machine-model-" + std::to_string(getpid()) + ".json";
  cost::writeModelFile({machine}, path);
  return path;
}

// The matrices that `main` of a tok program returns.
std::vector<ArrayReference> run(const std::string &text, size_t count, fusion::Selector selector,
                                bool singlePrecision, int threads) {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  EXPECT_TRUE(module) << text;
  if (singlePrecision)
    tok::useSinglePrecision(*module);
  exec::ProgramOptions options;
  options.selector = selector;
  options.machineModel = machineForSparseMatrices();
  auto program = exec::Program::compile(*module, options);
  EXPECT_TRUE(program);
  std::ostringstream output;
  runtime::Scheduler scheduler(threads);
  runtime::ExecutionContext execution;
  execution.output = &output;
  execution.scheduler = &scheduler;
  std::vector<Value> results(count);
  program->run(execution, results);
  std::vector<ArrayReference> arrays;
  for (const Value &result : results)
    arrays.push_back(result.array());
  return arrays;
}

// Defines %S and %T: whole numbers, with entries that are zero, NaN or infinite, and with rows that
// have no entries.
std::string twoMatrices(int rows, int columns, double density) {
  std::string text = R"(
    %rows = tok.constant )" +
                     std::to_string(rows) +
                     R"( : i64
    %columns = tok.constant )" +
                     std::to_string(columns) + R"( : i64
    %density = tok.constant )" +
                     std::to_string(density) + R"( : f64
    %low = tok.constant -3.0 : f64
    %high = tok.constant 3.0 : f64
    %one = tok.constant 1.0 : f64
    %uniform = tok.constant "uniform" : !tok.string
)";
  for (const char *name : {"S", "T"}) {
    std::string n = name;
    text += "%seed" + n + " = tok.constant " + (n == "S" ? "1" : "2") + " : i64\n%r" + n +
            " = tok.rand %rows, %columns, %low, %high, %density, %seed" + n +
            ", %uniform, %one : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> !m\n";
    text += "%w" + n + " = tok.unary round %r" + n + " : !m -> !m\n";
    // w / (w - 1): 1 becomes infinite. T also gets NaN, the difference of two infinities.
    text += "%d" + n + " = tok.binary sub %w" + n + ", %one : (!m, f64) -> !m\n";
    text += "%q" + n + " = tok.binary div %w" + n + ", %d" + n + " : (!m, !m) -> !m\n";
    text += "%o" + n + " = tok.binary sub %q" + n + ", %q" + n + " : (!m, !m) -> !m\n";
    text += "%" + n + " = tok.binary add %" + (n == "S" ? "q" : "o") + n + ", %" +
            (n == "S" ? "w" : "q") + n + " : (!m, !m) -> !m\n";
  }
  return text;
}

bool sameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

TEST(SparseResults, ofTwoSparseMatricesAreSparse) {
  constexpr std::pair<const char *, BinaryOperator> operators[] = {
      {"add", BinaryOperator::Add}, {"sub", BinaryOperator::Sub}, {"min", BinaryOperator::Min},
      {"max", BinaryOperator::Max}, {"ne", BinaryOperator::Ne},   {"or", BinaryOperator::Or},
      {"lt", BinaryOperator::Lt}};
  int64_t notFinite = 0;
  for (auto [rows, columns, density] :
       {std::tuple(40, 30, 0.02), std::tuple(7, 400, 0.12), std::tuple(3000, 6, 0.05)}) {
    std::string body, values = "%S, %T", types = "!m, !m";
    for (auto [name, op] : operators) {
      body += std::string("%") + name + " = tok.binary " + name + " %S, %T : (!m, !m) -> !m\n";
      values += std::string(", %") + name;
      types += ", !m";
    }
    std::string text = "!m = tensor<?x?xf64>\nfunc.func @main() -> (" + types + ") {" +
                       twoMatrices(rows, columns, density) + body + "return " + values + " : " +
                       types + "\n}\n";
    for (fusion::Selector selector : fusion::allSelectors)
      for (bool single : {false, true}) {
        std::vector<ArrayReference> results =
            run(text, 2 + std::size(operators), selector, single, 2);
        const Array &s = *results[0], &t = *results[1];
        for (auto [number, op] : llvm::enumerate(operators)) {
          const Array &result = *results[2 + number];
          EXPECT_TRUE(result.isSparse()) << op.first << " of " << rows << "x" << columns;
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j) {
              double a = s.at(i, j), b = t.at(i, j), expected = evaluate(op.second, a, b);
              if (single)
                expected = static_cast<float>(expected);
              notFinite += std::isfinite(expected) ? 0 : 1;
              ASSERT_TRUE(sameNumber(result.at(i, j), expected))
                  << op.first << "(" << a << ", " << b << ") is not " << result.at(i, j);
            }
        }
      }
  }
  EXPECT_GT(notFinite, 100);
}

TEST(SparseResults, haveTheSameBitsOnAnyNumberOfThreads) {
  std::string text =
      "!m = tensor<?x?xf64>\nfunc.func @main() -> (!m, !m) {" + twoMatrices(3000, 500, 0.05) + R"(
    %0 = tok.binary max %S, %T : (!m, !m) -> !m
    %1 = tok.aggregate sum row %rS : !m -> !m
    return %0, %1 : !m, !m
  })";
  std::vector<ArrayReference> once = run(text, 2, fusion::Selector::Cost, false, 1),
                              parallel = run(text, 2, fusion::Selector::Cost, false, 3);
  ASSERT_TRUE(once[0]->isSparse() && parallel[0]->isSparse());
  ASSERT_EQ(once[0]->entries(), parallel[0]->entries());
  int64_t bytes = once[0]->entries() * static_cast<int64_t>(sizeof(double));
  EXPECT_EQ(std::memcmp(once[0]->rawBytes(), parallel[0]->rawBytes(), bytes), 0);
}
