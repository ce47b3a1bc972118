#include "frontend/dml/Import.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::frontend;

namespace {

// Scripts that call models of test/scripts/onnx/models, which make_models.py describes.
struct Imported {
  explicit Imported(const std::string &text) {
    ImportOptions options;
    options.noteModelFile = [this](const std::string &path) { modelFiles.push_back(path); };
    module = importDml(sources, "test.dml", text, options, context, engine);
    EXPECT_TRUE(module && succeeded(mlir::verify(*module)));
  }

  template <typename Op> int64_t count() {
    int64_t count = 0;
    module->walk([&](Op) { ++count; });
    return count;
  }

  mlir::MLIRContext context;
  SourceManager sources;
  support::DiagnosticEngine engine;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::string> modelFiles;
};

TEST(ModelCalls, importsAModelOnce) {
  Imported program("setwd(\"test/scripts/onnx\")\n"
                   "X = onnx(\"models/scale.onnx\", matrix(1, rows=2, cols=3), 2)\n"
                   "X = onnx(\"./models/scale.onnx\", X, 3)\n"
                   "print(sum(X))\n");
  EXPECT_EQ(program.count<mlir::func::FuncOp>(), 2);
  EXPECT_EQ(program.count<tok::CallOp>(), 2);
  ASSERT_EQ(program.modelFiles.size(), 1u);
  EXPECT_EQ(program.modelFiles[0], "test/scripts/onnx/models/scale.onnx");
}

TEST(ModelCalls, convertsAtTheBorder) {
  Imported program("[Y, count, sums] = onnx(\"test/scripts/onnx/models/scale.onnx\", "
                   "matrix(1, rows=2, cols=3), 2)\n"
                   "print(sum(Y) + count + sum(sums))\n");
  auto function = *llvm::find_if(program.module->getOps<mlir::func::FuncOp>(),
                                 [](mlir::func::FuncOp each) { return each.isPrivate(); });
  std::string type;
  llvm::raw_string_ostream(type) << function.getFunctionType();
  EXPECT_EQ(type,
            "(tensor<?x?xf32>, tensor<f32>) -> (tensor<?x?xf32>, tensor<i64>, tensor<?xf32>)");
}

TEST(ModelCalls, weightsAreLiterals) {
  Imported program("[filtered, means] = onnx(\"test/scripts/onnx/models/filters.onnx\", "
                   "matrix(1, rows=1, cols=16))\n"
                   "print(sum(means))\n");
  bool hasFilters = false;
  program.module->walk(
      [&](tok::LiteralOp literal) { hasFilters |= literal.getCells().getNumElements() == 8 * 9; });
  EXPECT_TRUE(hasFilters);
}

// A function that nobody calls may call a model that nobody else calls.
TEST(ModelCalls, areErasedWithTheirCaller) {
  Imported program("f = function(matrix[double] X) return (matrix[double] Y) {\n"
                   "  Y = onnx(\"test/scripts/onnx/models/scale.onnx\", X, 2)\n"
                   "}\n"
                   "print(1)\n");
  EXPECT_EQ(program.count<mlir::func::FuncOp>(), 1);
}

} // namespace
