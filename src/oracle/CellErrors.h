// How far the cells of a right result may be off from the reference's.
//
//   CellErrors errors;                    // exact: the same bits everywhere
//   errors = CellErrors({0, 1e-15, CellErrors::anything});
//   errors[1] == 1e-15
//
// Elementwise operators give the same bits under every plan, sums and products do not: an error
// arises where cells are accumulated (a forward error bound, computed from the cells) and is
// carried through what is computed from them.
#ifndef TOKAMAK_ORACLE_CELLERRORS_H
#define TOKAMAK_ORACLE_CELLERRORS_H

#include "base/SparseSafety.h"
#include "runtime/Value.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace tokamak::oracle {

// What a matrix product keeps for products of it: a chain of products may be computed in another
// order, where other terms are rounded.
struct ProductErrors {
  std::vector<double> carried;    // of each cell, what comes from the errors of the factors
  std::vector<double> magnitudes; // of each cell, the sum of |terms|
  int granularity = 0;            // all terms are multiples of 2^granularity
  int64_t terms = 0;              // that are rounded on the way to one cell
  // Logarithms to base 2 of the largest and the smallest (that is not zero) product of one cell of
  // each factor: where the one overflows or the other vanishes, the order decides what comes out.
  double largest = 0, smallest = 0;
};

class CellErrors {
public:
  // The cell is a zero of either sign, and nothing else.
  static constexpr double zeroSign = -1;
  // The cell may have any value.
  static constexpr double anything = std::numeric_limits<double>::infinity();

  CellErrors() = default;
  explicit CellErrors(std::vector<double> cells);
  static CellErrors uniform(int64_t cells, double error);

  bool isExact() const { return cells_.empty(); }
  double operator[](int64_t cell) const { return cells_.empty() ? 0 : cells_[cell]; }

  // Of a matrix product, also one that was transposed or cut; null of others.
  const ProductErrors *product() const { return product_.get(); }
  void setProduct(ProductErrors product) {
    product_ = std::make_shared<const ProductErrors>(std::move(product));
  }

private:
  std::vector<double> cells_; // empty: all exact
  std::shared_ptr<const ProductErrors> product_;
};

// The cells of a number or an array of any layout and element type, as doubles.
class CellView {
public:
  explicit CellView(const runtime::Value &value);
  double operator[](int64_t cell) const { return cells_[cell]; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t cells() const { return count_; }
  bool isScalar() const { return scalar_; }
  const runtime::Shape &shape() const { return shape_; } // of an array
  // The cell that goes with `cell` of a result: scalars, and dimensions of size 1, are repeated.
  int64_t broadcast(int64_t cell, const CellView &result) const;

private:
  runtime::ArrayReference array_; // keeps what cells_ points to
  double number_ = 0;
  const double *cells_ = nullptr;
  int64_t rows_ = 1, columns_ = 1, count_ = 1;
  runtime::Shape shape_;
  bool scalar_ = true;
};

// An operand or a result with its errors.
struct Tracked {
  const runtime::Value &value;
  const CellErrors &errors;
};

// What errors arise where.
struct ErrorModel {
  static ErrorModel of(runtime::ElementType type);

  double roundoff = 0x1p-53; // half the distance from 1 to the next number
  double largest = std::numeric_limits<double>::max();
  int lowestExponent = -1074; // of the smallest number above zero, which is 2 to this power
  bool isSingle() const { return roundoff > 0x1p-53; }
  double smallest() const { return std::ldexp(1.0, lowestExponent); }
  // Functions such as exp are within so many units in the last place of each other.
  double functionUnits = 0;
  // Matrices may be CSR: they do not keep the sign of a zero, and a product of a zero with what is
  // not finite may be a zero.
  bool sparse = false;
  ZeroRule zeroRule = ZeroRule::Sparse; // Strict: not the products
  bool leavesOutZeros() const { return sparse && zeroRule == ZeroRule::Sparse; }
};

} // namespace tokamak::oracle
#endif
