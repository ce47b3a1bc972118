// Where in a program an MLIR location is.
//
//   support::placeOf(op->getLoc());           // l2svm.dml, 61, 13
//   support::placesOf(op->getLoc());          // and of the calls that led there
//   support::variableAt(value.getLoc());      // "beta"
//   Error error("sizes differ");
//   support::locate(error, op->getLoc());     // they do so there
#ifndef TOKAMAK_SUPPORT_SOURCELOCATIONS_H
#define TOKAMAK_SUPPORT_SOURCELOCATIONS_H

#include "base/Error.h"

#include "mlir/IR/Location.h"

namespace tokamak::support {

// The place, and behind it those of the calls through which inlined code was reached, innermost first. Looks through
// names; of a fused location, takes the first part that has a place. Of a whole file, the first has no line; all others have one.
std::vector<SourcePlace> placesOf(mlir::Location location);

// The first of them; unknown of generated code.
SourcePlace placeOf(mlir::Location location);

// Gives an error its place and call stack, unless it has a place already.
void locate(Error &error, mlir::Location location);

// Adds `location`, the call of the function in which the error happened, to its call stack.
void traceCall(Error &error, mlir::Location location);

// The variable that a location is named after, in the function itself where it was inlined; "" if there is none.
llvm::StringRef variableAt(mlir::Location location);

} // namespace tokamak::support
#endif
