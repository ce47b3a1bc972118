// Makes a cover cheaper step by step: stores one result more or less, or in another operator. Where no step
// makes it cheaper, it starts again with two operators merged, or with the results of one stored by
// operators of their own.
//
//   CoverImprovement improvement(pool, partition.nodes, partition.operators);
//   improvement.run(mostPriced);
//   partition.operators = llvm::to_vector(improvement.operators()); // no dearer than before
//
// Every result is stored by one operator, which computes everything itself that its frame allows and that
// no other operator stores. So a list of results by operator says what a cover is, and a step changes
// few operators.
#ifndef TOKAMAK_FUSION_SELECT_IMPROVECOVER_H
#define TOKAMAK_FUSION_SELECT_IMPROVECOVER_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

class CoverImprovement {
public:
  // `nodes` in program order; `operators` are ids of the pool, which compute them.
  CoverImprovement(OperatorPool &pool, llvm::ArrayRef<int> nodes, llvm::ArrayRef<int> operators);

  // Ends where neither helps, or after pricing so many operators.
  void run(int64_t mostPriced);

  llvm::ArrayRef<int> operators() const { return best_.operators; } // ids of the pool
  double nanoseconds() const { return best_.nanoseconds; }
  int64_t priced() const { return priced_; }

private:
  using Groups = std::vector<llvm::BitVector>; // by operator: what it stores

  struct Cover {
    Groups groups;
    llvm::SmallVector<int> operators;
    double nanoseconds = 0;
  };

  void descend(Cover &cover, int64_t mostPriced);
  bool improve(Cover &cover, int node);
  bool tryGroups(Cover &cover, Groups groups);
  bool restart(int64_t mostPriced);
  const FusedOperator &operatorFor(const llvm::BitVector &results, const llvm::BitVector &stored);
  std::optional<llvm::BitVector> membersFor(const llvm::BitVector &results, int frame,
                                            const llvm::BitVector &stored) const;

  OperatorPool &pool_;
  llvm::ArrayRef<int> nodes_;
  llvm::BitVector inside_; // the nodes
  Cover best_;
  int64_t priced_ = 0;
  // By results, and what is stored of all that could be computed with them. Without a frame: none.
  llvm::DenseMap<std::pair<llvm::BitVector, llvm::BitVector>, FusedOperator> known_;
};

} // namespace tokamak::fusion
#endif
