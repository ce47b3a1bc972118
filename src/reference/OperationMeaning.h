// The reference semantics of any single operation except control flow: results from operands.
//
//   std::vector<Value> results = meaningOf(operation, operands, context);
#ifndef TOKAMAK_REFERENCE_OPERATIONMEANING_H
#define TOKAMAK_REFERENCE_OPERATIONMEANING_H

#include "runtime/natives/Native.h"
#include "runtime/values/Value.h"

#include "mlir/IR/Operation.h"

#include <span>
#include <vector>

namespace tokamak::reference {

// Arrays are dense. TypedMeaning.h says how arrays of other types than f64 are held and what
// operations on them compute; scalars that are combined with cells are converted to their type
// first.
//
// An operand that is an unassigned variable is an Error. An operation of another dialect, or a name
// that neither the reference nor the runtime knows, is an internal error.
std::vector<runtime::Value> meaningOf(mlir::Operation &operation,
                                      std::span<const runtime::Value> operands,
                                      runtime::ExecutionContext &context);

} // namespace tokamak::reference
#endif
