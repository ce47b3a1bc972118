// Writes operations of `tok` as the body of a plan.operator: one rule for each operation says which
// axes it runs over, how it reads its operands, and what it reduces.
//
//   BodyBuilder body(operatorOp, space, sizesOf);
//   body.add(sum, {{x, argument}});                 // x is read from an operand of the operator
//   body.add(exp, {{sum.getResult()}});             // an operation of the body
//   body.write({exp.getResult()});                  // result 0
//   body.finish();                                  // sets the axes of the operator
//
// What some operations become, in MLIR:
//
//   tok.binary mul %X, %v       reads v at (d0, 0): mul runs over d0 and d1
//   tok.aggregate sum row %X    reduce over [d1]
//   tok.matmul %X, %B           reads B at (d1, d2): reduce over [d1] of X * B, which runs over d0, d1, d2
//   tok.matmul t(%X), %Q        reduce over [d0] of X * Q
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

class BodyBuilder {
public:
  using SizesOf = llvm::function_ref<llvm::ArrayRef<Size>(mlir::Value)>;
  // Appends to the body of `op`, whose region has one block with the operands as arguments.
  // `sizesOf` gives the sizes of values of tok; it must outlive the builder.
  BodyBuilder(OperatorOp op, const Shape &space, SizesOf sizesOf);

  // `operation` is a unary, binary, ifelse, cast between arrays, aggregate or matmul. Each of its
  // array operands runs over axes of the space (axesOf); the right operand of a matmul is read.
  void add(mlir::Operation *operation, llvm::ArrayRef<BodyOperand> operands);
  // t(left) %*% right.
  void addTransposedProduct(tok::MatmulOp product, const BodyOperand &left,
                            const BodyOperand &right);
  // Writes to the next result of the operator, or its transpose.
  void write(const BodyOperand &result, bool transposed = false);
  void finish();

private:
  using Place = llvm::SmallVector<mlir::AffineExpr, 2>; // one for each dimension of an array
  // What was computed for a value of tok.
  struct Computed {
    mlir::Value cell;
    Place place;
  };
  struct OtherAxis {
    Size size;
    unsigned number;
  };

  void addCells(mlir::Operation *operation, llvm::ArrayRef<BodyOperand> operands);
  void addAggregate(tok::AggregateOp aggregate, const BodyOperand &operand);
  void addProduct(tok::MatmulOp product, const BodyOperand &left, const BodyOperand &right);
  mlir::Value reducedProduct(mlir::Value left, mlir::Value right, llvm::ArrayRef<int64_t> over,
                             mlir::Type element);
  mlir::Value reduce(AggregateKind kind, mlir::Value operand, llvm::ArrayRef<int64_t> over,
                     mlir::Type accumulator, mlir::Type element);

  mlir::Value cellOf(const BodyOperand &operand);
  mlir::Value cellOf(const BodyOperand &operand, mlir::Type element);
  mlir::Value read(const BodyOperand &operand, const Place &place);
  mlir::Value convert(mlir::Value cell, mlir::Type element);
  mlir::Value constant(tok::ConstantOp literal, mlir::Type element);

  Shape shapeOf(mlir::Value value) const { return Shape::of(sizesOf_(value)); }
  // Where the array lies, by axesOf; nothing for scalars.
  Place placeOf(mlir::Value value);
  mlir::AffineExpr columnsOf(const Shape &shape);
  unsigned otherAxis(const Size &size, std::optional<unsigned> notThis = {});
  mlir::AffineMap mapOf(llvm::ArrayRef<mlir::AffineExpr> place) const;
  mlir::Value reindexed(mlir::Value cell, mlir::AffineExpr from, mlir::AffineExpr to);
  mlir::Type cellType(llvm::ArrayRef<unsigned> axes, mlir::Type element) const;
  mlir::Type unionOf(mlir::ValueRange cells, mlir::Type element) const;
  void note(mlir::Operation *operation, mlir::Value cell, Place place);

  OperatorOp op_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  Shape space_;
  SizesOf sizesOf_;
  llvm::SmallVector<Size> axes_;
  unsigned rowAxes_ = 1;               // axes 0 ... rowAxes_ - 1
  std::optional<unsigned> columnAxis_; // none if there is one column
  llvm::SmallVector<OtherAxis> others_;
  int64_t results_ = 0;
  llvm::DenseMap<mlir::Value, Computed> computed_;
  llvm::SmallVector<ReadOp> reads_;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> converted_;
};

} // namespace tokamak::plan
#endif
