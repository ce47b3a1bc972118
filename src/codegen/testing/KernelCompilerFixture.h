// Shared by the tests of generated kernels: operators parsed from text, random matrices, and the
// comparison of a kernel's results with those of the interpreter (plain loops).
//
//   TEST_F(KernelCompilerFixture, Rows) {
//     check("block sizes [s0, s1] (%x: $M) -> $M { ... }", {random(9, 3)}, {}, 1e-12);
//   }
#ifndef TOKAMAK_CODEGEN_TESTING_KERNELCOMPILERFIXTURE_H
#define TOKAMAK_CODEGEN_TESTING_KERNELCOMPILERFIXTURE_H

#include "codegen/KernelCompiler.h"
#include "codegen/testing/BlockOperator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <deque>
#include <random>

namespace tokamak::codegen {

using namespace mlir;

class KernelCompilerFixture : public ::testing::Test {
protected:
  KernelCompilerFixture() {
    context.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
  }

  // The block and its operator; $M is the type of an f64 matrix, $F that of an f32 matrix.
  const BlockOperator &parseBlock(const std::string &text) {
    blocks.push_back(parseBlockOperator(context, text));
    return blocks.back();
  }
  plan::OperatorOp parse(const std::string &text) { return parseBlock(text).op; }
  // An operator in the text of the plan dialect, on %a %b %c (f64 matrices) and %s (f64).
  plan::OperatorOp parsePlan(std::string text) {
    text = "func.func @f(%a: $M, %b: $M, %c: $M, %s: f64) {\n" + text + "\nreturn\n}";
    for (size_t at; (at = text.find("$M")) != std::string::npos;)
      text.replace(at, 2, "tensor<?x?xf64>");
    blocks.push_back({parseSourceString<ModuleOp>(text, &context), {}, {}});
    EXPECT_TRUE(blocks.back().module) << text;
    if (blocks.back().module)
      blocks.back().module->walk([&](plan::OperatorOp op) { blocks.back().op = op; });
    return blocks.back().op;
  }

  Matrix random(int64_t rows, int64_t columns, double low = -2, double high = 2) {
    Matrix matrix{rows, columns, {}};
    std::uniform_real_distribution<double> distribution(low, high);
    for (int64_t i = 0; i < rows * columns; ++i)
      matrix.cells.push_back(distribution(generator));
    return matrix;
  }

  // Runs the operator in one tile and in several and compares with the interpreter: |difference| <=
  // tolerance * (1 + |expected|). A tolerance of 0 requires equal bits (any NaN equals any NaN).
  void check(const std::string &text, std::vector<Matrix> inputs, std::vector<double> scalars,
             double tolerance) {
    const BlockOperator &block = parseBlock(text);
    ASSERT_TRUE(block.op) << text;
    auto plan = compiler.compile(block.op);
    ASSERT_TRUE(succeeded(plan)) << text;
    std::vector<Matrix> expected = interpret(block.block, inputs, scalars);
    for (auto [body, matrix] : llvm::zip(interpretBody(block.op, inputs, scalars), expected))
      compare(body, matrix, tolerance, "the body of " + text, 0);
    std::vector<Matrix> inOneTile;
    for (int64_t tile : {int64_t(1) << 20, int64_t(8), int64_t(24)}) {
      Launch launch{inputs, scalars, tile};
      std::vector<Matrix> results = launch.run(*plan);
      EXPECT_TRUE(launch.guardsIntact) << text;
      ASSERT_EQ(results.size(), expected.size());
      if (inOneTile.empty())
        inOneTile = results;
      for (size_t i = 0; i < results.size(); ++i) {
        compare(results[i], expected[i], tolerance, text, tile);
        // Results that are not aggregated over tiles don't depend on the tiling at all.
        if (plan->outputs[i].kind == abi::KernelOutput::Kind::Array)
          compare(results[i], inOneTile[i], 0, text, tile);
      }
    }
  }

  // The error message with which the compiler rejects the operator.
  std::string refusal(const std::string &text) {
    bool isBlock = text.find("plan.operator") == std::string::npos;
    plan::OperatorOp op = isBlock ? parse(text) : parsePlan(text);
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(op && failed(compiler.compile(op))) << text;
    return message;
  }

  static void compare(const Matrix &result, const Matrix &expected, double tolerance,
                      const std::string &text, int64_t tile) {
    ASSERT_EQ(result.rows, expected.rows) << text;
    ASSERT_EQ(result.columns, expected.columns) << text;
    for (size_t i = 0; i < expected.cells.size(); ++i) {
      double is = result.cells[i], should = expected.cells[i];
      bool equal = std::bit_cast<uint64_t>(is) == std::bit_cast<uint64_t>(should) ||
                   (std::isnan(is) && std::isnan(should)) ||
                   (tolerance > 0 && (is == should || std::fabs(is - should) <=
                                                          tolerance * (1 + std::fabs(should))));
      ASSERT_TRUE(equal) << text << "\ncell " << i << " of " << expected.rows << "x"
                         << expected.columns << ", tiles of " << tile << ": " << is
                         << " instead of " << should;
    }
  }

  MLIRContext context;
  std::deque<BlockOperator> blocks;
  CorpusCompiler compiler;
  std::mt19937_64 generator{42};
};

} // namespace tokamak::codegen
#endif
