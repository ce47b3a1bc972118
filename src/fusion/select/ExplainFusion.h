// The text of --explain=fusion: candidates, refusals with reasons, partitions and their interesting
// points, the numbers of plans considered, the chosen operators and their predicted costs.
//
//   Plan plan = searchPlan(pool, Selector::Cost);
//   std::string text = explainFusion("block_0", Selector::Cost, pool, plan, plan.operators, {});
#ifndef TOKAMAK_FUSION_SELECT_EXPLAINFUSION_H
#define TOKAMAK_FUSION_SELECT_EXPLAINFUSION_H

#include "fusion/select/MergeOperators.h"
#include "fusion/select/PlanSearch.h"

namespace tokamak::fusion {

// To be called before the block is rewritten. `operators` are ids of the pool, in the order of
// execution.
std::string explainFusion(llvm::StringRef block, Selector selector, const OperatorPool &pool,
                          const Plan &plan, llvm::ArrayRef<int> operators,
                          llvm::ArrayRef<RefusedMerge> refusedMerges);

} // namespace tokamak::fusion
#endif
