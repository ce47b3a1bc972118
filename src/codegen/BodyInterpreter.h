// For tests: what the body of a plan.operator means, computed value by value with plain loops over the
// axes. The arrays have any rank; cells are floats.
//
//   std::vector<Cells> results = interpretBody(op, {x, y}, {0.5});
#ifndef TOKAMAK_CODEGEN_BODYINTERPRETER_H
#define TOKAMAK_CODEGEN_BODYINTERPRETER_H

#include "codegen/KernelLauncher.h"
#include "ir/plan/PlanDialect.h"

#include <vector>

namespace tokamak::codegen {

// An array, or the cells of a value over its axes; the last dimension runs fastest.
struct Cells {
  std::vector<int64_t> sizes;
  std::vector<double> cells;
};

// Fails the current test where a place is outside of an array. Drivers change nothing: the body is
// evaluated everywhere.
std::vector<Cells> interpretBody(plan::OperatorOp op, const std::vector<Cells> &arrays,
                                 const std::vector<double> &scalars);

// The same with matrices; scalars are 1×1.
std::vector<Matrix> interpretBody(plan::OperatorOp op, const std::vector<Matrix> &matrices,
                                  const std::vector<double> &scalars);

} // namespace tokamak::codegen
#endif
