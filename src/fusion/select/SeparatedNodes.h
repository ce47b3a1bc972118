// Operations that no operator contains together, and many of which no operator contains two: these take
// as many operators as they are.
//
//   SeparatedNodes separated(pool, partition.nodes);
//   if (separated.from(a)[b]) ...                                    // a and b are never in one operator
//   size_t fewestOperators = separated.mostAmong(candidates).size();
#ifndef TOKAMAK_FUSION_SELECT_SEPARATEDNODES_H
#define TOKAMAK_FUSION_SELECT_SEPARATEDNODES_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

class SeparatedNodes {
public:
  // `nodes` of the pool's block, in program order.
  SeparatedNodes(const OperatorPool &pool, llvm::ArrayRef<int> nodes);

  // The nodes that no operator contains together with this one.
  const llvm::BitVector &from(int node) const { return separated_[node]; }

  // As many of the candidates as possible that are separated from each other: a maximum clique, by branch
  // and bound with colours (San Segundo, Rodríguez-Losada, Jiménez, "An exact bit-parallel algorithm for
  // the maximum clique problem", Computers & Operations Research 38, 2011). The search ends after
  // `mostSteps`, with the largest clique so far.
  llvm::SmallVector<int> mostAmong(const llvm::BitVector &candidates) const;
  static constexpr int mostSteps = 300;

private:
  std::vector<llvm::BitVector> separated_; // by node
};

} // namespace tokamak::fusion
#endif
