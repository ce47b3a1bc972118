// Rewrites the block by a chosen plan: builds the plan.operators, each after the values that it
// reads, and erases the operations that they replace.
//
//   buildOperators(pool, operators, [](llvm::ArrayRef<BuiltOperator> built) {});
#ifndef TOKAMAK_FUSION_SELECT_BUILDOPERATORS_H
#define TOKAMAK_FUSION_SELECT_BUILDOPERATORS_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

// Unit attribute of a plan.operator: it treats zero times a value that may be infinite or NaN as
// zero (ZeroRule::Sparse).
inline constexpr llvm::StringLiteral zeroRuleAttributeName = "tok.zero_rule";

struct BuiltOperator {
  int id;                     // of the pool
  mlir::Operation *operation; // a plan.operator, or what is left to a native
};

// What was noted of an operator or native when it was built; none, if nothing was.
Prediction predictionOf(mlir::Operation *operation);
void forgetPrediction(mlir::Operation *operation);

// `operators` are ids of the pool. Their results must include all values that are read outside of
// operators, and they must not depend on each other in a cycle. `whenBuilt` is called once with all
// of them in the order of execution, before the operations that they replace are erased.
void buildOperators(const OperatorPool &pool, llvm::ArrayRef<int> operators,
                    llvm::function_ref<void(llvm::ArrayRef<BuiltOperator>)> whenBuilt);

} // namespace tokamak::fusion
#endif
