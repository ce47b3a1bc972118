// Sizes, layouts and zeros of the values of a block, as fusion needs them: every array as rows ×
// columns, which arrays are held as CSR, and which values are proved to be zero wherever a CSR
// array, or each of several, has no entry.
//
//   BlockFacts facts(block, factsOf);
//   Shape shape = facts.shapeOf(x);   // of a rank-3 array: {product of all outer sizes, last size}
//   if (facts.whereZero(s, product).isZero())
//     ...                             // `product` needs to be evaluated at the entries of s only
#ifndef TOKAMAK_FUSION_EXPLORE_BLOCKFACTS_H
#define TOKAMAK_FUSION_EXPLORE_BLOCKFACTS_H

#include "base/SparseSafety.h"
#include "ir/plan/PlanDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tokamak::fusion {

using FactsFunction = llvm::function_ref<const tok::Facts &(mlir::Value)>;

// Rows and columns as plan::encodeSize writes them: a constant, or a negative number that names a
// symbol. Equal numbers are proved equal; different ones are taken to be different, and a symbol is
// never 0 or 1.
struct Shape {
  int64_t rows = 0, columns = 0;
  bool operator==(const Shape &other) const = default;
};

// An array with doubles or floats as cells: what kernels compute with.
bool isRealArray(mlir::Value value);

// The cells in which at least one of some CSR arrays of one size has an entry.
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
  // `facts` is asked for arguments and results of operations, once each. Where it leaves open what
  // follows from the operands, that is inferred.
  BlockFacts(mlir::Block &block, FactsFunction facts);

  // Of an array: rows × columns, of higher ranks all dimensions but the last one × the last; equal
  // lists of outer dimensions are equal numbers of rows. {0, 0} for anything else.
  Shape shapeOf(mlir::Value value) const { return shapes_.lookup(value); }
  // Sizes of an array of any rank, encoded; empty for anything else.
  llvm::ArrayRef<int64_t> sizesOf(mlir::Value value) const;
  // Estimated number of rows or columns, of cells.
  double estimate(int64_t size) const;
  double cells(Shape shape) const { return estimate(shape.rows) * estimate(shape.columns); }

  // How the array is going to lie in memory when it is stored.
  bool isCsr(mlir::Value value) const { return csrDensities_.contains(value); }
  // Estimated share of cells that are not zero (of CSR arrays: that are entries), 1 where unknown.
  double densityOf(mlir::Value value) const;
  double entriesOf(mlir::Value value) const { return densityOf(value) * cells(shapeOf(value)); }
  Shape shapeOf(const EntryPattern &pattern) const { return shapeOf(pattern.arrays.front()); }
  double densityOf(const EntryPattern &pattern) const;
  double entriesOf(const EntryPattern &pattern) const {
    return densityOf(pattern) * cells(shapeOf(pattern));
  }
  // Of each array held as CSR that has more than one column, and of several of them together where
  // an operator of them is zero in all other cells, but not beside the entries of any single one.
  // In program order.
  llvm::ArrayRef<EntryPattern> patterns() const { return patterns_; }
  bool hasSparseArrayOf(Shape shape) const;
  // What the value is known to be in the cells that are not in the pattern.
  CellFact whereZero(const EntryPattern &pattern, mlir::Value value) const;
  // Of all cells, or of a scalar.
  CellFact everywhere(mlir::Value value) const { return everywhere_.lookup(value); }

private:
  void complete(mlir::Value value, tok::Facts &given, const tok::Facts *inferred);
  int64_t sizeOf(tok::Dimension dimension);
  void noteNumber(mlir::Value value, const tok::Facts &facts);
  void noteCells(mlir::Operation &operation, llvm::ArrayRef<tok::Facts> operands);
  bool isConstant(mlir::Value value) const { return everywhere(value).constant().has_value(); }
  void noteZeros(mlir::Operation &operation);
  EntryPattern unionFor(mlir::Operation &operation, bool stored) const;
  void noteLayout(mlir::Value value, tok::Facts &facts);

  llvm::DenseMap<mlir::Value, Shape> shapes_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t, 4>> sizes_;
  llvm::DenseMap<int64_t, int64_t> estimates_;
  int64_t nextSymbol_ = 0;
  llvm::DenseMap<mlir::Value, double> densities_, csrDensities_;
  llvm::SmallVector<EntryPattern> patterns_;
  llvm::DenseMap<mlir::Value, CellFact> everywhere_;
  llvm::DenseMap<std::pair<unsigned, mlir::Value>, CellFact> whereZero_; // by number of the pattern
};

} // namespace tokamak::fusion
#endif
