// The static phase: everything that happens to a whole program before any of its data is read.
//
//   runStaticPhase(module, options)   // inline, fold, hoist, check facts, outline blocks; errors
//   as diagnostics auto image = lowerProgram(module) // LowerToImage.h
#ifndef TOKAMAK_PIPELINE_STATICPHASE_H
#define TOKAMAK_PIPELINE_STATICPHASE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace tokamak::pipeline {

struct StaticOptions {
  llvm::StringSet<> disabled; // passes by name: inline, constant-propagation, cse,
                              // loop-invariant-code-motion, ...
  bool verifyEach = false;
};

// Names of the passes that can be disabled, in order.
llvm::ArrayRef<llvm::StringLiteral> staticPassNames();

// Fails after an error that makes the program wrong whatever its data.
llvm::LogicalResult runStaticPhase(mlir::ModuleOp module, const StaticOptions &options);

} // namespace tokamak::pipeline
#endif
