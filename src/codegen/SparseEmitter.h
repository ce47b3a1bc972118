// From a fused operator with a driver (SparseBody.h) to a module of MLIR, as KernelEmitter.h does
// for dense ones: functions `name` and `name_merge`.
//
// The tile function goes over the rows of the tile and over the entries of each row in vectors of
// eight, the last one masked, as often as the schedule asks for (SparseSchedule.h):
//
//   for row: for pass: for eight entries: wide values, aggregates, results at the entries
//            results per row
#ifndef TOKAMAK_CODEGEN_SPARSEEMITTER_H
#define TOKAMAK_CODEGEN_SPARSEEMITTER_H

#include "codegen/SparseBody.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tokamak::codegen {

// Builds into `context`, which has the dialects arith, scf, vector and llvm loaded and may be
// another one than the body's. Fills what the plan says of scratch memory.
mlir::OwningOpRef<mlir::ModuleOp> emitSparseKernel(const SparseBody &body, llvm::StringRef name,
                                                   mlir::MLIRContext *context,
                                                   abi::KernelPlan &plan);

} // namespace tokamak::codegen
#endif
