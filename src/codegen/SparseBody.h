// What a plan.operator with a driver computes: an operator that is evaluated at the entries of a
// CSR operand S (m×n) alone, in the terms of code generation. All four templates; one emitter
// (SparseEmitter.cpp). `matrix` below is any array operand of the operator (a block argument).
//
//   sum(S * log(U %*% t(V) + e))             the sampled product, its logarithm, the product: Wide;
//                                            one root: FullAggregate of Wide
//   t(S) %*% (w * (S %*% v))                 S %*% v: PerRow; one root: t(Wide) %*% PerRow
//   ((S != 0) * (U %*% t(V) - S)) %*% V      a sampled product inside, a Narrow result
//
// Values that a body may compute with, by kind. m, n are the driver's sizes; n is not the constant
// 0 or 1.
//
//   Wide    m×n, known at the driver's entries only:
//             the driver; other CSR matrices m×n (listed in `csr`; those in `united` have the
//             driver's entries, of others a row at a time is spread out); dense matrices m×n;
//             tok.matmul(U, tok.transpose(V)), U m×r and V n×r dense matrices, any r;
//             elementwise operators of Wide, PerRow, PerColumn and Uniform values
//   PerRow  m×1, known in every row:
//             dense matrices m×1; tok.aggregate {sum, prod, min, max} row of a Wide or Narrow
//             value; tok.matmul(Wide, v), v a dense matrix n×1; elementwise operators of PerRow and
//             Uniform values
//   PerColumn  1×n: dense matrices 1×n; elementwise operators of PerColumn and Uniform values
//   Narrow  m×k, k > 1 and not proved equal to n, known in every row:
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
// A Wide value that is a result, is aggregated or multiplied as a matrix must be zero where the
// driver has no entry; whoever builds the operator proves it (base/SparseSafety.h). Full and row
// prod, min and max take the zeros of these cells into account. Everything else is an error at the
// operation, never wrong code. Not among the above, for example: index_max and index_min; column
// prod, min, max of Wide; t(S) as the driver of elementwise operators; a sampled product whose
// factors are computed in the operator; a result that is Wide and dense.
#ifndef TOKAMAK_CODEGEN_SPARSEBODY_H
#define TOKAMAK_CODEGEN_SPARSEBODY_H

#include "abi/KernelPlan.h"
#include "codegen/KernelBody.h"

namespace tokamak::codegen {

// Factor: anything else, as an array that is only read as a factor of a product.
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
    Array,           // a CSR array of Wide values, a dense array of others
    FullAggregate,   // of `value`, or of its products with `factor`
    ColumnAggregate, // of a Wide value (sums only) or a Narrow one, or of its products with
                     // `factor`
    OuterProduct,    // t(value) %*% factor, Wide and Narrow
  };
  Kind kind = Kind::Array;
  AggregateKind aggregate = AggregateKind::Sum;
  mlir::Value value;
  mlir::Value factor; // PerRow, of an OuterProduct Narrow; may be null
};

// Reads an operator once; afterwards everything asked is a lookup.
class SparseBody {
public:
  // Fails with an error at the operation for all that is not listed above.
  static llvm::FailureOr<SparseBody> analyze(plan::OperatorOp op);

  plan::OperatorOp op() const { return op_; }
  SparseKind kindOf(mlir::Value value) const {
    auto known = kinds_.find(value);
    return known == kinds_.end() ? SparseKind::Factor : known->second;
  }
  llvm::ArrayRef<SparseRoot> roots() const { return roots_; }
  mlir::BlockArgument driver() const { return driver_; }
  bool isCsr(mlir::BlockArgument input) const { return op_.isCsrOperand(input.getArgNumber()); }
  // Whether its entries are the driver's, place by place.
  bool hasEntriesOfDriver(mlir::BlockArgument input) const {
    return input == driver_ || op_.isUnitedOperand(input.getArgNumber());
  }
  // Number of `input` among the array operands, or among the scalar operands.
  unsigned arrayIndex(mlir::BlockArgument input) const { return inputIndex_.lookup(input); }
  unsigned scalarIndex(mlir::BlockArgument input) const { return inputIndex_.lookup(input); }
  unsigned arrayCount() const { return arrayCount_; }
  // A matrix value's columns: of Narrow ones k.
  tok::Dimension columnsOf(mlir::Value value) const {
    return kindOf(value) == SparseKind::Wide ? columns_ : facts_.lookup(value).columns();
  }
  // A size that an input has.
  abi::SizeExpression sizeOf(tok::Dimension dimension) const;

  // Iteration space, inputs, outputs and bytes per step; code, name and scratch are the emitter's.
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
  bool isDenseInput(mlir::Value value, tok::Dimension rows) const;

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  mlir::BlockArgument driver_;
  llvm::DenseMap<mlir::Value, tok::Facts> facts_;
  llvm::DenseMap<mlir::Value, SparseKind> kinds_; // results that are no kind of cells have none
  llvm::DenseMap<mlir::Value, unsigned> inputIndex_;
  llvm::SmallVector<SparseRoot> roots_;
  tok::Dimension rows_ = tok::Dimension::unknown(), columns_ = tok::Dimension::unknown();
  unsigned arrayCount_ = 0;
};

// U %*% t(V) at the entries.
bool isSampledProduct(tok::MatmulOp product);
// t(x) %*% y, a result.
bool isTransposedProduct(tok::MatmulOp product);

} // namespace tokamak::codegen
#endif
