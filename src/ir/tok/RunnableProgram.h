// What a module written by hand must be to run: the verifiers accept more than the engines execute.
//
//   if (failed(tok::verifyRunnable(module))) ...     // diagnostics at the operations
#ifndef TOKAMAK_IR_TOK_RUNNABLEPROGRAM_H
#define TOKAMAK_IR_TOK_RUNNABLEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::tok {

// Reports, each at its place: a missing function @main without parameters and results, operations
// of other dialects, array types with sizes or of an element type other than f64 and f32, natives
// on arrays that are no matrices.
llvm::LogicalResult verifyRunnable(mlir::ModuleOp module);

} // namespace tokamak::tok
#endif
