// Lowers `tok` (with plan.operator in blocks) to a program image.
//
//   auto blockNumber = [&](llvm::StringRef name) { return blocks.numberOf(name); };
//   llvm::FailureOr<runtime::Image> program = lowerProgram(module, blockNumber);
//   auto kernelOf = [&](plan::OperatorOp op) { return kernels.compile(op); };
//   llvm::FailureOr<runtime::Image> fragment = lowerFragment(block, blockNumber, kernelOf);
#ifndef TOKAMAK_PIPELINE_LOWERTOIMAGE_H
#define TOKAMAK_PIPELINE_LOWERTOIMAGE_H

#include "ir/plan/PlanDialect.h"
#include "runtime/image/Image.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Number of a block by the name of its function.
using BlockNumber = llvm::function_ref<int32_t(llvm::StringRef)>;
// The kernel of a fused operator.
using KernelOf = llvm::function_ref<llvm::FailureOr<runtime::KernelPlan>(plan::OperatorOp)>;

// Lowers all functions but the outlined blocks; function 0 is `main`. Fails after a diagnostic if
// an operation has no instruction.
llvm::FailureOr<runtime::Image> lowerProgram(mlir::ModuleOp module, BlockNumber blockNumber);

// Lowers one planned block to an image with just this function.
llvm::FailureOr<runtime::Image> lowerFragment(mlir::func::FuncOp block, BlockNumber blockNumber,
                                              KernelOf kernelOf);

} // namespace tokamak::pipeline
#endif
