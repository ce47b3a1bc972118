// The rewrite rules of a block, each under its own name (`--disable=NAME`).
//
//   RuleRunner runner(block);
//   for (const BlockRule &rule : blockRules())
//     if (!disabled(rule.name)) runner.apply(rule);
//
// A rule keeps the meaning of the program for every value, including NaN, infinities and the sign
// of zero; only the order in which many numbers are added or multiplied may change. A replacement
// has the type of the operation it replaces.
#ifndef TOKAMAK_REWRITE_BLOCKRULES_H
#define TOKAMAK_REWRITE_BLOCKRULES_H

#include "analysis/FactsAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tokamak::rewrite {

// Unit attribute of an argument of a block: an array that is stored as one number.
inline constexpr llvm::StringLiteral repeatedAttributeName = "tok.repeated";

struct BlockRule {
  llvm::StringLiteral name;
  llvm::StringLiteral summary; // in the form "before -> after"
  bool required;               // can't be disabled, because later phases rely on it
  // True if it changed something.
  bool (*apply)(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
};

llvm::ArrayRef<BlockRule> blockRules();

// Rules that run after fusion, on its operators and on operations that it left to natives.
llvm::ArrayRef<BlockRule> rulesAfterFusion();

// nrow(X), ncol(X), length(X) -> the number, if it is known.
bool foldSizes(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// Shows operands of a smaller rank than the result in its rank, [n] as [1,1,n].
bool raiseRanks(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// mean(X) -> sum(X)/length(X); var(X) -> sum((X-mean(X))^2)/(length(X)-1); sd(X) -> sqrt(var(X));
// by rows and columns too.
bool decomposeAggregates(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// colSums(v) -> as.matrix(sum(v)) for a column vector v, rowSums(u) for a row vector u; min, max,
// prod likewise.
bool aggregateVectors(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// ViewsOfVectors.cpp
bool viewsBehindCells(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool viewsBeforeCells(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// SimplifyCells.cpp
bool dropNeutralOperands(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool multiplyByReciprocals(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool dropDoubleNegation(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool negateEqualities(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool dropRoundingOfTruth(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// RepeatedArrays.cpp
bool useFillsAsScalars(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool computeFillsOnce(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// SimplifyReorganizations.cpp
bool dropWholeSlices(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool dropWholeInserts(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool slicesOfMatrices(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool flattenAppends(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool appendUntransposed(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool dropViews(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool dropDoubleReversal(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// SimplifyAggregates.cpp
bool aggregateUntransposed(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool joinAggregates(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool dropSumsOfOne(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// NativesInCells.cpp
bool replaceInCells(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool outerInCells(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// SimplifyProducts.cpp
bool multiplyUntransposed(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool multiplyForDiagonal(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool multiplyForSlice(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
bool divideProducts(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);
// OrderProducts.cpp
bool orderProducts(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// t(A) %*% B, A %*% t(B) -> natives that read A or B without a transposed copy.
bool absorbTranspositions(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// Operators over [1,64,56,56] -> over [64,3136], or over [200704,1] where nothing is repeated.
bool collapseAxes(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// Operators over few places get little code.
bool makeLoopsCompact(mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// How often a rule fired in a block, and the time it took.
struct RuleRun {
  llvm::StringRef name;
  int64_t fired = 0; // passes over the block that changed something
  int64_t nanoseconds = 0;
};

// Applies one rule to a block whose facts are up to date.
RuleRun applyRule(const BlockRule &rule, mlir::func::FuncOp block, analysis::FactsAnalysis &facts);

// Applies rules to one block; facts are analysed again only after a rule changed something.
class RuleRunner {
public:
  explicit RuleRunner(mlir::func::FuncOp block) : block_(block) {}
  void apply(const BlockRule &rule);
  // The facts of the block in its current state.
  analysis::FactsAnalysis &facts();
  llvm::ArrayRef<RuleRun> runs() const { return runs_; }

private:
  mlir::func::FuncOp block_;
  std::unique_ptr<analysis::FactsAnalysis> facts_; // null: out of date
  llvm::SmallVector<RuleRun> runs_;
};

} // namespace tokamak::rewrite
#endif
