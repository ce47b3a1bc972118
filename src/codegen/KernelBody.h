// What a plan.operator computes, in the terms of code generation: an iteration space of rows x
// columns, the extent of each value in this space, and the results ("roots").
//
//   auto body = KernelBody::analyze(op);           // llvm::FailureOr<KernelBody>
//   Extent extent = body->extentOf(value);
//
//   sum(X * v), X m×n, v m×1:  X and the product are Wide, v is PerRow,
//                              one root: FullAggregate of the product
//   matmul(t(X), w * matmul(X, v)):  X is Wide, v Shared, the inner product PerRow,
//                              one root: ColumnAggregate of X with the factor w * (X v)
//   matmul(t(X), Q), Q = P * matmul(X, V), V n×10:  X is Wide, V Shared, P and Q are Narrow,
//                              one root: TransposedProduct of X and Q
//
// Which bodies are accepted (all others fail with an error at the operator):
//
//   Flat: every array has the shape of the iteration space or is 1×1; cell operators on them;
//   results are such values and their full aggregates (sum, prod, min, max).
//
//   Rows: all values that extend over rows have the same number m of them. Their widths: one, the
//   main width n, may be anything (a symbol, a constant); every other one is 1 or a constant k of
//   at most mostNarrowColumns. Several different k are allowed.
//     inputs     m×n, m×k, m×1, 1×n, 1×k, 1×1, scalars, and the right operands of products
//     cells      operators with a result m×w, from operands m×w, m×1, 1×w, 1×1 and scalars
//                (w is n or a k); or with a result m×1, 1×w or 1×1 from operands of that shape,
//                1×1 and scalars
//     per row    aggregates sum, prod, min, max, index_max, index_min of a value m×w: m×1
//     products   matmul(A, B): A a value m×w, B an input w×q or the transpose of an input q×w: m×q.
//                q is 1, a k, or n where n is a constant of at most mostNarrowColumns; it is any n
//                where A is m×1, or where A is m×k and B is not transposed
//                The values of all these kinds may be results, and operands of further operations.
//     over rows  as results only: aggregates sum, prod, min, max of a value m×w, full (also m×1) or
//                by columns (1×w); matmul(transpose(A), Q) of two values m×w and m×v: w×v, where at
//                most one of w and v is neither 1 nor a k (t(X) X needs a constant n of at most
//                mostNarrowColumns)
//     results    any number of these, of any widths
//
//   Element types: any, several in one body; products are of f64 or f32. Operators compute in the type
//   of their arrays, to which scalar operands are converted before (VectorBuilder.h). Aggregates and
//   products of floats accumulate doubles, those of integers 64-bit integers; they are converted to
//   their result's type once.
#ifndef TOKAMAK_CODEGEN_KERNELBODY_H
#define TOKAMAK_CODEGEN_KERNELBODY_H

#include "abi/KernelPlan.h"
#include "base/CellOperators.h"
#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

// Widths other than the main one are constants of at most this.
constexpr int64_t mostNarrowColumns = 64;

// A constant main width of at most this counts as narrow too: for such short rows, vectors across
// rows are filled better than vectors along columns.
constexpr int64_t mostNarrowMainColumns = 16;

// The shape of a value in the iteration space: m×n, m×k, m×1, 1×n, 1×k, or the same everywhere. In
// a flat kernel all cells are Wide; in a row kernel with one column (n = 1) they are PerRow.
enum class Extent : uint8_t { Wide, Narrow, PerRow, Shared, SharedNarrow, Uniform };

// One result of the operator.
struct Root {
  enum class Kind : uint8_t { Array, FullAggregate, ColumnAggregate, TransposedProduct };
  Kind kind = Kind::Array;
  AggregateKind aggregate = AggregateKind::Sum;
  mlir::Value value;
  // Not null: the root is the sum of value * factor, with a PerRow factor. In a TransposedProduct:
  // t(value) %*% factor.
  mlir::Value factor;
  mlir::Type type; // of the result
};

// The right operand B of a row product matmul(A, B): an input or the transpose of an input.
struct ProductOperand {
  mlir::BlockArgument input;
  bool isTransposed = false;
};

// `analyze` reads the whole operator once; all accessors are lookups.
class KernelBody {
public:
  // Fails with an error at the operation if the body is not among those listed above.
  static llvm::FailureOr<KernelBody> analyze(plan::OperatorOp op);

  plan::OperatorOp op() const { return op_; }
  // One loop over cells: every array has the shape of the iteration space or is 1×1.
  bool isFlat() const { return flat_; }
  // The number of columns when it is a constant.
  std::optional<int64_t> constantColumns() const;
  Extent extentOf(mlir::Value value) const { return extents_.lookup(value); }
  // Columns of a value that is Narrow or SharedNarrow.
  int64_t narrowColumns(mlir::Value value) const;
  llvm::ArrayRef<Root> roots() const { return roots_; }
  // The index of `input` among the array operands, or among the scalar operands.
  unsigned arrayIndex(mlir::BlockArgument input) const { return inputIndex_.lookup(input); }
  unsigned scalarIndex(mlir::BlockArgument input) const { return inputIndex_.lookup(input); }
  unsigned arrayCount() const { return arrayCount_; }

  // A plan with iteration space, inputs, outputs and bytes per step. The emitter adds code, name
  // and the size of scratch memory.
  abi::KernelPlan describe() const;

private:
  llvm::LogicalResult findIterationSpace();
  llvm::LogicalResult chooseColumns(llvm::ArrayRef<Size> widths);
  llvm::LogicalResult classify();
  llvm::LogicalResult classifyInputs();
  llvm::LogicalResult classifyOperation(mlir::Operation &operation, bool &needsRows);
  llvm::LogicalResult classifyProduct(tok::MatmulOp product);
  llvm::LogicalResult checkRoots() const;
  std::optional<Extent> extentFor(mlir::Value value) const;
  bool hasShapeOfSpace(mlir::Value value) const;
  bool isOnlyRow(tok::AggregateOp aggregate) const;
  llvm::LogicalResult checkCell(mlir::Operation &operation, Extent extent);
  llvm::LogicalResult findRoots();
  tok::Facts factsOf(mlir::Value value) const { return facts_.lookup(value); }
  int32_t inputWithOuterDimensionsOf(mlir::Value result) const;

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  llvm::DenseMap<mlir::Value, tok::Facts> facts_;
  llvm::DenseMap<mlir::Value, Extent> extents_;
  llvm::DenseMap<mlir::Value, unsigned> inputIndex_;
  llvm::SmallVector<Root> roots_;
  Size rows_ = Size::constant(1), columns_ = Size::constant(1);
  unsigned arrayCount_ = 0;
  bool flat_ = false;
};

// Looks through casts that don't change the value, as from a 1×1 array of f32 to a double.
mlir::Value withoutCasts(mlir::Value value);
// Unary, binary, ifelse, constant, and casts to another element type.
bool isCell(mlir::Operation *operation);

// True for matmul(x, b), the rows of x times an input; the other products are
// matmul(transpose(x), u), sums over the rows.
bool isRowProduct(tok::MatmulOp op);
ProductOperand productOperand(tok::MatmulOp rowProduct);

inline bool extendsOverRows(Extent extent) {
  return extent == Extent::Wide || extent == Extent::Narrow || extent == Extent::PerRow;
}

} // namespace tokamak::codegen
#endif
