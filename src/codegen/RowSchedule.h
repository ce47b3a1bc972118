// In which order a row kernel computes: a block of rows is passed over several times when something
// per row must be complete before it is used across the row again.
//
//   E = exp(X - rowMax(X)); E / rowSum(E)
//     pass 0: rowMax(X)      pass 1: E into scratch memory, rowSum(E)      pass 2: E from scratch
//     memory, the quotient
//
// Cheap values are computed again in every pass that needs them; expensive ones are kept.
#ifndef TOKAMAK_CODEGEN_ROWSCHEDULE_H
#define TOKAMAK_CODEGEN_ROWSCHEDULE_H

#include "codegen/KernelBody.h"

namespace tokamak::codegen {

struct RowPass {
  llvm::SmallVector<mlir::Operation *>
      rowAggregates; // row aggregates and row products that are complete after it
  llvm::SmallVector<const Root *> roots;       // wide results that it writes or accumulates
  llvm::SetVector<mlir::Value> perRowOperands; // m×1 values that its wide values use
  llvm::DenseSet<mlir::Value> loaded;          // wide values it takes from scratch memory
  llvm::DenseSet<mlir::Value> kept;            // wide values it leaves there
};

struct RowSchedule {
  llvm::SmallVector<RowPass, 2> passes;
  llvm::SmallVector<const Root *> perRowRoots;        // results of m×1 values, after the last pass
  llvm::DenseMap<mlir::Value, unsigned> scratchSlots; // of kept values
  int wideInstructions = 0;                           // of all passes, for one vector
};

// What a row aggregate or row product runs over.
mlir::Value rowAggregated(mlir::Operation *op);

RowSchedule scheduleRows(const KernelBody &body);

} // namespace tokamak::codegen
#endif
