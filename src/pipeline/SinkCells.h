// Sinks cheap cell operators on large arrays to their users, with which they are fused at no extra
// cost.
//
//   sinkCells(module);
//
// This undoes loop-invariant code motion where it does harm. In DML:
//
//   while (...) { ... exp(-X %*% b) ... }
//
// Hoisted from this loop, -X is a copy of X that lives as long as the loop and is read there
// instead of X. Inside the loop, the kernel that reads X negates the cells.
#ifndef TOKAMAK_PIPELINE_SINKCELLS_H
#define TOKAMAK_PIPELINE_SINKCELLS_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// An operator as fast as an addition is sunk if it can't fail, all users are sure to be fused with it, at least one user is in a
// loop that the operator is not in, and its operands are one matrix and otherwise scalars and vectors,
// so that no more is read than before.
void sinkCells(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
