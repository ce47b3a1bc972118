// Inlines the program's functions into their callers, so that sizes, constants and fusion reach
// through calls.
//
//   inlineCalls(module);
//
// A call, in MLIR:
//
//   %1 = tok.call @scale(%x)        ==>   the body of scale, located at "scale called from here"
//
// Recursive functions stay calls, and so does what would make the program grow without bound: a
// function is inlined if it is called once, or as long as the program's budget of operations lasts.
// A function without calls left is erased.
#ifndef TOKAMAK_PIPELINE_INLINECALLS_H
#define TOKAMAK_PIPELINE_INLINECALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

void inlineCalls(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
