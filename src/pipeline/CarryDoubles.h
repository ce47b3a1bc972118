// Carries numbers through loops and branches as doubles where nothing can tell that some are integers.
//
//   carryDoubles(module);
//
// In DML, a sum begins with an integer, s = 0, and goes on as a double, s = s + as.scalar(X[i, j]) in a branch or in an inner
// loop, so that its type is known during the run only. Loops around it were not compiled, since of each variable they
// want one type.
#ifndef TOKAMAK_PIPELINE_CARRYDOUBLES_H
#define TOKAMAK_PIPELINE_CARRYDOUBLES_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Numbers of type !tok.scalar become f64 if they are doubles at all times, as what doubles are added to. So do those that
// may be integers as small as constants are, or as what of these is larger or is left by a division, if they are only computed
// with doubles, compared, and used as doubles: such an integer behaves like a double there.
void carryDoubles(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
