// Where operators may stand in a plan: in which frame, and behind which operations of other partitions. An
// operator that reads what such an operation computes can't store what it needs. So if b is computed by a
// native of another partition, two operators read S, and bounds that tell slots apart count it twice. In DML:
//
//   a = exp(X * S);  b = a %*% B;  c = sum(b * S)
//
// In C++:
//
//   for (const OperatorSlot &slot : operatorSlots(pool, partition.nodes))
//     if (slot.allowed[node]) ...                              // may compute it
#ifndef TOKAMAK_FUSION_SELECT_OPERATORSLOTS_H
#define TOKAMAK_FUSION_SELECT_OPERATORSLOTS_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

struct OperatorSlot {
  int frame;
  llvm::BitVector allowed, storable; // operations
};

// The slots, ordered by frame. Every operator of a plan fits into one of them at least. Only the first
// `mostSeparating` operations between others are told apart, because slots multiply with them.
std::vector<OperatorSlot> operatorSlots(const OperatorPool &pool, llvm::ArrayRef<int> nodes);
inline constexpr size_t mostSeparating = 2;

} // namespace tokamak::fusion
#endif
