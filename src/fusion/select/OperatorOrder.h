// The order in which operators can be executed: the dependences between them and the remaining
// operations of the block.
//
//   OperatorOrder order(pool, operators);
//   if (order.operationBetween(operators[0], operators[1]) < 0) ...   // they can be merged
//   for (int place : order.sequence())
//     if (int id = order.operatorAt(place); id >= 0) ...              // else an operation
//
// A place is the index of an operation in the block; an operator has that of its last root.
#ifndef TOKAMAK_FUSION_SELECT_OPERATORORDER_H
#define TOKAMAK_FUSION_SELECT_OPERATORORDER_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

class OperatorOrder {
public:
  // `operators` are ids of the pool.
  OperatorOrder(const OperatorPool &pool, llvm::ArrayRef<int> operators);

  // Whether some operators wait for each other.
  bool isCyclic() const;

  // The operator whose last root is there; -1 if there is none.
  int operatorAt(int place) const { return operatorAt_[place]; }

  // The place of what has to be executed after one of these operators and before the other; -1 if
  // there is nothing.
  int operationBetween(int a, int b) const;

  // The operators and the live operations outside of them, each after those it depends on,
  // otherwise in program order. They must not be cyclic.
  llvm::SmallVector<int> sequence() const;

private:
  int detour(int from, int to) const;

  const OperatorPool &pool_;
  llvm::SmallVector<int> operatorAt_;
  std::vector<llvm::SmallVector<int, 4>> predecessors_; // by place
};

} // namespace tokamak::fusion
#endif
