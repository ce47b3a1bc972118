// The text of --explain=fusion: a summary in a few sentences, then candidates, refusals with reasons,
// partitions and their interesting points, the numbers of plans considered, the chosen operators and
// their predicted costs.
//
//   Plan plan = searchPlan(pool);
//   buildOperators(pool, plan.operators, [&](llvm::ArrayRef<BuiltOperator> built) {
//     std::string text = explainFusion("block_0", pool, plan, built);
//   });
#ifndef TOKAMAK_FUSION_SELECT_EXPLAINFUSION_H
#define TOKAMAK_FUSION_SELECT_EXPLAINFUSION_H

#include "fusion/select/BuildOperators.h"
#include "fusion/select/PlanSearch.h"

namespace tokamak::fusion {

// To be called before the operations that were fused are erased.
std::string explainFusion(llvm::StringRef block, const OperatorPool &pool, const Plan &plan,
                          llvm::ArrayRef<BuiltOperator> built);

} // namespace tokamak::fusion
#endif
