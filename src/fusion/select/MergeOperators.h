// Merges operators with one result into operators with several: as long as it saves time, the two
// operators that save most are merged. Then several aggregates over the same arrays share one pass,
// and a stored result can be used while it is being computed.
//
//   mergeOperators(pool, operators);
#ifndef TOKAMAK_FUSION_SELECT_MERGEOPERATORS_H
#define TOKAMAK_FUSION_SELECT_MERGEOPERATORS_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

// Two operators that were not merged because an operation has to be executed between them.
struct RefusedMerge {
  int first, second; // ids of the operators
  int between;       // index of an operation
};

// `operators` are ids of the pool, which are replaced by those of merged operators. Returns the
// merges that an operation in between prevented.
std::vector<RefusedMerge> mergeOperators(OperatorPool &pool, llvm::SmallVectorImpl<int> &operators);

} // namespace tokamak::fusion
#endif
