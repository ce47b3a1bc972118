// Makes a cover cheaper step by step: stores one result more or less, or in another operator. Where no step
// makes it cheaper, it starts again after a step that makes it dearer: with two operators merged, with the
// results of one stored by operators of their own, or with one result stored elsewhere, which then stays
// there. So several results move together, of which each alone would cost time.
//
//   CoverImprovement improvement(pool, partition.nodes, partition.operators);
//   improvement.run(mostPriced);
//   partition.operators = improvement.operators(); // no dearer than before
//
// Every result is stored by one operator, which computes everything itself that its frame allows and that
// no other operator stores. So a list of results by operator says what a cover is, and a step changes
// few operators.
#ifndef TOKAMAK_FUSION_SELECT_IMPROVECOVER_H
#define TOKAMAK_FUSION_SELECT_IMPROVECOVER_H

#include "fusion/select/OperatorPool.h"

#include <deque>

namespace tokamak::fusion {

class CoverImprovement {
public:
  // `nodes` in program order; `operators` are ids of the pool, which compute them.
  CoverImprovement(OperatorPool &pool, llvm::ArrayRef<int> nodes, llvm::ArrayRef<int> operators);

  // Ends where neither helps, or after pricing so many operators.
  void run(int64_t mostPriced);

  llvm::SmallVector<int> operators() const; // ids of the pool
  double nanoseconds() const { return best_.nanoseconds; }
  int64_t priced() const { return priced_; }

private:
  using Groups = std::vector<llvm::BitVector>; // by operator: what it stores

  struct Priced {
    FusedOperator op;      // without a frame: none can store the results
    llvm::BitVector scope; // what could be computed with its results
    int id = -1;           // of the pool; -1: no cover had it
  };
  struct Cover {
    Groups groups;
    llvm::BitVector stored;
    llvm::SmallVector<Priced *> priced; // by group
    double nanoseconds = 0;
  };
  // `kept` is a node whose result stays where it is; -1: none.
  void descend(Cover &cover, int64_t mostPriced, int kept = -1);
  std::vector<Groups> changesOf(const Groups &groups, int node) const;
  bool improve(Cover &cover, int node);
  bool tryGroups(Cover &cover, Groups groups);
  bool restart(int64_t mostPriced);
  bool restartFrom(llvm::ArrayRef<std::pair<Groups, int>> groups, int64_t mostPriced);
  llvm::BitVector scopeOf(const llvm::BitVector &results) const;
  Priced *operatorFor(const llvm::BitVector &results, const llvm::BitVector &stored);
  std::optional<llvm::BitVector> membersFor(const llvm::BitVector &results, int frame,
                                            const llvm::BitVector &stored) const;

  OperatorPool &pool_;
  llvm::ArrayRef<int> nodes_;
  llvm::BitVector inside_; // the nodes
  Cover best_;
  int64_t priced_ = 0;
  std::deque<Priced> known_;
  // By results, and what is stored of all that could be computed with them.
  llvm::DenseMap<std::pair<llvm::BitVector, llvm::BitVector>, Priced *> byResults_;
};

} // namespace tokamak::fusion
#endif
