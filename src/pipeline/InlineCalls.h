// Inlines the program's functions into their callers, so that sizes, constants and fusion reach
// through calls.
//
//   %1 = tok.call @scale(%x)        ==>   the body of scale, located at "scale called from here"
//
// Calls of recursive functions are not inlined. Any other call is inlined if it is the only one of
// its function, or as long as a budget of operations lasts, which bounds the growth of the program.
#ifndef TOKAMAK_PIPELINE_INLINECALLS_H
#define TOKAMAK_PIPELINE_INLINECALLS_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace tokamak::pipeline {

std::unique_ptr<mlir::Pass> createInlineCallsPass();

} // namespace tokamak::pipeline
#endif
