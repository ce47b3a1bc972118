// Shared by the tests of generated kernels: operators parsed from text, random matrices, and the
// comparison of a kernel's results with those of the interpreter (plain loops).
//
//   check("%r = plan.operator cell(%a) ... }", {random(9, 3)}, {}, 1e-12);
#ifndef TOKAMAK_CODEGEN_KERNELCOMPILERFIXTURE_H
#define TOKAMAK_CODEGEN_KERNELCOMPILERFIXTURE_H

#include "codegen/KernelCompiler.h"
#include "codegen/KernelLauncher.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace tokamak::codegen {

using namespace mlir;

// Expands abbreviations: $M is the type of an f64 matrix, $F that of an f32 matrix.
inline std::string expand(std::string text) {
  for (auto [name, type] : {std::pair("$M", "tensor<?x?xf64>"), {"$F", "tensor<?x?xf32>"}})
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, 2, type);
  return text;
}

class KernelCompilerFixture : public ::testing::Test {
protected:
  KernelCompilerFixture() {
    context.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
  }

  // Parses the operator in `text`. Its operands are %a %b %c %d (f64 matrices), %fa %fb %fc %fd
  // (f32 matrices) and %s %t (f64 scalars).
  plan::OperatorOp parse(const std::string &text) {
    std::string source = expand(
        "func.func @f(%a: $M, %b: $M, %c: $M, %d: $M, %fa: $F, %fb: $F, %fc: $F, %fd: $F, %s: "
        "f64, %t: f64) {\n" +
        text + "\nreturn\n}\n");
    modules.push_back(parseSourceString<ModuleOp>(source, &context));
    if (!modules.back())
      return nullptr;
    plan::OperatorOp found;
    modules.back()->walk([&](plan::OperatorOp op) { found = op; });
    return found;
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
    plan::OperatorOp op = parse(text);
    ASSERT_TRUE(op) << text;
    auto plan = compiler.compile(op);
    ASSERT_TRUE(succeeded(plan)) << text;
    std::vector<Matrix> expected = interpret(op, inputs, scalars);
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
    plan::OperatorOp op = parse(text);
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
  std::vector<OwningOpRef<ModuleOp>> modules;
  KernelCompiler compiler{{}};
  std::mt19937_64 generator{42};
};

} // namespace tokamak::codegen
#endif
