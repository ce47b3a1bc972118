// The reference semantics of any single operation except control flow: results from operands.
//
//   std::vector<Value> results = meaningOf(operation, operands, context);
#ifndef TOKAMAK_REFERENCE_OPERATIONMEANING_H
#define TOKAMAK_REFERENCE_OPERATIONMEANING_H

#include "runtime/Native.h"
#include "runtime/Value.h"

#include "mlir/IR/Operation.h"

#include <span>
#include <vector>

namespace tokamak::reference {

// Arrays are dense and hold doubles. An array whose element type is f32 holds doubles that are
// representable in f32: results are computed in double precision and rounded once. Scalars combined
// with such arrays are rounded first.
//
// An operand that is an unassigned variable is an Error. An operation of another dialect, or a name
// that neither the reference nor the runtime knows, is an internal error.
std::vector<runtime::Value> meaningOf(mlir::Operation &operation,
                                      std::span<const runtime::Value> operands,
                                      runtime::ExecutionContext &context);

} // namespace tokamak::reference
#endif
