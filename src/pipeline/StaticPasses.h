// The passes of the static phase in one table. Under its name a pass is timed (`--stats`), left out
// (`--disable=NAME`) and tested (`tokamak-opt --tok-NAME`).
//
//   StaticPassRunner passes(module, options);
//   if (failed(passes.run("inline")) || failed(passes.run("cse"))) ...
//   for (const PassRun &run : passes.runs())
//     std::cout << run.name.str() << run.nanoseconds;
#ifndef TOKAMAK_PIPELINE_STATICPASSES_H
#define TOKAMAK_PIPELINE_STATICPASSES_H

#include "analysis/FactsAnalysis.h"
#include "pipeline/StaticPhase.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace tokamak::pipeline {

// The program while passes run on it.
class StaticProgram {
public:
  explicit StaticProgram(mlir::ModuleOp module) : module(module) {}
  // The facts of the program in its current state.
  analysis::FactsAnalysis &facts();
  void factsChanged() { facts_.reset(); }

  mlir::ModuleOp module;

private:
  std::unique_ptr<analysis::FactsAnalysis> facts_; // null: out of date
};

struct StaticPass {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  bool required; // can't be disabled, because later phases rely on it
  // Whether it may have changed something; fails after an error was reported.
  llvm::FailureOr<bool> (*apply)(StaticProgram &program);
};

// In the order in which each runs first.
llvm::ArrayRef<StaticPass> staticPasses();

class StaticPassRunner {
public:
  StaticPassRunner(mlir::ModuleOp module, const StaticOptions &options)
      : program_(module), options_(options) {}
  // Runs the pass of this name, or does nothing if it is disabled. A pass that is the first to ask
  // for facts pays for their analysis.
  llvm::FailureOr<bool> run(llvm::StringRef name);
  // Runs the passes one after the other.
  llvm::LogicalResult runAll(std::initializer_list<llvm::StringRef> names);
  // One entry for each pass that ran.
  const std::vector<PassRun> &runs() const { return runs_; }

private:
  StaticProgram program_;
  const StaticOptions &options_;
  std::vector<PassRun> runs_;
};

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

} // namespace tokamak::pipeline
#endif
