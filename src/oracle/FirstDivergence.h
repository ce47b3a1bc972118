// Finds the first operation whose value differs between the reference and another engine.
//
//   std::optional<Divergence> found = firstDivergence(module, context, {}, [&](mlir::ModuleOp m) {
//     return runNative(m);                         // what main returns, or an error
//   });
//
// Both engines run the program with more and more of its values as results of main: those at its
// top level first, then, where an operation with a region or a call differs, those inside of it:
// the branch that is taken replaces the `if`, the callee's body the call, and of a loop the
// iteration that differs first stands behind the ones before it.
#ifndef TOKAMAK_ORACLE_FIRSTDIVERGENCE_H
#define TOKAMAK_ORACLE_FIRSTDIVERGENCE_H

#include "base/Error.h"
#include "oracle/Agreement.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tokamak::oracle {

// What an engine made of a module: the results of main, or a failure.
struct EngineRun {
  std::vector<runtime::Value> results;
  std::optional<Error> error;
};
// May change the module, which is a copy.
using Engine = llvm::function_ref<EngineRun(mlir::ModuleOp)>;

struct Divergence {
  mlir::Location location; // of the operation
  std::string operation;   // "-", "sum", "%*%": as DML writes it
  std::string operands;    // "3x4, 1x4, 2.5"
  std::string what;        // the cell and both values, or both failures
  // Each operation alone is right: it is where they are compiled together that values differ.
  bool onlyTogether = false;
};

struct Comparison {
  std::optional<Divergence> divergence;
  std::optional<std::string> undecided; // why it can't be said
  int64_t values = 0;                   // that were compared
  // Conditions, sizes and places in the last run that rounding may decide; the reference's were
  // taken.
  int64_t openDecisions = 0;
};

// The module must be verified, with a function main without results; it stays as it is. What the
// reference prints is dropped; `context` is for the reference.
Comparison firstDivergence(mlir::ModuleOp module, runtime::ExecutionContext &context,
                           BoundedOptions options, Engine engine);

} // namespace tokamak::oracle
#endif
