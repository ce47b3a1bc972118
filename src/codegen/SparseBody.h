// A plan.operator with drivers in the terms of code generation: it is evaluated at the entries of a
// sparse operand S (m×n), its first driver, alone. One emitter (SparseEmitter.cpp) serves all of them.
//
//   auto body = SparseBody::analyze(op);            // llvm::FailureOr<SparseBody>
//   SparseKind kind = body->kindOf(value);
//
// The kinds in some operators, in DML:
//
//   sum(S * log(U %*% t(V) + e))             the sampled product, its logarithm, the product: Wide;
//                                            one root: FullAggregate of Wide
//   t(S) %*% (w * (S %*% v))                 S %*% v: PerRow; one root: the ColumnAggregate of a product
//   ((S != 0) * (U %*% t(V) - S)) %*% V      a sampled product inside, a Narrow result
//
// A value is what its axes make it, as a table:
//
//   Wide    over the rows and columns of S, computed at its entries only: the drivers; other sparse
//           operands (a row at a time is expanded) and dense ones; cells; the sum over k of
//           U(i, k) * V(j, k), both operands: a sampled product
//   PerRow  over the rows: operands; cells; aggregates {sum, prod, min, max} of the columns of Wide and
//           Narrow values, such as the sum of products with a PerColumn value
//   PerColumn  over the columns: operands and cells
//   Narrow  over the rows and another axis: operands; cells; the sum over j of Wide(i, j) * B(j, k), B an
//           operand
//   Uniform scalars and literals, cells of them
//
// Results, in any number and combination, as a table:
//
//   Wide    as a sparse array (a Wide result must be one); its aggregate of all cells {sum, prod, min,
//           max} or of columns {sum}, such as sums of products with a PerRow value; the sum over i of
//           Wide(i, j) * Narrow(i, k)
//   PerRow, Narrow  as a dense array; aggregates of all cells or of columns {sum, prod, min, max}
//
// A Wide value that is a result, is aggregated or is a factor of a product must be zero where S has no
// entry; the code that builds the operator proves this (base/SparseSafety.h). Full and row prod, min
// and max take the zeros of these cells into account. All other bodies are rejected with an error at
// the operation.
#ifndef TOKAMAK_CODEGEN_SPARSEBODY_H
#define TOKAMAK_CODEGEN_SPARSEBODY_H

#include "abi/KernelPlan.h"
#include "base/CellOperators.h"
#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

using plan::cellsOf;

// As listed above. PerNarrowColumn: over the other axis. Factor: all other values, in products.
enum class SparseKind : uint8_t {
  Uniform,
  PerRow,
  PerColumn,
  PerNarrowColumn,
  Wide,
  Narrow,
  Factor
};

// One result of the operator.
struct SparseRoot {
  enum class Kind : uint8_t {
    Array,           // sparse if the value is Wide, else dense
    FullAggregate,   // of `value`
    ColumnAggregate, // of a Wide value (sums only) or a Narrow one
    OuterProduct,    // t(value) %*% factor, Wide and Narrow
  };
  Kind kind = Kind::Array;
  AggregateKind aggregate = AggregateKind::Sum;
  mlir::Value value;
  mlir::Value factor; // OuterProduct: Narrow; else null
};

// The sum over j of left(i, j) * right(j, k), or over k of left(i, k) * right(j, k) at the entries.
struct EntryProduct {
  mlir::Value left;
  plan::ReadOp right;
  bool isSampled;
};

// `analyze` reads the whole operator once; all accessors are lookups.
class SparseBody {
public:
  // Fails with an error at the operation if the body is not among those listed above.
  static llvm::FailureOr<SparseBody> analyze(plan::OperatorOp op);

  plan::OperatorOp op() const { return op_; }
  mlir::Block &block() const { return op_.getBody().front(); }
  SparseKind kindOf(mlir::Value value) const;
  llvm::ArrayRef<SparseRoot> roots() const { return roots_; }
  // The read of the first driver.
  plan::ReadOp driver() const { return driver_; }
  bool isSparse(plan::ReadOp read) const { return op_.isSparseOperand(numberOf(read)); }
  // True if what is read has entries at exactly the driver's positions.
  bool hasEntriesOfDriver(plan::ReadOp read) const { return op_.isDriver(numberOf(read)); }
  // The index of what is read among the array operands, or among the scalar operands.
  unsigned inputIndex(plan::ReadOp read) const { return inputIndex_.lookup(read.getOperand()); }
  unsigned arrayCount() const { return arrayCount_; }
  // Null if `reduce` is no such product.
  const EntryProduct *productOf(mlir::Operation *reduce) const {
    auto found = products_.find(reduce);
    return found == products_.end() ? nullptr : &found->second;
  }
  // The number of columns of a value: n if it is Wide, else that of its other axis.
  const Size &columnsOf(mlir::Value value) const;

  // A plan with iteration space, inputs, outputs and bytes per step. The emitter adds code, name
  // and the sizes of scratch memory.
  abi::KernelPlan describe() const;

private:
  llvm::LogicalResult findDriver();
  llvm::LogicalResult checkOperation(mlir::Operation &operation);
  llvm::LogicalResult checkRead(plan::ReadOp read);
  llvm::LogicalResult checkReduction(plan::ReduceOp reduce);
  llvm::LogicalResult findRoots();
  llvm::FailureOr<SparseRoot> rootOf(plan::WriteOp write);
  int64_t numberOf(plan::ReadOp read) const {
    return mlir::cast<mlir::BlockArgument>(read.getOperand()).getArgNumber();
  }
  bool isOverRows(plan::ReduceOp reduce) const {
    return llvm::is_contained(reduce.getOver(), row_);
  }

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  mutable plan::ReadOp driver_;
  llvm::SmallVector<Size> axes_;
  unsigned row_ = 0, column_ = 0; // axes
  llvm::DenseMap<mlir::Value, unsigned> inputIndex_;
  llvm::DenseMap<mlir::Operation *, EntryProduct> products_;
  llvm::SmallVector<SparseRoot> roots_;
  unsigned arrayCount_ = 0;
};

bool isRead(mlir::Value value);

} // namespace tokamak::codegen
#endif
