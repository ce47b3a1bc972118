// From a kernel's MLIR (arith, scf, vector, llvm) to optimised LLVM IR, in as few passes as
// possible: a kernel is compiled while its user waits.
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
  // Lowers in place to the llvm dialect, then translates. Null after an error, which is a bug of
  // the emitters.
  std::unique_ptr<llvm::Module> lower(mlir::ModuleOp module, llvm::LLVMContext &llvmContext);

private:
  struct Conversion;
  std::unique_ptr<mlir::MLIRContext> context_;
  std::unique_ptr<Conversion> conversion_;
};

// Links in the functions of VectorMath.cpp that the module calls.
llvm::Error linkVectorMath(llvm::Module &module);
// Inlines them and runs a short function pipeline; the heavy lifting (vectors, unrolling) is done
// already.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tokamak::codegen
#endif
