// Finds the first operation whose value differs between the reference and another engine.
//
//   Comparison found = firstDivergence(module, context, {}, [&](mlir::ModuleOp copy) {
//     return runNative(copy);                         // what main returns, or an error
//   });
//
// The engine runs the program with all values at its top level as results of main. The reference
// then goes through it in step: it computes each operation from the engine's own operands, so that
// errors do not add up, and compares. Where an operation with a region or a call differs, or what
// it computes is so inexact that nothing can be said, it is opened, and the engine runs again: the
// branch that is taken replaces an `if`, the callee's body a call, and of a loop the first
// iteration stands in front of the others.
#ifndef TOKAMAK_ORACLE_FIRSTDIVERGENCE_H
#define TOKAMAK_ORACLE_FIRSTDIVERGENCE_H

#include "base/Error.h"
#include "oracle/Agreement.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

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
  std::string operation;   // "-", "sum", "%*%": as DML writes it; empty if it is about a failure
  std::string operands;    // "3x4, 1x4, 2.5"
  std::string what;        // the cell and both values, or both failures
  // Each operation alone is right: it is where they are compiled together that values differ.
  bool onlyTogether = false;
};

// Of a product: cells where the reference has NaN and the engine, which left out zeros of a sparse
// matrix, has none.
struct LeftOutZeros {
  mlir::Location location;
  std::string operation;
  int64_t cells;
};

struct Comparison {
  std::optional<Divergence> divergence;
  std::vector<LeftOutZeros> leftOut; // in the order of the program
  int64_t values = 0;                // that were compared in the last run
};

// The module must be verified, with a function main without results; it stays as it is. What the
// reference prints is dropped; `context` is for the reference.
Comparison firstDivergence(mlir::ModuleOp module, runtime::ExecutionContext &context,
                           BoundedOptions options, Engine engine);

} // namespace tokamak::oracle
#endif
