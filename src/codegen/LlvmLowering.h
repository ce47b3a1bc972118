// From a kernel's MLIR (arith, scf, vector, llvm) to optimised LLVM IR, in as few passes as
// possible: the program waits while a kernel is compiled.
//
//   LoweringContext lowering;
//   auto loops = mlir::parseSourceString<mlir::ModuleOp>(text, lowering.context());
//   std::unique_ptr<llvm::Module> module = lowering.lower(*loops, llvmContext);
//   if (llvm::Error error = linkVectorMath(*module))
//     llvm::report_fatal_error(std::move(error));
//   optimize(*module, machine);
#ifndef TOKAMAK_CODEGEN_LLVMLOWERING_H
#define TOKAMAK_CODEGEN_LLVMLOWERING_H

#include "mlir/IR/BuiltinOps.h"
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
  ~LoweringContext();
  mlir::MLIRContext *context() { return context_.get(); }
  // Lowers `module` in place to the llvm dialect, then translates it. Null after an error, which
  // means a bug in the emitters.
  std::unique_ptr<llvm::Module> lower(mlir::ModuleOp module, llvm::LLVMContext &llvmContext);

private:
  struct Conversion;
  std::unique_ptr<mlir::MLIRContext> context_;
  std::unique_ptr<Conversion> conversion_;
};

// Links the functions of VectorMath.cpp and SinglePrecisionMath.cpp that `module` calls into it.
llvm::Error linkVectorMath(llvm::Module &module);
// Inlines and runs a short pipeline of function passes; the emitters have vectorised and unrolled
// the loops already.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tokamak::codegen
#endif
