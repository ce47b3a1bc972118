// From a fused operator with a driver (SparseBody.h) to an MLIR module with the functions `name`
// and `name_merge`, as loops/LoopEmitter.h does for dense operators.
//
//   auto module = emitSparseKernel(body, "entries_mul_sum_7", &context, plan);
//
// The tile function loops over the rows of the tile, over the passes of the schedule
// (SparseSchedule.h), and over the entries of the row in vectors of eight, the last one masked. The
// loops as text:
//
//   for row: for pass: for eight entries: wide values, aggregates, results at the entries
//            results per row
#ifndef TOKAMAK_CODEGEN_SPARSEEMITTER_H
#define TOKAMAK_CODEGEN_SPARSEEMITTER_H

#include "codegen/SparseBody.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tokamak::codegen {

// Builds the module in `context`, which must have the dialects arith, scf, vector and llvm loaded
// and may differ from the body's context. Sets the plan's sizes of scratch memory.
mlir::OwningOpRef<mlir::ModuleOp> emitSparseKernel(const SparseBody &body, llvm::StringRef name,
                                                   mlir::MLIRContext *context,
                                                   abi::KernelPlan &plan);

} // namespace tokamak::codegen
#endif
