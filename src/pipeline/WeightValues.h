// What a function computes from its weights alone: the same in every call of it.
//
//   llvm::DenseSet<mlir::Value> values = valuesOfWeights(main, facts);
//   values.contains(scale)        // tok.binary div %gamma, %root, both of them such values
//
// Weights are the arguments that tok::weightsAttributeName counts; literals count as well. Results that are larger than
// the arrays they are computed from, or whose sizes are not known before the run, are none: they had better not be kept.
// Only operations of the function's first block are looked at: parts of branches and loops may never be computed, and fail
// if they were.
#ifndef TOKAMAK_PIPELINE_WEIGHTVALUES_H
#define TOKAMAK_PIPELINE_WEIGHTVALUES_H

#include "analysis/FactsAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// The function with tok::weightsAttributeName; null if there is none.
mlir::func::FuncOp functionOfWeights(mlir::ModuleOp module);

llvm::ArrayRef<mlir::BlockArgument> weightsOf(mlir::func::FuncOp function);

llvm::DenseSet<mlir::Value> valuesOfWeights(mlir::func::FuncOp function,
                                            analysis::FactsAnalysis &facts);

// All sizes of an array, if they are known before the run.
std::optional<llvm::SmallVector<int64_t>> constantSizesOf(mlir::Value array,
                                                          analysis::FactsAnalysis &facts);

} // namespace tokamak::pipeline
#endif
