// The static phase: everything that happens to a whole program before any of its data is read.
//
//   // Inlines, folds, hoists, checks facts, outlines blocks. Errors are diagnostics.
//   if (failed(runStaticPhase(module, options))) ...
#ifndef TOKAMAK_PIPELINE_STATICPHASE_H
#define TOKAMAK_PIPELINE_STATICPHASE_H

#include "analysis/FactsAnalysis.h"

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

// Replaces what the facts prove constant: nrow(X) of a known matrix becomes a number.
void foldFacts(mlir::ModuleOp module, analysis::FactsAnalysis &facts);

// Marks products U %*% t(V) so that those written at different places stay different operations
// until they are in one block: at the entries of a sparse matrix each takes less than making one of
// them for all.
void keepProductsApart(mlir::ModuleOp module);

// Puts transpositions next to the products that use them, out of which they vanish: t(X) %*% y
// reads X. Hoisted from a loop, as loop-invariant code motion does it, the transposed copy would be
// made and passed along.
void sinkTranspositions(mlir::ModuleOp module);

// Fails after an error that makes the program wrong whatever its data. What is wrong only if
// control gets to it is a warning.
llvm::LogicalResult runStaticPhase(mlir::ModuleOp module, const StaticOptions &options);

} // namespace tokamak::pipeline
#endif
