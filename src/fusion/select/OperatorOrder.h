// The order in which operators can be executed: the dependences between them and the remaining
// operations of the block.
//
//   OperatorOrder order(pool, operators);
//   if (order.operationBetween(0, 1) < 0) ...   // the first two operators can be merged
//   for (int unit : order.sequence()) ...
//
// A unit is a number: u < operatorCount() is an operator; otherwise u is operation
// u - operatorCount() of the block.
#ifndef TOKAMAK_FUSION_SELECT_OPERATORORDER_H
#define TOKAMAK_FUSION_SELECT_OPERATORORDER_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

class OperatorOrder {
public:
  // `operators` are ids of the pool. Operations that are no root of an operator are units, too.
  OperatorOrder(const OperatorPool &pool, llvm::ArrayRef<int> operators);

  int operatorCount() const { return operatorCount_; }

  // An operation that has to be executed after one of these operators and before the other; -1 if
  // there is none.
  int operationBetween(int a, int b) const;

  // The live units, each after those it depends on, otherwise in program order (an operator has the
  // position of its last root).
  llvm::SmallVector<int> sequence() const;

private:
  int detour(int from, int to) const;
  // The operation's index; of an operator that of its last root.
  int placeOf(int unit) const {
    return unit < operatorCount_ ? pool_[operators_[unit]].roots.back() : unit - operatorCount_;
  }

  const OperatorPool &pool_;
  llvm::SmallVector<int> operators_;
  int operatorCount_;
  std::vector<llvm::SmallVector<int, 4>> predecessors_;
};

} // namespace tokamak::fusion
#endif
