// Which values of a program may have none when they are read: a variable that is not assigned on
// every path is tok.undef on the others, which is passed on by branches, loops, calls and returns
// and is an error where an operation reads it.
//
//   MissingValues missing(module);
//   missing.mayFailFor(op);       // op reads a value that may be missing: leave it where it is
#ifndef TOKAMAK_PIPELINE_MISSINGVALUES_H
#define TOKAMAK_PIPELINE_MISSINGVALUES_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseSet.h"

namespace tokamak::pipeline {

/// Of the module as it was given; operations may be moved afterwards, but not change.
class MissingValues {
public:
  explicit MissingValues(mlir::ModuleOp module);

  /// Whether the operation, or one within it, reads a value that may be missing.
  bool mayFailFor(mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Value> missing_;
};

} // namespace tokamak::pipeline
#endif
