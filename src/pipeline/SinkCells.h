// Puts cheap cell operators of large arrays next to what reads them, as part of which they cost
// nothing. Hoisted from a loop, as loop-invariant code motion does it, -X in
//
//   while (...) { ... exp(-X %*% b) ... }
//
// is a copy of X that lives as long as the loop, and is read there instead of X. Inside, the kernel
// that reads X negates the cells on its way.
#ifndef TOKAMAK_PIPELINE_SINKCELLS_H
#define TOKAMAK_PIPELINE_SINKCELLS_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// An operator moves where all that reads its result is sure to be fused with it, at least one
// reader is in a loop that it is not in, and it computes from one matrix and else scalars and
// vectors, so that no more is read than before.
void sinkCells(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
