// The static phase: all compilation of a whole program before any of its data is read.
//
//   // Inlines, folds, hoists, checks facts, outlines blocks. Reports errors as diagnostics.
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

// Replaces scalars that are proved constant by literals: nrow(X) of a known matrix becomes a number.
// Returns whether there were any.
bool foldFacts(mlir::ModuleOp module, analysis::FactsAnalysis &facts);

// Marks products U %*% t(V) by source position, so that CSE does not join equal ones before they
// are in one block: computed at the entries of a sparse matrix, each costs less than one shared
// product that is stored.
void keepProductsApart(mlir::ModuleOp module);

// Sinks transpositions to the products that use them, which absorb them: t(X) %*% y reads X. If
// loop-invariant code motion hoists a transposition from a loop, the transposed copy would have to
// be stored.
void sinkTranspositions(mlir::ModuleOp module);

// Public functions are entries: they are kept and may be called with any arguments. Fails, after
// reporting an error, if the program is wrong for all data. Operations that are wrong but may not be
// executed give warnings.
llvm::LogicalResult runStaticPhase(mlir::ModuleOp module, const StaticOptions &options);

} // namespace tokamak::pipeline
#endif
