// Sums of products that are symmetric matrices, such as t(X) %*% (w * X): half of their cells are computed, and
// the others are their mirror images.
//
//   if (isSymmetric(reduce, line, column))   // axes of the same size
//     computeUpperHalf();
#ifndef TOKAMAK_CODEGEN_LOOPS_SYMMETRICSUMS_H
#define TOKAMAK_CODEGEN_LOOPS_SYMMETRICSUMS_H

#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

// Whether the aggregate is a sum of products whose factors are the same after two of their axes are exchanged.
// The cell (i, j) may differ from (j, i) by the order in which factors are multiplied, which is rounding.
bool isSymmetric(plan::ReduceOp reduce, unsigned x, unsigned y);

} // namespace tokamak::codegen
#endif
