// Makes operators with several results of operators with one: as long as it saves time, the two
// operators that save most become one. So several aggregates over the same arrays need one pass,
// and a result that is stored can be used while it is being computed.
#ifndef TOKAMAK_FUSION_SELECT_MERGEOPERATORS_H
#define TOKAMAK_FUSION_SELECT_MERGEOPERATORS_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

// Two operators that would have become one but for an operation between them.
struct RefusedMerge {
  int first, second; // ids of the operators
  int between;       // index of an operation
};

// `operators` are ids of the pool and are replaced. `refused`, where not null, collects what stood
// in the way.
void mergeOperators(OperatorPool &pool, llvm::SmallVectorImpl<int> &operators,
                    std::vector<RefusedMerge> *refused = nullptr);

} // namespace tokamak::fusion
#endif
