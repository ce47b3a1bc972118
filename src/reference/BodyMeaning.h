// The reference semantics of a plan.operator in a program's text: its body, evaluated value by value
// (ir/plan/BodyMeaning.h).
//
//   std::vector<Value> results = meaningOfBody(op, operands);
#ifndef TOKAMAK_REFERENCE_BODYMEANING_H
#define TOKAMAK_REFERENCE_BODYMEANING_H

#include "ir/plan/PlanDialect.h"
#include "runtime/values/Value.h"

#include <span>
#include <vector>

namespace tokamak::reference {

// Arrays are held as TypedMeaning.h says. Throws Error where sizes are not as declared.
std::vector<runtime::Value> meaningOfBody(plan::OperatorOp op,
                                          std::span<const runtime::Value> operands);

} // namespace tokamak::reference
#endif
