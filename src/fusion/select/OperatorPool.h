// The operators that plans can consist of. Each is built and priced once, because selection
// compares many plans, which have most of their operators in common.
//
//   OperatorPool pool(graph, memo, machine);
//   int alone = pool.operatorFor(root, stored);      // everything not stored is computed inside
//   int both = pool.merge(a, b, [](int result) { return true; });   // -1 if no frame allows it
#ifndef TOKAMAK_FUSION_SELECT_OPERATORPOOL_H
#define TOKAMAK_FUSION_SELECT_OPERATORPOOL_H

#include "fusion/select/FuseBlock.h"
#include "fusion/select/OperatorCost.h"

#include "llvm/ADT/SmallBitVector.h"

#include <deque>

namespace tokamak::fusion {

class OperatorPool {
public:
  // Selector::Cost prefers the cheapest operators for a result, including those for the results
  // that they need stored. Others prefer the operator that needs the fewest other results stored;
  // among those, the cheapest.
  OperatorPool(const BlockGraph &graph, const MemoTable &memo, const cost::MachineModel &machine,
               Selector selector = Selector::Cost);

  const FusedOperator &operator[](int id) const { return operators_[id]; }

  // The id of the best operator whose only result is `root` and that computes all operands itself
  // that its frame allows and that are not in `stored`.
  int operatorFor(int root, const llvm::BitVector &stored);

  // Merges two operators; the results are their roots for which `keep` holds. -1 if that is not
  // legal or saves nothing. The caller has to check that no other operator must be executed in between.
  int merge(int a, int b, llvm::function_ref<bool(int)> keep);

  // Whether every plan has to store the result: it leaves the block, or a reader can't compute it.
  bool mustBeStored(int node) const { return mustBeStored_[node]; }

  // Adds an operator that was made elsewhere, and returns its id.
  int add(FusedOperator candidate);
  // Whether of all members that read the same arrays or each other's results, one runs over the whole
  // iteration space (from vectors alone a kernel doesn't know the length of rows, and a narrow matrix
  // beside an unrelated one is better read by a kernel of its own), and all arrays of the driver are
  // read as matrices. Loops over any axes are for what natives can't compute together.
  bool fillsItsFrame(const FusedOperator &candidate) const;
  // Whether an operator with so many members, results, and arrays that it reads or writes can be kept in
  // registers, and compiled in a short time.
  bool fitsIntoRegisters(size_t members, size_t results, size_t arrays) const;
  // Whether one operator is cheaper than another with the same results. Among equally good frames, the
  // flat loop over cells is.
  bool isBetter(const FusedOperator &candidate, const FusedOperator &best) const;
  // Whether the node's value depends on an order of additions or multiplications.
  bool isAddedUp(int node) const;
  // The nodes that several of the operators would add up, in possibly different orders.
  llvm::BitVector addedUpAgain(llvm::ArrayRef<int> operators) const;
  // What could be computed in an operator with this result.
  const llvm::BitVector &scope(int root) const { return scopes_[root]; }

  const BlockGraph &graph() const { return cost_.graph; }
  const MemoTable &memo() const { return cost_.memo; }
  const cost::MachineModel &machine() const { return cost_.machine; }
  const OperatorCost &cost() const { return cost_; }
  Selector selector() const { return selector_; }
  const Frame &frameOf(int id) const { return memo().frames[operators_[id].frame]; }

private:
  llvm::BitVector expand(int root, int frame, const llvm::BitVector &stored) const;
  bool allowsMembers(const FusedOperator &candidate) const;
  int makeMerged(int a, int b, const llvm::BitVector &roots);

  OperatorCost cost_;
  Selector selector_;
  llvm::BitVector mustBeStored_;
  std::vector<llvm::BitVector> scopes_;  // by root: what could be computed in its operator
  std::vector<llvm::BitVector> allowed_; // by frame: operations that it allows
  std::deque<FusedOperator> operators_;
  llvm::DenseMap<std::pair<int, llvm::BitVector>, int> byRoot_;
  llvm::DenseMap<std::tuple<int, int, llvm::SmallBitVector>, int> merged_; // by ids and kept roots
};

} // namespace tokamak::fusion
#endif
