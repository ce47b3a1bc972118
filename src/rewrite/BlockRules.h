// The rewrite rules of a block, each under its own name (`--disable=NAME`).
//
//   for (const BlockRule &rule : blockRules())
//     if (!disabled(rule.name)) rule.apply(block, analysis);
#ifndef TOKAMAK_REWRITE_BLOCKRULES_H
#define TOKAMAK_REWRITE_BLOCKRULES_H

#include "analysis/FactsAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tokamak::rewrite {

struct BlockRule {
  llvm::StringLiteral name;
  llvm::StringLiteral summary; // before -> after
  bool required;               // later phases rely on it: it can't be disabled
  void (*apply)(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
};

llvm::ArrayRef<BlockRule> blockRules();

// Rules that run after fusion, on what it left to natives.
llvm::ArrayRef<BlockRule> nativeRules();

// nrow(X), ncol(X), length(X) -> the number, where it is known.
void foldSizes(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// mean(X) -> sum(X)/length(X); var(X) -> sum((X-mean(X))^2)/(length(X)-1); sd(X) -> sqrt(var(X));
// by rows and columns too.
void decomposeAggregates(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// colSums(v) -> as.matrix(sum(v)) for a column vector v, rowSums(u) for a row vector u; min, max,
// prod likewise.
void aggregateVectors(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// t(A) %*% B and A %*% t(B) without making the transposed copy.
void absorbTranspositions(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

} // namespace tokamak::rewrite
#endif
