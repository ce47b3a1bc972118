// Operators that a plan could consist of, each made and priced once: selection compares many plans,
// which share most of their operators.
//
//   OperatorPool pool(graph, memo, machine);
//   int alone = pool.operatorFor(root, stored);      // everything not stored is computed inside
//   int both = pool.merge(a, b, keep);               // -1 where no template allows it
#ifndef TOKAMAK_FUSION_SELECT_OPERATORPOOL_H
#define TOKAMAK_FUSION_SELECT_OPERATORPOOL_H

#include "cost/MachineModel.h"
#include "fusion/explore/MemoTable.h"

#include "llvm/ADT/BitVector.h"

#include <deque>

namespace tokamak::fusion {

struct FusedOperator {
  llvm::BitVector members;         // operations computed inside, by index
  llvm::SmallVector<int, 4> roots; // those whose results leave the operator, in program order
  int frame = -1;
  llvm::SmallVector<int, 6> reads; // nodes whose stored arrays or aggregates are read
  int arrays = 0;                  // array inputs and results
  double nanoseconds = 0;

  bool isRoot(int index) const { return llvm::is_contained(roots, index); }
  bool doesRead(int index) const { return llvm::is_contained(reads, index); }
};

class OperatorPool {
public:
  OperatorPool(const BlockGraph &graph, const MemoTable &memo, const cost::MachineModel &machine);

  const FusedOperator &operator[](int id) const { return operators_[id]; }

  // The operator that results in `root` alone, in the frame that leaves the fewest other results to
  // be stored in addition to `stored`, and of those in the cheapest.
  int operatorFor(int root, const llvm::BitVector &stored);

  // One operator instead of two, resulting in those of their roots for which `keep` holds; -1 where
  // that is not legal. Whether other operators stand in between is the caller's question.
  int merge(int a, int b, llvm::function_ref<bool(int)> keep);

  // Whether the result has to be stored under every plan: it leaves the block, or a reader can not
  // compute it.
  bool mustBeStored(int node) const { return mustBeStored_[node]; }

  const BlockGraph &graph() const { return graph_; }
  const MemoTable &memo() const { return memo_; }
  const cost::MachineModel &machine() const { return machine_; }
  bool isMultiAggregate(int id) const;

private:
  int add(FusedOperator candidate);
  llvm::BitVector expand(int root, int frame, const llvm::BitVector &stored) const;
  bool fillsItsFrame(const FusedOperator &candidate) const;
  bool isLegal(const FusedOperator &candidate) const;
  void price(FusedOperator &candidate) const;
  bool areRelated(const FusedOperator &a, const FusedOperator &b) const;
  double costAlone(int node);
  int makeMerged(int a, int b, llvm::ArrayRef<int> roots, uint64_t kept);

  const BlockGraph &graph_;
  const MemoTable &memo_;
  const cost::MachineModel &machine_;
  llvm::BitVector mustBeStored_;
  std::vector<llvm::BitVector> scopes_; // by root: what could be computed in its operator
  std::vector<double> costsAlone_;
  std::deque<FusedOperator> operators_;
  llvm::DenseMap<std::pair<unsigned, llvm::BitVector>, int> byRoot_;
  llvm::DenseMap<std::tuple<int, int, uint64_t>, int> merged_;
};

} // namespace tokamak::fusion
#endif
