// Puts a chosen plan into the block: makes the plan.operators, in an order in which each comes
// after what it reads, and removes the operations they replace.
#ifndef TOKAMAK_FUSION_SELECT_BUILDOPERATORS_H
#define TOKAMAK_FUSION_SELECT_BUILDOPERATORS_H

#include "fusion/select/OperatorPool.h"

namespace tokamak::fusion {

// Unit attribute of a plan.operator: it takes a zero times something that may be infinite or NaN
// for zero (ZeroRule::Sparse).
inline constexpr llvm::StringLiteral zeroRuleAttributeName = "tok.zero_rule";

// What the operator is called, by what its operations do.
plan::FusionTemplate templateOf(const OperatorPool &pool, int id);

// A member as it could stand in a script, "g = sum(out * Y * Xd)": what has a variable is named.
std::string describeMember(const OperatorPool &pool, int member);

// `operators` are ids of the pool whose results together are all that is read outside of operators;
// they have an order.
void buildOperators(const OperatorPool &pool, llvm::ArrayRef<int> operators);

} // namespace tokamak::fusion
#endif
