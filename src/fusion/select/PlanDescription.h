// The words for the parts of a chosen plan: for the text of --explain=fusion (ExplainFusion.h) and for
// the facts that a page shows (FusionFacts.h).
//
//   PlanDescription words(pool, plan, built);
//   std::string text = words.named(node) + " at " + words.place(node);     // "X %*% v at a.dml:3:8"
//   double saved = words.separateNanoseconds(pool[id]) - pool[id].nanoseconds;
#ifndef TOKAMAK_FUSION_SELECT_PLANDESCRIPTION_H
#define TOKAMAK_FUSION_SELECT_PLANDESCRIPTION_H

#include "fusion/select/BuildOperators.h"
#include "fusion/select/PlanSearch.h"

namespace tokamak::fusion {

class PlanDescription {
public:
  // Everything given must outlive the object, the operations that were fused, too.
  PlanDescription(const OperatorPool &pool, const Plan &plan, llvm::ArrayRef<BuiltOperator> built);

  // An operation: the variable or the expression that it computes, at most 60 characters.
  std::string named(int index) const;
  // "file:line:column", or "" if unknown.
  std::string place(int index) const;
  // "~200000x100". Sizes that are not constant are written as "~" and their estimate.
  std::string shapeText(mlir::Value array) const;
  std::string arrayText(mlir::Value array) const; // "~200000x100 sparse"
  // One way of computing an operation: "row ~1000x10 +w * v, closed". Behind the loops, the operands
  // that may be computed in the same operator.
  std::string wayText(int index, const MemoGroup &group) const;
  // What became of an interesting point: "stored, then read".
  llvm::StringRef outcome(int point) const;
  // How the plan of a partition was found: "3 plans priced, 1 excluded by the bound".
  std::string searchText(const Partition &partition) const;
  // What an operator loops over: "row ~200000x100", "native solve".
  std::string loopsText(const BuiltOperator &built) const;
  std::string inputsText(const FusedOperator &op) const;  // "X ~10x10, v 10x1"
  std::string outputsText(const FusedOperator &op) const; // "10x1, a scalar"
  // Merges of operators that an operation in between prevented, a sentence each.
  std::vector<std::string> refusedMerges() const;

  // What the operator's members would take as operators of their own.
  double separateNanoseconds(const FusedOperator &op) const;
  double nanoseconds() const;         // of the plan's operators
  double separateNanoseconds() const; // if each operation were an operator of its own
  // The block in a few sentences: what was fused, what it saves, the runner-up.
  std::vector<std::string> summary() const;

private:
  void describeFused(llvm::SmallVector<BuiltOperator> &together,
                     std::vector<std::string> &sentences) const;
  std::string runnerUpText() const;

  const OperatorPool &pool_;
  const BlockGraph &graph_;
  const Plan &plan_;
  llvm::ArrayRef<BuiltOperator> built_;
  std::vector<double> separate_; // by operation: nanoseconds as an operator of its own
};

// "1 plan", "2 plans".
std::string countText(int64_t number, llvm::StringRef what);
// "9748.34 us", as the tables of --explain have it.
std::string microseconds(double nanoseconds);

} // namespace tokamak::fusion
#endif
