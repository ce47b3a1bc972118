// Says in an Error where in the source it happened.
//
//   catch (Error &error) { locate(error, operation.getLoc()); throw; }
#ifndef TOKAMAK_REFERENCE_SOURCETRACE_H
#define TOKAMAK_REFERENCE_SOURCETRACE_H

#include "base/Error.h"

#include "mlir/IR/Location.h"

namespace tokamak::reference {

// The error happened at `location`, unless its place is known already. Names are looked through, of
// a fused location the first part that has a place counts; of a call site it is the callee, and the
// callers go on the call stack.
void locate(Error &error, mlir::Location location);

// The function in which the error happened was called at `location`.
void traceCall(Error &error, mlir::Location location);

} // namespace tokamak::reference
#endif
