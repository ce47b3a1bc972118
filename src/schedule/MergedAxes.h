// Axes that can be walked as one: neighbours that all values run over together and that lie behind
// one another in all arrays, so that the cells of a matrix are one long row.
//
//   llvm::BitVector merged = mergedAxes(op);
//   if (merged[0])                           // d0 and d1 can be one loop over d0 * d1 places
//
// Axes of size 1 are passed over: there is nothing to walk along them.
#ifndef TOKAMAK_SCHEDULE_MERGEDAXES_H
#define TOKAMAK_SCHEDULE_MERGEDAXES_H

#include "ir/plan/PlanDialect.h"

#include "llvm/ADT/BitVector.h"

namespace tokamak::schedule {

// For each axis whether it and the next one, but for those of size 1, can be walked as one.
llvm::BitVector mergedAxes(plan::OperatorOp op);

} // namespace tokamak::schedule
#endif
