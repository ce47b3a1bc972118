// Operators that a plan could consist of, each made and priced once: selection compares many plans,
// which share most of their operators.
//
//   OperatorPool pool(graph, memo, machine);
//   int alone = pool.operatorFor(root, stored);      // everything not stored is computed inside
//   int both = pool.merge(a, b, keep);               // -1 where no template allows it
#ifndef TOKAMAK_FUSION_SELECT_OPERATORPOOL_H
#define TOKAMAK_FUSION_SELECT_OPERATORPOOL_H

#include "fusion/select/OperatorCost.h"

#include <deque>

namespace tokamak::fusion {

// Which of several operators for one result is the best.
enum class Preference : uint8_t {
  Fusion, // the one that leaves the fewest other results to be stored, of those the cheapest
  Cost,   // the one that is cheapest together with the operators for what it leaves to be stored
};

class OperatorPool {
public:
  OperatorPool(const BlockGraph &graph, const MemoTable &memo, const cost::MachineModel &machine,
               Preference preference = Preference::Cost);

  const FusedOperator &operator[](int id) const { return operators_[id]; }

  // The best operator that results in `root` alone and computes everything inside that its frame
  // allows and that is not in `stored`.
  int operatorFor(int root, const llvm::BitVector &stored) { return bestFor(root, stored).id; }

  // One operator instead of two, resulting in those of their roots for which `keep` holds; -1 where
  // that is not legal. Whether other operators stand in between is the caller's question.
  int merge(int a, int b, llvm::function_ref<bool(int)> keep);

  // Whether the result has to be stored under every plan: it leaves the block, or a reader can not
  // compute it.
  bool mustBeStored(int node) const { return mustBeStored_[node]; }

  const BlockGraph &graph() const { return graph_; }
  const MemoTable &memo() const { return memo_; }
  const cost::MachineModel &machine() const { return machine_; }
  const OperatorCost &cost() const { return cost_; }
  const Frame &frameOf(int id) const { return memo_.frames[operators_[id].frame]; }

private:
  struct Best {
    int id;
    double total; // with the operators for what it reads and nobody else stores
  };
  Best bestFor(int root, const llvm::BitVector &stored);
  int add(FusedOperator candidate);
  llvm::BitVector expand(int root, int frame, const llvm::BitVector &stored) const;
  bool fillsItsFrame(const FusedOperator &candidate) const;
  bool isLegal(const FusedOperator &candidate) const;
  bool areRelated(const FusedOperator &a, const FusedOperator &b) const;
  int makeMerged(int a, int b, llvm::ArrayRef<int> roots, uint64_t kept);

  const BlockGraph &graph_;
  const MemoTable &memo_;
  const cost::MachineModel &machine_;
  OperatorCost cost_;
  Preference preference_;
  llvm::BitVector mustBeStored_;
  std::vector<llvm::BitVector> scopes_; // by root: what could be computed in its operator
  std::deque<FusedOperator> operators_;
  llvm::DenseMap<std::pair<unsigned, llvm::BitVector>, Best> byRoot_;
  llvm::DenseMap<std::tuple<int, int, uint64_t>, int> merged_;
};

} // namespace tokamak::fusion
#endif
