// tokamak-opt: runs passes on programs in the textual form of the tok and plan dialects.
//
//   tokamak-opt --tok-outline-blocks program.mlir
#include "pipeline/Passes.h"

#include "ir/plan/PlanDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tokamak::tok::TokDialect, tokamak::plan::PlanDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  tokamak::pipeline::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tokamak's optimizer driver\n", registry));
}
