// In which order the entries of a row are computed: they are passed over several times when
// something per row must be complete before it is used at the entries again.
//
//   t(S) %*% (w * (S %*% v))
//     pass 0: S %*% v      pass 1: adds S * (w * (S v)) to the columns
//
// Cheap values are computed again in every pass that needs them; expensive ones are kept.
#ifndef TOKAMAK_CODEGEN_SPARSESCHEDULE_H
#define TOKAMAK_CODEGEN_SPARSESCHEDULE_H

#include "codegen/SparseBody.h"

namespace tokamak::codegen {

struct EntryPass {
  // Aggregates and products of Wide values that are complete after it.
  llvm::SmallVector<mlir::Operation *> rowOperations;
  llvm::SmallVector<const SparseRoot *> roots; // of Wide values
  llvm::SetVector<mlir::Value> perRowOperands; // PerRow values that its Wide values use
  llvm::SetVector<mlir::Value> narrowOperands; // Narrow values that its roots use
  llvm::SmallVector<tok::MatmulOp> sampled;    // products that it computes at the entries
  llvm::DenseSet<mlir::Value> loaded;          // Wide values it takes from scratch memory
  llvm::DenseSet<mlir::Value> kept;            // Wide values it leaves there
  int instructions = 0;                        // for eight entries
};

struct SparseSchedule {
  llvm::SmallVector<EntryPass, 2> passes;
  llvm::SmallVector<const SparseRoot *> rowRoots;     // of PerRow and Narrow values, at the end
  llvm::DenseMap<mlir::Value, unsigned> scratchSlots; // of kept values
  llvm::SmallVector<mlir::BlockArgument> lookups;     // CSR operands with other entries
  // Nothing depends on the rows: all entries of a tile are passed over as if they were one row.
  bool isFlat = true;
};

SparseSchedule scheduleEntries(const SparseBody &body);

} // namespace tokamak::codegen
#endif
