// Writes operations of `tok` as the body of a plan.operator: one rule for each operation says which
// axes it runs over, how it reads its operands, and what it reduces.
//
//   buildBody(operatorOp, space,
//             {{sum, {{x, argument}}},               // x is read from an operand of the operator
//              {exp, {{sum.getResult()}}}},          // an operation of the body
//             {{exp.getResult()}}, sizesOf);         // result 0
//
// What some operations become, in MLIR:
//
//   tok.binary mul %X, %v       reads v at (d0, 0): mul runs over d0 and d1
//   tok.aggregate sum row %X    reduce over [d1]
//   tok.matmul %X, %B           reads B at (d1, d2): reduce over [d1] of X * B, which runs over d0, d1, d2
//   tok.matmul t(%X), %Q        reduce over [d0] of X * Q
//   tok.slice %X, 3, ...        reads X at (d0 + 2, d1)
//   tok.cbind %X, %Y            writes of X at (d0, d1) and of Y at (d0, d2 + ncol(X))
//   tok.native "cumsum"(%X)     scan sum over [d0]
//   tok.native "convolve"(%I, %W, ...)   reads I at (d0, d4, d2 + d5 - 1, d3 + d6 - 1), and zeros outside, W at
//                               (d1, d4, d5, d6): reduce over [d4, d5, d6] of I * W
//   tok.seq 3, 9, none          the number of each place along d0, plus 2
#ifndef TOKAMAK_IR_PLAN_BODYBUILDER_H
#define TOKAMAK_IR_PLAN_BODYBUILDER_H

#include "ir/plan/IterationSpace.h"
#include "ir/plan/PlanDialect.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tokamak::plan {

// An operand of an operation: computed in the body, a literal, or read from an operand of the
// operator.
struct BodyOperand {
  mlir::Value value;                 // of tok
  mlir::BlockArgument argument = {}; // of the operator's body; null if it is not read
  bool isTransposed = false;         // `argument` holds the transpose of `value`
};

// Where the windows of a convolution lie along one dimension of the image: place p of window w is at
// first + w * step + p * spacing, counted from 0.
struct WindowedDimension {
  int64_t first, step, spacing;
  bool operator==(const WindowedDimension &other) const = default;
};

// A unary, binary, ifelse, cast between arrays, aggregate, matmul, slice, cbind, cumulative
// aggregate, convolution, or a sequence of whole numbers. Each of its array operands runs over axes of the space
// (axesOf); the right operand of a matmul is read, and so are image and weights. Of t(X) %*% Y, the first operand
// is X. What cbind makes can only be written.
struct BodyStep {
  mlir::Operation *operation;
  llvm::SmallVector<BodyOperand, 3> operands;
  llvm::SmallVector<Size, 2> begin = {}; // of a slice: its first row and column, from 0
  bool isFalling = false;                // of a sequence
  llvm::SmallVector<WindowedDimension, 0> windows = {}; // of a convolution, by dimension
};

struct BodyResult {
  mlir::Value value;         // of a step
  bool isTransposed = false; // its transpose is written
};

using SizesOf = llvm::function_ref<llvm::ArrayRef<Size>(mlir::Value)>;

// Appends to the body of `op`, whose region has one block with the operands as arguments, and sets
// the axes of `op`. `sizesOf` gives the sizes of values of tok.
void buildBody(OperatorOp op, const Shape &space, llvm::ArrayRef<BodyStep> steps,
               llvm::ArrayRef<BodyResult> results, SizesOf sizesOf);

} // namespace tokamak::plan
#endif
