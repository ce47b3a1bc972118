// Loop-invariant code motion: what gives the same in every iteration is computed once before the
// loop.
//
//   hoistInvariants(module);
#ifndef TOKAMAK_PIPELINE_HOISTINVARIANTS_H
#define TOKAMAK_PIPELINE_HOISTINVARIANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// The loop may run no iteration, so only what can't fail is hoisted: operations that are
// speculatable, of values that are sure to be there.
void hoistInvariants(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
