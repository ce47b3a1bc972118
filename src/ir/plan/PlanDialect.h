// The `plan` dialect: fused operators between fusion and code generation (PlanOps.td).
//
//   for (plan::OperatorOp op : block.getOps<plan::OperatorOp>())
//     for (plan::ReadOp read : op.getBody().getOps<plan::ReadOp>())
//       plan::CellType cell = read.getCell().getType();      // its axes and its element type
#ifndef TOKAMAK_IR_PLAN_PLANDIALECT_H
#define TOKAMAK_IR_PLAN_PLANDIALECT_H

#include "ir/tok/TokDialect.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace tokamak::plan {

enum class AxisKind : uint8_t {
  Parallel,
  Reduced, // something is reduced over it
  Scanned, // something is scanned along it
};

// What cells run over together, and what the map depends on: axes in ascending order.
llvm::SmallVector<unsigned> axesOf(mlir::ValueRange cells, mlir::AffineMap map = {});
// What the result of an operation of a body runs over: the axes of all that it is computed of, but
// for those that it reduces or reads elsewhere.
llvm::SmallVector<unsigned> axesOf(mlir::Operation *operation);

} // namespace tokamak::plan

#include "PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "PlanOps.h.inc"

namespace tokamak::plan {

// What a body is called in names of kernels and explanations follows from what it does:
//   cell       all that is computed runs over all axes, or is reduced over them
//   row        something runs over some of the axes only
//   multiagg   several results, each reduced over all axes
//   outer      products of two rows, computed at the entries of a driver
llvm::StringRef nameOfBody(OperatorOp op);

// The element type of a cell.
ElementType cellsOf(mlir::Value cell);
// The type of the cells as which an operand is read or a result written: that of an array's
// elements, i64 of a scalar of this type, f64 of every other scalar.
mlir::Type cellsOfOperand(mlir::Type operand);

// For `sum(a * b)` where the product is computed in the accumulator's type, and so by a fused
// multiply-add: the product; else null.
BinaryOp productIn(ReduceOp reduce);

// Whether a factor is read so that neighbours along the axes of its sum lie further apart than rows of the array, or at
// places of windows: channels of an image.
bool isSpread(ReadOp factor, ReduceOp sum);

} // namespace tokamak::plan
#endif
