// From a kernel's MLIR (arith, scf, vector, llvm) to optimised LLVM IR, in as few passes as
// possible: the program waits while a kernel is compiled.
//
//   LoweringContext lowering;
//   auto loops = mlir::parseSourceString<mlir::ModuleOp>(text, lowering.context());
//   std::unique_ptr<llvm::Module> module = lowering.lower(*loops, llvmContext);
//   if (llvm::Error error = optimize(*module, machine))
//     llvm::report_fatal_error(std::move(error));
#ifndef TOKAMAK_CODEGEN_LLVMLOWERING_H
#define TOKAMAK_CODEGEN_LLVMLOWERING_H

#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace llvm {
class TargetMachine;
}

namespace tokamak::codegen {

// An MLIR context with the dialects of kernels and the patterns that lower them, for one
// compilation at a time.
class LoweringContext {
public:
  LoweringContext();
  mlir::MLIRContext *context() { return &context_; }
  // Lowers `module` in place to the llvm dialect, then translates it. Null after an error, which
  // means a bug in the emitters.
  std::unique_ptr<llvm::Module> lower(mlir::ModuleOp module, llvm::LLVMContext &llvmContext);

private:
  mlir::MLIRContext context_;
  mlir::LLVMTypeConverter types_{&context_};
  mlir::LLVMConversionTarget target_{context_};
  mlir::FrozenRewritePatternSet patterns_; // expensive to build: lives as long as the context
};

// Inlines and runs a short pipeline of function passes; the emitters have vectorised and unrolled
// the loops already. Then links the functions of VectorMath.cpp that the module calls into it, and
// inlines the short ones: they are optimised, so that no pass has to read them again.
llvm::Error optimize(llvm::Module &module, llvm::TargetMachine &machine);

// The bitcode of VectorMath.cpp, embedded by the build: for all targets, and the one for the machine,
// which may name its instructions.
llvm::StringRef vectorMathBitcode();
llvm::StringRef vectorMathBitcode(const llvm::TargetMachine &machine);

} // namespace tokamak::codegen
#endif
