// A plan.operator in the terms of the emitters for dense kernels: which of its axes are the rows of
// a tile and which the columns, how a value extends over them, and the results ("roots").
//
//   auto body = KernelBody::analyze(op);           // llvm::FailureOr<KernelBody>
//   Extent extent = body->extentOf(value);
//
// The extents in some operators, in DML:
//
//   sum(X * v), v m×1:      X and the product are Wide, v is PerRow, one root: FullAggregate
//   t(X) %*% (w * (X %*% v)):   X is Wide, v Shared, the inner product PerRow, one root:
//                           ColumnAggregate of the product with X
//   t(X) %*% Q, Q = P * (X %*% V), V n×10:  X is Wide, P and Q are Narrow, one root:
//                           TransposedProduct of X and Q
//
// Axes that no value tells apart count as one. A body with one of them is flat: one loop over cells.
// In the others the first is the rows, all others are columns: the longest may have any length
// (the main width), every other a constant of at most mostNarrowColumns. A value runs over at most
// one of these, but for the products in a sum, as text:
//
//   over columns   the sum over w of A(i, w) * B(w, q), where B is read from an operand: a product
//                  of rows. q is narrow, or the main width where that is narrow itself or A is
//                  narrow and B not read transposed
//   over rows      the sum over i of A(i, w) * Q(i, v): a TransposedProduct, of which one side is
//                  narrow
//
// What is summed over rows is only known at the end, so it is a result and nothing else. Operands
// are read along their rows; all other bodies fail with an error at the operator.
#ifndef TOKAMAK_CODEGEN_KERNELBODY_H
#define TOKAMAK_CODEGEN_KERNELBODY_H

#include "abi/KernelPlan.h"
#include "base/CellOperators.h"
#include "ir/plan/IterationSpace.h"
#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

using plan::cellsOf;
using plan::mostNarrowColumns;

// A constant main width of at most this counts as narrow too: for such short rows, vectors across
// rows are filled better than vectors along columns. Bits of sums depend on it, so it is the same on
// every machine.
constexpr int64_t mostNarrowMainColumns = 16;

// How a value extends: over rows and the main width, rows and a narrow width, rows, the main width,
// a narrow width, or not at all. In a flat kernel all cells are Wide. Factor: any other, of
// products.
enum class Extent : uint8_t { Wide, Narrow, PerRow, Shared, SharedNarrow, Uniform, Factor };

// One result of the operator.
struct Root {
  enum class Kind : uint8_t { Array, FullAggregate, ColumnAggregate, TransposedProduct };
  Kind kind = Kind::Array;
  AggregateKind aggregate = AggregateKind::Sum;
  mlir::Value value;
  mlir::Value factor; // TransposedProduct: the rows of the result are the columns of `value`
};

// A product of rows: the sum over the columns of `left` of left * right.
struct RowProduct {
  mlir::Value left;
  plan::ReadOp right;
  bool isTransposed; // `right` is read along its rows
};

// `analyze` reads the whole operator once; all accessors are lookups.
class KernelBody {
public:
  // Fails with an error at the operation if the body is not among those listed above.
  static llvm::FailureOr<KernelBody> analyze(plan::OperatorOp op);

  plan::OperatorOp op() const { return op_; }
  mlir::Block &block() const { return op_.getBody().front(); }
  bool isFlat() const { return flat_; }
  // The number of columns when it is a constant.
  std::optional<int64_t> constantColumns() const;
  Extent extentOf(mlir::Value value) const;
  // Columns of a value that is Narrow or SharedNarrow.
  int64_t narrowColumns(mlir::Value value) const;
  llvm::ArrayRef<Root> roots() const { return roots_; }
  // Null if `reduce` is no product of rows with several columns in the result.
  const RowProduct *productOf(mlir::Operation *reduce) const {
    auto found = products_.find(reduce);
    return found == products_.end() ? nullptr : &found->second;
  }
  // The index of what is read among the array operands, or among the scalar operands.
  unsigned inputIndex(plan::ReadOp read) const { return inputIndex_.lookup(read.getOperand()); }
  unsigned arrayCount() const { return arrayCount_; }

  // A plan with iteration space, inputs, outputs and bytes per step. The emitter adds code, name
  // and the size of scratch memory.
  abi::KernelPlan describe() const;

private:
  llvm::LogicalResult findAxes();
  llvm::LogicalResult findRoots();
  llvm::LogicalResult checkOperation(mlir::Operation &operation);
  llvm::LogicalResult checkRead(plan::ReadOp read);
  llvm::LogicalResult checkReduction(plan::ReduceOp reduce);
  llvm::LogicalResult noteProduct(plan::ReduceOp reduce, plan::BinaryOp product);
  bool runsOverRows(plan::CellType cell) const { return cell.runsOver(rows_.front()); }
  bool isOverRows(plan::ReduceOp reduce) const;
  bool isOfOnlyRow(plan::ReduceOp reduce) const;
  // The axes of a cell other than rows.
  llvm::SmallVector<unsigned, 2> columnAxes(mlir::Value cell) const;

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  llvm::SmallVector<Size> axes_;
  llvm::SmallVector<unsigned> rows_; // axes
  Size columns_ = Size::constant(1);
  llvm::DenseMap<mlir::Value, unsigned> inputIndex_;
  llvm::DenseMap<mlir::Operation *, RowProduct> products_;
  llvm::SmallVector<Root> roots_;
  unsigned arrayCount_ = 0;
  bool flat_ = false;
};

// The value that a factor of a product is a copy of: without conversions to doubles and changes of
// its axis.
mlir::Value withoutCopies(mlir::Value value);
// Unary, binary, ifelse, cast and constant.
bool isCell(mlir::Operation *operation);
bool isRead(mlir::Value value);
// Whether only binary operations, casts and sums of products read the value: no code is generated
// for the cells of a factor by themselves.
bool isOnlyFactor(mlir::Operation *operation);
// Whether the aggregate is a result that nothing in the body computes with.
bool isOnlyWritten(plan::ReduceOp reduce);
// Whether the cells of each row are read one after the other in memory. Fails with an error at the
// operation where there is no code for its places.
llvm::FailureOr<bool> isReadAlongRows(plan::ReadOp read);

// Types, layouts and sizes of inputs and results as a launch needs them. All results are described
// as partial ones.
abi::KernelPlan describeArrays(plan::OperatorOp op);

} // namespace tokamak::codegen
#endif
