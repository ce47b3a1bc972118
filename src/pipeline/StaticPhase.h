// The static phase: all compilation of a whole program before any of its data is read. Its passes
// stand in StaticPasses.h, their order here.
//
//   // Inlines, folds, hoists, checks facts, outlines blocks. Reports errors as diagnostics.
//   if (failed(runStaticPhase(module, options))) ...
#ifndef TOKAMAK_PIPELINE_STATICPHASE_H
#define TOKAMAK_PIPELINE_STATICPHASE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace tokamak::pipeline {

struct StaticOptions {
  llvm::StringSet<> disabled; // passes by name: inline, constant-propagation, cse,
                              // loop-invariant-code-motion, ...
  bool verifyEach = false;
};

// How often a pass ran, and the time it took.
struct PassRun {
  llvm::StringRef name;
  int64_t runs = 0;
  int64_t nanoseconds = 0;
};

// Public functions are entries: they are kept and may be called with any arguments. Fails, after
// reporting an error, if the program is wrong for all data. Operations that are wrong but may not be
// executed give warnings. `runs`: receives an entry for each pass that ran.
llvm::LogicalResult runStaticPhase(mlir::ModuleOp module, const StaticOptions &options,
                                   std::vector<PassRun> *runs = nullptr);

} // namespace tokamak::pipeline
#endif
