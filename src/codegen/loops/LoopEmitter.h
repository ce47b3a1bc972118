// From a scheduled operator to an MLIR module with the function `name` (TileFunction.h). A tile is
// a range of places of the parallel axes, the last of which runs fastest. It is computed in blocks
// of several places, and at its end place by place. As text:
//
//   for each place of the leading parallel axes
//     for the places of the last one, in blocks
//       for each pass
//         for the axes of the pass, the last one in vectors
//           values are computed, kept, written, and added to aggregates
//
// In C++:
//
//   mlir::OwningOpRef<mlir::ModuleOp> loops = emitLoops(body, "row_1", &context, plan);
#ifndef TOKAMAK_CODEGEN_LOOPS_LOOPEMITTER_H
#define TOKAMAK_CODEGEN_LOOPS_LOOPEMITTER_H

#include "codegen/loops/LoopBody.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tokamak::codegen {

// Builds the module in `context`, which must have the dialects arith, scf, vector and llvm loaded
// and may differ from the body's context. Adds to the plan which sizes and scratch memory it wants.
mlir::OwningOpRef<mlir::ModuleOp> emitLoops(const LoopBody &body, llvm::StringRef name,
                                            mlir::MLIRContext *context, abi::KernelPlan &plan);

} // namespace tokamak::codegen
#endif
