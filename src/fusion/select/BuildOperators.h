// Rewrites the block by a chosen plan: builds the plan.operators, each after the values that it
// reads, and erases the operations that they replace.
//
//   buildOperators(pool, operators);
#ifndef TOKAMAK_FUSION_SELECT_BUILDOPERATORS_H
#define TOKAMAK_FUSION_SELECT_BUILDOPERATORS_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

// Unit attribute of a plan.operator: it treats zero times a value that may be infinite or NaN as
// zero (ZeroRule::Sparse).
inline constexpr llvm::StringLiteral zeroRuleAttributeName = "tok.zero_rule";

// What plan::kindOf will say of the operator's body.
plan::BodyKind kindOf(const OperatorPool &pool, int id);

// A member in the notation of a script: "g = sum(out * Y * Xd)", if it has a variable.
std::string describeMember(const OperatorPool &pool, int member);

// `operators` are ids of the pool. Their results must include all values that are read outside of
// operators, and they must not depend on each other in a cycle.
void buildOperators(const OperatorPool &pool, llvm::ArrayRef<int> operators);

} // namespace tokamak::fusion
#endif
