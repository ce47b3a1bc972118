// The order operators can be executed in: which of them and of the remaining operations of the
// block have to wait for which.
//
//   OperatorOrder order(pool, operators);
//   if (order.operationBetween(0, 1) < 0) ...   // the first two may become one
//   for (int unit : order.sequence()) ...
//
// A unit is a number. Those below operatorCount() are operators; unit u above is operation
// u - operatorCount() of the block.
#ifndef TOKAMAK_FUSION_SELECT_OPERATORORDER_H
#define TOKAMAK_FUSION_SELECT_OPERATORORDER_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

class OperatorOrder {
public:
  // `operators` are ids of the pool. Operations that no operator results in are units of their own.
  OperatorOrder(const OperatorPool &pool, llvm::ArrayRef<int> operators);

  int operatorCount() const { return operatorCount_; }

  // The operation that would have to be executed after one and before the other; -1 where there is
  // none.
  int operationBetween(int a, int b) const;

  // Live units, each after what it waits for, otherwise as in the program (an operator stands where
  // its last result did).
  llvm::SmallVector<int> sequence() const;

private:
  int detour(int from, int to) const;

  const OperatorPool &pool_;
  llvm::SmallVector<int> operators_;
  int operatorCount_;
  std::vector<llvm::SmallVector<int, 4>> predecessors_;
};

} // namespace tokamak::fusion
#endif
