// For tests: the operators of docs/plan-ir.md, by the names of their functions.
//
//   plan::OperatorOp softmax = operatorOf("softmax");      // in a test of the fixture
#ifndef TOKAMAK_IR_PLAN_DOCUMENTEDBODIES_H
#define TOKAMAK_IR_PLAN_DOCUMENTEDBODIES_H

#include "ir/plan/PlanDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tokamak::plan {

class DocumentedBodies : public ::testing::Test {
protected:
  DocumentedBodies() {
    context.loadDialect<tok::TokDialect, PlanDialect, mlir::func::FuncDialect>();
    std::ifstream file("docs/plan-ir.md"); // from the root of the repository
    std::string text, line;
    for (bool isCode = false; std::getline(file, line);) {
      bool isFence = line.starts_with("```");
      if (isCode && !isFence)
        text += line + "\n";
      isCode = isFence ? !isCode && line == "```mlir" : isCode;
    }
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  OperatorOp operatorOf(llvm::StringRef name) {
    OperatorOp found;
    auto function = module->lookupSymbol<mlir::func::FuncOp>(name);
    EXPECT_TRUE(function) << name.str();
    function.walk([&](OperatorOp op) { found = op; });
    return found;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tokamak::plan
#endif
