// What fusion found and chose in a block, as JSON for the page of `tokamak explain --html`: every
// operation with its operands, candidates and refusals, and the operators of the plan with what they
// are predicted to take.
//
//   std::string json = fusionFacts("block_0", pool, plan, built);
//
// Of a block with one operation, shortened, as text:
//
//   {"block": "block_0", "selector": "cost", "summary": ["nothing is fused: ..."],
//    "operations": [{"index": 3, "text": "w * v", "definition": "y = w * v", "kind": "elementwise",
//                    "file": "a.dml", "line": 7, "column": 17, "size": "~1000x1",
//                    "operands": [{"operation": 2}, {"value": "v", "size": "~1000x1"}],
//                    "ways": ["cell ~1000x1 +w"], "refusals": [], "outcome": "stored, then read"}],
//    "operators": [{"number": 0, "loops": "cell ~1000x1", "native": false, "members": [3],
//                   "results": [3], "reads": "v ~1000x1", "writes": "~1000x1",
//                   "predicted_ns": 410.2, "separate_ns": 970.1}],
//    "search": ["partition 1: ..."], "refused_merges": []}
#ifndef TOKAMAK_FUSION_SELECT_FUSIONFACTS_H
#define TOKAMAK_FUSION_SELECT_FUSIONFACTS_H

#include "fusion/select/BuildOperators.h"
#include "fusion/select/PlanSearch.h"

namespace tokamak::fusion {

// Integer attribute of an operator: its number among the facts' operators.
inline constexpr llvm::StringLiteral operatorNumberAttributeName = "plan.number";

// To be called before the operations that were fused are erased. Numbers the operators by attributes.
std::string fusionFacts(llvm::StringRef block, const OperatorPool &pool, const Plan &plan,
                        llvm::ArrayRef<BuiltOperator> built);

} // namespace tokamak::fusion
#endif
