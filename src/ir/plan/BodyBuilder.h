// Writes operations of `tok` as the body of a plan.operator: one rule for each operation says which
// axes it runs over, how it reads its operands, and what it reduces.
//
//   BodyBuilder body(operatorOp, space, {sum, exp}, sizesOf);
//   body.add(sum, {{x, argument}});                 // x is read from an operand of the operator
//   body.add(exp, {{sum.getResult()}});             // an operation of the body
//   body.write(exp.getResult());                    // result 0
//   body.finish();                                  // sets the axes of the operator
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
#ifndef TOKAMAK_IR_PLAN_BODYBUILDER_H
#define TOKAMAK_IR_PLAN_BODYBUILDER_H

#include "ir/plan/IterationSpace.h"
#include "ir/plan/PlanDialect.h"

#include "llvm/ADT/EquivalenceClasses.h"
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
  // `operations` are all that will be added. `sizesOf` gives the sizes of values of tok; it must
  // outlive the builder.
  BodyBuilder(OperatorOp op, const Shape &space, llvm::ArrayRef<mlir::Operation *> operations,
              SizesOf sizesOf);

  // `operation` is a unary, binary, ifelse, cast between arrays, aggregate, matmul, cbind or
  // cumulative aggregate. Each of its array operands runs over axes of the space (axesOf); the right
  // operand of a matmul is read. What cbind makes can only be written.
  void add(mlir::Operation *operation, llvm::ArrayRef<BodyOperand> operands);
  // t(left) %*% right.
  void addTransposedProduct(tok::MatmulOp product, const BodyOperand &left,
                            const BodyOperand &right);
  // The part of an operand of the operator from a row and a column on, which count from 0.
  void addSlice(tok::SliceOp slice, const BodyOperand &operand, const Size &row,
                const Size &column);
  // Writes what was added to the next result of the operator, or its transpose.
  void write(mlir::Value result, bool transposed = false);
  void finish();

private:
  using Place = llvm::SmallVector<mlir::AffineExpr, 2>; // one for each dimension of an array
  // What was computed for a value of tok; several parts of one that is only written.
  struct Computed {
    mlir::Value cell;
    Place place;
    llvm::SmallVector<mlir::Value, 1> indices = {}; // of the place
  };

  void addCells(mlir::Operation *operation, llvm::ArrayRef<BodyOperand> operands);
  void addAggregate(tok::AggregateOp aggregate, const BodyOperand &operand);
  void addProduct(tok::MatmulOp product, const BodyOperand &left, const BodyOperand &right);
  void addColumns(tok::CbindOp cbind, llvm::ArrayRef<BodyOperand> operands);
  mlir::Value reducedProduct(mlir::Value left, mlir::Value right, llvm::ArrayRef<int64_t> over,
                             mlir::Type element);
  // Creates an operation whose result runs over the axes that its operands require (axesOf).
  template <typename Op, typename... Arguments>
  mlir::Value create(mlir::Type element, Arguments &&...arguments);
  void note(mlir::Operation *operation, mlir::Value cell, Place place);

  // Its cells in their own element type, if no other is given.
  mlir::Value cellOf(const BodyOperand &operand, mlir::Type element = {});
  mlir::Value read(const BodyOperand &operand, const Place &place, mlir::ValueRange indices = {});
  mlir::AffineExpr moved(mlir::AffineExpr place, const Size &distance,
                         llvm::SmallVectorImpl<mlir::Value> &indices);
  mlir::Value convert(mlir::Value cell, mlir::Type element);
  mlir::Value constant(tok::ConstantOp literal, mlir::Type element);

  Shape shapeOf(mlir::Value value) const { return Shape::of(sizesOf_(value)); }
  // Where the array lies, by axesOf; nothing for scalars.
  Place placeOf(mlir::Value value);
  mlir::AffineExpr columnsOf(mlir::Value array);
  // An axis as long as the columns of the array, other than this one.
  mlir::AffineExpr spareAxis(mlir::Value array, mlir::AffineExpr notThis);
  mlir::AffineMap mapOf(llvm::ArrayRef<mlir::AffineExpr> place, unsigned symbols = 0) const;
  mlir::Value reindexed(mlir::Value cell, mlir::AffineExpr from, mlir::AffineExpr to);

  OperatorOp op_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  Shape space_;
  SizesOf sizesOf_;
  llvm::SmallVector<Size> axes_;
  unsigned rowAxes_ = 1;               // axes 0 ... rowAxes_ - 1
  std::optional<unsigned> columnAxis_; // none if there is one column, but for scans
  // Arrays whose cells are combined with each other have their columns along one axis.
  llvm::EquivalenceClasses<void *> combined_;
  llvm::DenseMap<void *, unsigned>
      axisOf_; // by leader of `combined_`: axes that are no columns of the space
  llvm::SmallVector<unsigned>
      spare_; // axes along which products read rows that they are combined with
  int64_t results_ = 0;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Computed, 1>> computed_;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> converted_;
};

} // namespace tokamak::plan
#endif
