// What a plan.operator with a driver computes, in the terms of code generation: an operator that is
// evaluated only at the entries of a CSR operand S (m×n), its driver. One emitter
// (SparseEmitter.cpp) serves all four templates. `matrix` below is any array operand of the
// operator (a block argument).
//
//   auto body = SparseBody::analyze(op);            // llvm::FailureOr<SparseBody>
//   SparseKind kind = body->kindOf(value);
//
//   sum(S * log(U %*% t(V) + e))             the sampled product, its logarithm, the product: Wide;
//                                            one root: FullAggregate of Wide
//   t(S) %*% (w * (S %*% v))                 S %*% v: PerRow; one root: t(Wide) %*% PerRow
//   ((S != 0) * (U %*% t(V) - S)) %*% V      a sampled product inside, a Narrow result
//
// Values that a body may compute with, by kind. m, n are the driver's sizes; n is not the constant
// 0 or 1.
//
//   Wide    m×n, computed at the driver's entries only:
//             the driver; other CSR matrices m×n (listed in `csr`; those in `united` have the
//             driver's entries; of others, a row at a time is expanded); dense matrices m×n;
//             tok.matmul(U, tok.transpose(V)), U m×r and V n×r dense matrices, any r;
//             elementwise operators of Wide, PerRow, PerColumn and Uniform values
//   PerRow  m×1, computed in every row:
//             dense matrices m×1; tok.aggregate {sum, prod, min, max} row of a Wide or Narrow
//             value; tok.matmul(Wide, v), v a dense matrix n×1; elementwise operators of PerRow and
//             Uniform values
//   PerColumn  1×n: dense matrices 1×n; elementwise operators of PerColumn and Uniform values
//   Narrow  m×k, k > 1 and not proved equal to n, computed in every row:
//             dense matrices m×k; tok.matmul(Wide, B), B a dense matrix n×k; elementwise operators
//             of Narrow, PerRow, 1×k and Uniform values
//   Uniform scalars, literals, 1×1 dense matrices, elementwise operators of them
//
// Results, in any number and combination:
//
//   Wide    as a CSR array (listed in csr_results; a Wide result must be listed);
//           tok.aggregate full {sum, prod, min, max}; tok.aggregate column {sum};
//           tok.matmul(tok.transpose(Wide), u) with u PerRow: n×1;
//           tok.matmul(tok.transpose(u), Wide) with u PerRow: 1×n;
//           tok.matmul(tok.transpose(Wide), Q) with Q Narrow: n×k
//   PerRow  as a dense m×1 array; tok.aggregate full or column {sum, prod, min, max};
//           tok.matmul(tok.transpose(u), w) with both PerRow: 1×1
//   Narrow  as a dense m×k array; tok.aggregate full or column {sum, prod, min, max};
//           tok.matmul(tok.transpose(Narrow), u) with u PerRow: k×1
//
// A Wide value that is a result, is aggregated or is an operand of a matrix product must be zero
// where the driver has no entry; the code that builds the operator proves this
// (base/SparseSafety.h). Full and row prod, min and max take the zeros of these cells into account.
// All other bodies are rejected with an error at the operation, for example: index_max and
// index_min; column prod, min, max of Wide; t(S) as the driver of elementwise operators; a sampled
// product whose factors are computed in the operator; a result that is Wide and dense.
#ifndef TOKAMAK_CODEGEN_SPARSEBODY_H
#define TOKAMAK_CODEGEN_SPARSEBODY_H

#include "abi/KernelPlan.h"
#include "codegen/KernelBody.h"

namespace tokamak::codegen {

// As listed above. PerNarrowColumn: 1×k. Factor: all other values, as an array that is only read as
// a factor of a product.
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
    Array,           // CSR if the value is Wide, else dense
    FullAggregate,   // of `value`, or of its products with `factor`
    ColumnAggregate, // of a Wide value (sums only) or a Narrow one, or of its products with
                     // `factor`
    OuterProduct,    // t(value) %*% factor, Wide and Narrow
  };
  Kind kind = Kind::Array;
  AggregateKind aggregate = AggregateKind::Sum;
  mlir::Value value;
  mlir::Value factor; // PerRow, or Narrow in an OuterProduct; may be null
};

// `analyze` reads the whole operator once; all accessors are lookups.
class SparseBody {
public:
  // Fails with an error at the operation if the body is not among those listed above.
  static llvm::FailureOr<SparseBody> analyze(plan::OperatorOp op);

  plan::OperatorOp op() const { return op_; }
  SparseKind kindOf(mlir::Value value) const {
    auto known = kinds_.find(value);
    return known == kinds_.end() ? SparseKind::Factor : known->second;
  }
  llvm::ArrayRef<SparseRoot> roots() const { return roots_; }
  mlir::BlockArgument driver() const { return driver_; }
  bool isCsr(mlir::BlockArgument input) const { return op_.isCsrOperand(input.getArgNumber()); }
  // True if `input` has entries at exactly the driver's positions.
  bool hasEntriesOfDriver(mlir::BlockArgument input) const {
    return input == driver_ || op_.isUnitedOperand(input.getArgNumber());
  }
  // The index of `input` among the array operands, or among the scalar operands.
  unsigned arrayIndex(mlir::BlockArgument input) const { return inputIndex_.lookup(input); }
  unsigned scalarIndex(mlir::BlockArgument input) const { return inputIndex_.lookup(input); }
  unsigned arrayCount() const { return arrayCount_; }
  // The number of columns of a matrix: n if it is Wide, k if Narrow.
  Size columnsOf(mlir::Value value) const {
    return kindOf(value) == SparseKind::Wide ? columns_ : facts_.lookup(value).columns();
  }

  // A plan with iteration space, inputs, outputs and bytes per step. The emitter adds code, name
  // and the sizes of scratch memory.
  abi::KernelPlan describe() const;

private:
  llvm::LogicalResult classify();
  SparseKind kindOfInput(mlir::BlockArgument input) const;
  llvm::LogicalResult classifyCell(mlir::Operation &operation);
  llvm::LogicalResult classifyProduct(tok::MatmulOp product);
  llvm::LogicalResult classifyAggregate(tok::AggregateOp aggregate);
  llvm::LogicalResult findRoots();
  llvm::FailureOr<SparseRoot> rootOf(mlir::Value value);
  bool isPerRow(mlir::Value value) const; // a vector with a value per row
  bool hasKind(mlir::Value value, SparseKind kind) const {
    auto known = kinds_.find(value);
    return known != kinds_.end() && known->second == kind;
  }
  bool isDenseInput(mlir::Value value, const Size &rows) const;

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  mlir::BlockArgument driver_;
  llvm::DenseMap<mlir::Value, tok::Facts> facts_;
  llvm::DenseMap<mlir::Value, SparseKind> kinds_; // none for aggregates and products over the rows
  llvm::DenseMap<mlir::Value, unsigned> inputIndex_;
  llvm::SmallVector<SparseRoot> roots_;
  Size rows_ = Size::unknown(), columns_ = Size::unknown();
  unsigned arrayCount_ = 0;
};

// True for U %*% t(V), which is computed at the entries only.
bool isSampledProduct(tok::MatmulOp product);
// True for t(x) %*% y, a sum over the rows, which can only be a result.
bool isTransposedProduct(tok::MatmulOp product);

} // namespace tokamak::codegen
#endif
