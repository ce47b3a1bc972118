// What the body of a plan.operator means, computed value by value with plain loops over the axes. The
// reference runs operators of a program's text by it; tests compare kernels with it.
//
//   using tokamak::plan::CellArray;
//   CellArray x{{2, 3}, {1, 2, 3, 4, 5, 6}}, factor{{}, {0.5}};
//   std::vector<CellArray> results = tokamak::plan::meaningOf(op, {x, factor});
#ifndef TOKAMAK_IR_PLAN_BODYMEANING_H
#define TOKAMAK_IR_PLAN_BODYMEANING_H

#include "ir/plan/PlanDialect.h"

#include <vector>

namespace tokamak::plan {

// An array, or a scalar, which has no sizes and one cell; the last dimension runs fastest. Cells of
// floats are numbers of their type, held as doubles; those of integers and i1 are in `integers`.
struct CellArray {
  std::vector<int64_t> sizes;
  std::vector<double> cells;
  std::vector<int64_t> integers = {};
};

// One array for each operand, in order. Sums of floats are added in long double and rounded to the
// result's type. Drivers change nothing: the body is evaluated everywhere. Throws Error where an
// operand has other sizes than the operator says, or where a place is outside of an array.
std::vector<CellArray> meaningOf(OperatorOp op, std::vector<CellArray> operands);

} // namespace tokamak::plan
#endif
