// Gives each value of a program that calls `lineage` a second value beside it, its trace: what the value was computed by and
// of, as a list that the runtime makes while the program runs. Traces go wherever values go: through branches, loops and
// functions.
//
//   traceLineage(program);       // the trace of X * 2: list("(I) *2", the trace of X, list("(L) 2·SCALAR·INT64·true"))
//
// An item's text begins with (C) for what creates a value, (L) for a literal, (I) for an operation; then comes the name that
// SystemDS has for it (TraceItems.h).
#ifndef TOKAMAK_FRONTEND_DML_TRACELINEAGE_H
#define TOKAMAK_FRONTEND_DML_TRACELINEAGE_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::frontend {

// Does nothing in a program without `lineage` and `autoDiff`. Operations tok.native "lineage" and "affine_operands" take the
// trace of their operand afterwards.
void traceLineage(mlir::ModuleOp module);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_TRACELINEAGE_H
