// Finds the first operation whose value differs between the reference and another engine.
//
//   Comparison found = firstDivergence(module, context, {}, [&](mlir::ModuleOp copy) {
//     return runNative(copy);                         // the results of main, or an error
//   });
//
// The engine runs the program with all values at its top level as results of main. Then the
// reference computes each operation from the engine's own operands, so that errors do not
// accumulate, and compares. If an operation with a region or a call differs, or its error bound is
// too large to tell, the operation is opened (inlined) and the engine runs again: an `if` is
// replaced by the branch taken, a call by the callee's body, and the first iteration of a loop is
// peeled.
#ifndef TOKAMAK_ORACLE_FIRSTDIVERGENCE_H
#define TOKAMAK_ORACLE_FIRSTDIVERGENCE_H

#include "base/Error.h"
#include "oracle/Agreement.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace tokamak::oracle {

// An engine's result: the results of main, or an error.
struct EngineRun {
  std::vector<runtime::Value> results;
  std::optional<Error> error;
};
// The engine may change the module, which is a copy.
using Engine = llvm::function_ref<EngineRun(mlir::ModuleOp)>;

struct Divergence {
  mlir::Location location; // of the operation
  std::string operation;   // as DML writes it: "-", "sum", "%*%"; empty for a failure
  std::string operands;    // "3x4, 1x4, 2.5"
  std::string what;        // the cell and both values, or both errors
  // Each operation is correct in isolation; values differ only when they are compiled together.
  bool onlyTogether = false;
};

// The cells of a product where the reference has NaN and the engine does not, because it skipped
// zeros of a sparse matrix.
struct LeftOutZeros {
  mlir::Location location;
  std::string operation;
  int64_t cells;
};

struct Comparison {
  std::optional<Divergence> divergence;
  std::optional<Error> failure;      // of the engine, where the reference fails likewise
  std::vector<LeftOutZeros> leftOut; // in the order of the program
  int64_t values = 0;                // number of values compared in the last run
};

// The module must be verified and have a function main without results; it is not changed. The
// reference's output is dropped; `context` is for the reference.
Comparison firstDivergence(mlir::ModuleOp module, runtime::ExecutionContext &context,
                           BoundedOptions options, Engine engine);

} // namespace tokamak::oracle
#endif
