// Error bounds of cells: how far a correct result may deviate from the reference's.
//
//   CellErrors errors;                    // exact: the same bits everywhere
//   errors = CellErrors({0, 1e-15, CellErrors::anything});
//   errors[1] == 1e-15
//
// Elementwise operators give the same bits under every plan, but sums and products do not: an error
// arises where cells are accumulated (a forward error bound, computed from the cells), and is
// propagated through the operations on the result.
#ifndef TOKAMAK_ORACLE_CELLERRORS_H
#define TOKAMAK_ORACLE_CELLERRORS_H

#include "base/SparseSafety.h"
#include "runtime/values/Value.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace tokamak::oracle {

// Facts about a matrix product needed when it is a factor of another product: a chain of products
// may be computed in another order, with other rounding errors.
struct ProductErrors {
  std::vector<double> carried;    // per cell: the error propagated from the factors
  std::vector<double> magnitudes; // per cell: the sum of |terms|
  int granularity = 0;            // all terms are multiples of 2^granularity
  int64_t terms = 0;              // the number of roundings that contribute to one cell
  // Base-2 logarithms of the largest and the smallest non-zero product of one cell of each factor:
  // where one overflows or the other underflows, the result depends on the order.
  double largest = 0, smallest = 0;
};

class CellErrors {
public:
  // The cell is a zero, but its sign may differ.
  static constexpr double zeroSign = -1;
  // The cell may have any value.
  static constexpr double anything = std::numeric_limits<double>::infinity();

  CellErrors() = default;
  explicit CellErrors(std::vector<double> cells);
  static CellErrors uniform(int64_t cells, double error);

  bool isExact() const { return cells_.empty(); }
  // Whether there is a bound for each of so many cells.
  bool covers(int64_t cells) const {
    return cells_.empty() || static_cast<int64_t>(cells_.size()) == cells;
  }
  double operator[](int64_t cell) const { return cells_.empty() ? 0 : cells_[cell]; }

  // The facts of a matrix product, even after it was transposed or sliced; null for other values.
  const ProductErrors *product() const { return product_.get(); }
  CellErrors withoutProduct() const {
    CellErrors errors = *this;
    errors.product_.reset();
    return errors;
  }
  void setProduct(ProductErrors product) {
    product_ = std::make_shared<const ProductErrors>(std::move(product));
  }

private:
  std::vector<double> cells_; // empty if all are exact
  std::shared_ptr<const ProductErrors> product_;
};

// Read access to the cells of a number or an array of any layout and element type, as doubles.
class CellView {
public:
  explicit CellView(const runtime::Value &value);
  double operator[](int64_t cell) const { return cells_[cell]; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t cells() const { return count_; }
  bool isScalar() const { return scalar_; }
  const runtime::Shape &shape() const { return shape_; } // of an array
  // The cell that is broadcast to `cell` of a result: scalars and dimensions of size 1 are
  // repeated.
  int64_t broadcast(int64_t cell, const CellView &result) const;

private:
  runtime::ArrayReference array_; // owns what cells_ points to
  double number_ = 0;
  const double *cells_ = nullptr;
  int64_t rows_ = 1, columns_ = 1, count_ = 1;
  runtime::Shape shape_;
  bool scalar_ = true;
};

// An operand or a result with its error bounds.
struct Tracked {
  const runtime::Value &value;
  const CellErrors &errors;
};

// The arithmetic that error bounds are computed for.
struct ErrorModel {
  static ErrorModel of(ElementType type); // of floats; integers are exact

  ElementType type = ElementType::F64;
  double roundoff = 0x1p-53; // unit roundoff: half the distance from 1 to the next number
  double largest = std::numeric_limits<double>::max();
  int lowestExponent = -1074; // exponent of the smallest positive (subnormal) number
  bool isNarrow() const { return type != ElementType::F64; }
  // Products of numbers below 2 to this power don't overflow (nor underflow below its inverse).
  double mostBinaryDigits() const { return isNarrow() ? std::log2(largest) - 8 : 1000; }
  double smallest() const { return std::ldexp(1.0, lowestExponent); }
  // Two implementations of functions such as exp differ by at most this many ULPs, and so do a function and
  // its implementation.
  double functionUnits = 0;
  // Both sides have the same implementation: of equal operands it gives equal results, but two that differ
  // by little may be off in different directions.
  bool functionsAgree = false;
  // Whether the cells that are looked at are those that are computed with, to the bit. What the reference gives in place of a
  // function's result may have zeros as last digits where that has none.
  bool digitsAreKnown = true;
  // Matrices may be sparse: they do not keep the sign of a zero, and the product of a zero and a
  // non-finite number may be a zero.
  bool sparse = false;
  ZeroRule zeroRule = ZeroRule::Sparse; // Strict: products are not skipped
  bool leavesOutZeros() const { return sparse && zeroRule == ZeroRule::Sparse; }
};

} // namespace tokamak::oracle
#endif
