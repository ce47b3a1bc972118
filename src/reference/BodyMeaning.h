// What a plan.operator means: its body, computed value by value with plain loops over the axes. The reference
// runs the operators of a program's text by it; tests compare kernels with it.
//
//   using tokamak::reference::CellArray;
//   CellArray x{{2, 3}, {1, 2, 3, 4, 5, 6}}, factor{{}, {0.5}};
//   std::vector<CellArray> results = tokamak::reference::meaningOf(op, {x, factor});
#ifndef TOKAMAK_REFERENCE_BODYMEANING_H
#define TOKAMAK_REFERENCE_BODYMEANING_H

#include "ir/plan/PlanDialect.h"
#include "runtime/values/Value.h"

#include <span>
#include <vector>

namespace tokamak::reference {

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
std::vector<CellArray> meaningOf(plan::OperatorOp op, std::vector<CellArray> operands);

// The same for the values of a program; arrays are held as TypedMeaning.h says.
std::vector<runtime::Value> meaningOfBody(plan::OperatorOp op,
                                          std::span<const runtime::Value> operands);

} // namespace tokamak::reference
#endif
