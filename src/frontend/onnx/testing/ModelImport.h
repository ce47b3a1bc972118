// Imports small models in tests: a fixture.
//
//   EXPECT_TRUE(import(graph));
//   EXPECT_EQ(count("take"), 1);
//
#ifndef TOKAMAK_FRONTEND_ONNX_TESTING_MODELIMPORT_H
#define TOKAMAK_FRONTEND_ONNX_TESTING_MODELIMPORT_H

#include "frontend/onnx/ImportModel.h"
#include "frontend/onnx/testing/ModelWriter.h"
#include "frontend/onnx/testing/TestFolder.h"
#include "ir/tok/TokDialect.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

namespace tokamak::onnx::testing {

class ModelImport : public ::testing::Test {
protected:
  // Null after errors.
  mlir::ModuleOp import(const ModelParts &parts) {
    folder_.write("model.onnx", model(parts));
    file_.emplace(folder_.path("model.onnx"));
    known_.wanted.clear();
    ModelErrors errors("model.onnx");
    imported_ = importModel(*file_, known_, context_, errors);
    problems_ = errors.messages();
    if (!imported_)
      return {};
    EXPECT_TRUE(succeeded(mlir::verify(*imported_->module)));
    return *imported_->module;
  }
  mlir::ModuleOp import(const Message &graph) { return import(ModelParts{.graph = graph}); }

  // How many operations of this name there are; natives count under theirs.
  int count(llvm::StringRef name) {
    int count = 0;
    imported_->module->walk([&](mlir::Operation *op) {
      auto native = mlir::dyn_cast<tok::CallNativeOp>(op);
      count += (native ? native.getNative() : op->getName().getStringRef()) == name;
    });
    return count;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  TestFolder folder_;
  std::optional<ModelFile> file_;
  KnownInputs known_;
  std::vector<std::string> problems_;
  std::optional<ImportedModel> imported_;
};

} // namespace tokamak::onnx::testing
#endif
