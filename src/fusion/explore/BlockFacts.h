// Sizes, layouts and zeros of the values of a block, as fusion needs them: every array as rows ×
// columns, which arrays are held as CSR, and which values are proved to be zero wherever a CSR
// array has no entry.
//
//   BlockFacts facts(block, factsOf);
//   facts.shapeOf(x)                      // of a rank-3 array: {rows of all outer dimensions,
//   last} isZero(facts.whereZero(s, product))   // product need not be evaluated but at entries of
//   s
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
  // The arrays held as CSR that have more than one column, in program order.
  llvm::ArrayRef<mlir::Value> sparseArrays() const { return sparseArrays_; }
  bool hasSparseArrayOf(Shape shape) const;
  // What the value is known to be in the cells where the CSR array has no entry.
  CellFact whereZero(mlir::Value sparseArray, mlir::Value value) const;

private:
  void complete(mlir::Value value, tok::Facts &given, const tok::Facts *inferred);
  int64_t sizeOf(tok::Dimension dimension);
  void noteConstant(mlir::Value value, const tok::Facts &facts);
  void noteZeros(mlir::Operation &operation);
  void noteLayout(mlir::Value value, tok::Facts &facts);

  llvm::DenseMap<mlir::Value, Shape> shapes_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t, 4>> sizes_;
  llvm::DenseMap<int64_t, int64_t> estimates_;
  int64_t nextSymbol_ = 0;
  llvm::DenseMap<mlir::Value, double> densities_, csrDensities_;
  llvm::SmallVector<mlir::Value> sparseArrays_;
  llvm::DenseMap<mlir::Value, double> constants_; // of all cells, or of a scalar
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, double> whereZero_;
};

} // namespace tokamak::fusion
#endif
