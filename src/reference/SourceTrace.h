// Adds source places and the call stack to an Error.
//
//   try {
//     meaningOf(operation, operands, context);
//   } catch (Error &error) {
//     locate(error, operation.getLoc());
//     throw;
//   }
#ifndef TOKAMAK_REFERENCE_SOURCETRACE_H
#define TOKAMAK_REFERENCE_SOURCETRACE_H

#include "base/Error.h"

#include "mlir/IR/Location.h"

namespace tokamak::reference {

// Sets the error's place to `location` unless it already has one. Looks through name locations; of
// a fused location takes the first part that has a place; of a call site takes the callee's place
// and pushes the callers onto the call stack.
void locate(Error &error, mlir::Location location);

// Pushes `location`, the call of the function in which the error happened, onto the call stack.
void traceCall(Error &error, mlir::Location location);

} // namespace tokamak::reference
#endif
