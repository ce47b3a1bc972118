// The order in which a kernel over entries computes: the passes over the entries of a row. A value
// per row must be complete before a later pass can use it at the entries.
//
//   SparseSchedule schedule = scheduleEntries(body);
//
// The passes of an operator, in DML:
//
//   t(S) %*% (w * (S %*% v))
//     pass 0: S %*% v      pass 1: adds S * (w * (S v)) to the columns
//
// Cheap values are recomputed in every pass that uses them; expensive ones
// are kept in scratch memory.
#ifndef TOKAMAK_CODEGEN_SPARSESCHEDULE_H
#define TOKAMAK_CODEGEN_SPARSESCHEDULE_H

#include "codegen/SparseBody.h"

namespace tokamak::codegen {

struct EntryPass {
  // Row aggregates and products of Wide values that the pass completes.
  llvm::SmallVector<plan::ReduceOp> rowOperations;
  llvm::SmallVector<const SparseRoot *> roots; // of Wide values
  llvm::SetVector<mlir::Value> perRowOperands; // PerRow values that its Wide values use
  llvm::SetVector<mlir::Value> narrowOperands; // Narrow values that its roots use
  llvm::SmallVector<plan::ReduceOp> sampled;   // products that it computes at the entries
  llvm::DenseSet<mlir::Value> loaded;          // Wide values loaded from scratch memory
  llvm::DenseSet<mlir::Value> kept;            // Wide values stored there for later passes
  int instructions = 0;                        // for eight entries
};

struct SparseSchedule {
  llvm::SmallVector<EntryPass, 2> passes;
  llvm::SmallVector<const SparseRoot *> rowRoots;     // of PerRow and Narrow values, at the end
  llvm::DenseMap<mlir::Value, unsigned> scratchSlots; // of kept values
  llvm::SmallVector<plan::ReadOp> lookups; // of sparse operands not known to share entries
  // Nothing depends on the row: one loop computes all entries of a tile, as if they were one row.
  bool isFlat = true;
};

// The Wide value whose rows a row operation aggregates.
mlir::Value rowAggregated(const SparseBody &body, plan::ReduceOp op);

SparseSchedule scheduleEntries(const SparseBody &body);

} // namespace tokamak::codegen
#endif
