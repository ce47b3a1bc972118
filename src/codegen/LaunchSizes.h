// The sizes of an operator as functions of the sizes of its array operands, which is what a launch
// of the kernel knows. In MLIR:
//
//   plan.operator (%x = %X ["s3 + 1", 10], %s = %S) ...
//
// Of this operator:
//
//   sizeAtLaunch(op, *Size::parse("s3 + 1"))     // abi::sizeOfInput(0, 0)
#ifndef TOKAMAK_CODEGEN_LAUNCHSIZES_H
#define TOKAMAK_CODEGEN_LAUNCHSIZES_H

#include "abi/KernelPlan.h"
#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

// `size` is constant, a size of an operand, or computed from such sizes.
Size sizeAtLaunch(plan::OperatorOp op, const Size &size);

} // namespace tokamak::codegen
#endif
