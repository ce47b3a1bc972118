// Sizes, layouts and zeros of the values of a block, as fusion needs them: every array as rows ×
// columns, which arrays are sparse, and which values are proved to be zero in all cells where a sparse
// array (or each of several) has no entry.
//
//   BlockFacts facts(block, factsOf);
//   Shape shape = facts.shapeOf(x);   // of a rank-3 array: {product of all outer sizes, last size}
//   if (facts.whereZero(s, product).isZero())
//     ...                             // `product` needs to be evaluated at the entries of s only
#ifndef TOKAMAK_FUSION_EXPLORE_BLOCKFACTS_H
#define TOKAMAK_FUSION_EXPLORE_BLOCKFACTS_H

#include "base/SparseSafety.h"
#include "ir/plan/IterationSpace.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/WholeSequence.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tokamak::fusion {

using FactsFunction = llvm::function_ref<const tok::Facts &(mlir::Value)>;

using plan::Shape;

// True for arrays of f64 or f32, the cell types of kernels.
bool isRealArray(mlir::Value value);

// The cells in which at least one of several sparse arrays of the same shape has an entry.
struct EntryPattern {
  llvm::SmallVector<mlir::Value, 2> arrays; // none: no pattern

  EntryPattern() = default;
  EntryPattern(mlir::Value array) : arrays{array} {}
  explicit operator bool() const { return !arrays.empty(); }
  bool operator==(const EntryPattern &other) const = default;
  bool contains(mlir::Value array) const { return llvm::is_contained(arrays, array); }
  bool isWithin(const EntryPattern &other) const {
    return llvm::all_of(arrays, [&](mlir::Value array) { return other.contains(array); });
  }
};

class BlockFacts {
public:
  // `facts` is called once for each argument and result. Facts that it leaves open are inferred
  // from the operands.
  BlockFacts(mlir::Block &block, FactsFunction facts);

  // The rows × columns of an array. For higher ranks the rows are the product of all dimensions but
  // the last; equal lists of outer dimensions give equal rows. {0, 0} if `value` is no array.
  const Shape &shapeOf(mlir::Value value) const { return known(value).shape; }
  // The sizes of an array of any rank; empty if `value` is no array.
  llvm::ArrayRef<Size> sizesOf(mlir::Value value) const { return known(value).facts.dims; }
  // nullopt unless it counts whole numbers, one after the other.
  std::optional<tok::WholeSequence> wholeSequenceOf(tok::SeqOp sequence) const {
    return tok::wholeSequence(known(sequence.getFrom()).facts, known(sequence.getTo()).facts,
                              known(sequence.getBy()).facts);
  }
  // An integer as a size; unknown if it is no function of sizes.
  Size integerOf(mlir::Value scalar) const { return known(scalar).facts.integer; }
  // The estimated value of a size, and the estimated number of cells.
  static double estimate(const Size &size);
  static double cells(const Shape &shape) { return estimate(shape.rows) * estimate(shape.columns); }

  // The layout the array will have in memory if it is stored.
  bool isSparse(mlir::Value value) const { return known(value).isSparse; }
  // The estimated share of cells that are entries; 1 of arrays that are not sparse.
  double densityOf(mlir::Value value) const {
    return isSparse(value) ? known(value).facts.density : 1;
  }
  double entriesOf(mlir::Value value) const { return densityOf(value) * cells(shapeOf(value)); }
  const Shape &shapeOf(const EntryPattern &pattern) const {
    return shapeOf(pattern.arrays.front());
  }
  double densityOf(const EntryPattern &pattern) const;
  double entriesOf(const EntryPattern &pattern) const {
    return densityOf(pattern) * cells(shapeOf(pattern));
  }
  // One pattern for each sparse array with more than one column, and unions of such patterns where an
  // operation is zero outside the union, but not outside a single pattern. In program order.
  llvm::ArrayRef<EntryPattern> patterns() const { return patterns_; }
  bool hasSparseArrayOf(const Shape &shape) const;
  // What is known of the value's cells outside the pattern.
  CellFact whereZero(const EntryPattern &pattern, mlir::Value value) const;
  // What is known of all cells of an array, or of a scalar.
  CellFact everywhere(mlir::Value value) const { return known(value).cells; }

private:
  struct Known {
    tok::Facts facts;
    Shape shape;
    CellFact cells; // all of them, or the scalar
    bool isSparse = false;
  };
  const Known &known(mlir::Value value) const { return values_.find(value)->second; }
  Known &known(mlir::Value value) { return values_.find(value)->second; }

  void complete(mlir::Value value, const tok::Facts &inferred);
  void noteCells(mlir::Value value, llvm::ArrayRef<tok::Facts> operands);
  bool isConstant(mlir::Value value) const { return everywhere(value).constant().has_value(); }
  void noteZeros(mlir::Operation &operation);
  EntryPattern unionFor(mlir::Operation &operation, bool stored) const;
  void noteLayout(mlir::Value value);

  llvm::DenseMap<mlir::Value, Known> values_;
  int64_t nextSymbol_ = 0; // above those of the facts that were given
  llvm::SmallVector<EntryPattern> patterns_;
  llvm::DenseMap<std::pair<unsigned, mlir::Value>, CellFact> whereZero_; // by index of the pattern
};

} // namespace tokamak::fusion
#endif
