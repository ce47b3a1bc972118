// Operators in a form that many programs share: nothing of the program is left in their kernels but what
// is computed. Without fusion, operators take it, so that few kernels serve all programs; those that
// are built into Tokamak are of this form, too. With fusion, small operators take it, for which compiling
// takes longer than they run: those that do one thing, and those that only compute cells. Of larger ones
// that only compute cells in long rows the sizes become general, and of convolutions those but for the columns, so that a
// network's layers share kernels.
//
//   makeOperatorsGeneral(block, Generality::Small);
//
// In the general form each axis has a size of its own, unless that is 1, no matter what is known of it,
// and numbers of the program are operands: X * 0.1, of a matrix with 10 columns, is X * s of one with
// s1 columns. An operator whose places don't follow from its axes alone stays as it is.
#ifndef TOKAMAK_PIPELINE_GENERALOPERATORS_H
#define TOKAMAK_PIPELINE_GENERALOPERATORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>

namespace tokamak::pipeline {

enum class Generality : uint8_t {
  Small, // operators that ask for little code
  All,
};
void makeOperatorsGeneral(mlir::func::FuncOp block, Generality which);

} // namespace tokamak::pipeline
#endif
