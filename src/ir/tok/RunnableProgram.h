// Checks that a module, which may be written by hand, can run: the verifiers accept more than the
// engines execute.
//
//   if (failed(tok::verifyRunnable(module))) ...     // diagnostics at the operations
#ifndef TOKAMAK_IR_TOK_RUNNABLEPROGRAM_H
#define TOKAMAK_IR_TOK_RUNNABLEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::tok {

// Reports, at the operation concerned: the lack of a function @main without parameters and results;
// operations of other dialects; array types with static sizes or with element types other than f64
// and f32; natives for matrices that are applied to arrays of another rank.
llvm::LogicalResult verifyRunnable(mlir::ModuleOp module);

} // namespace tokamak::tok
#endif
