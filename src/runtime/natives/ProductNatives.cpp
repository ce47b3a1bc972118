// Natives for matrix products: tiles run in parallel, each computed by gemm() on one thread;
// TransposedProduct computes t(a) %*% b of many rows. Tile boundaries depend on the sizes alone, so
// the bits of a product do not depend on the number of threads. Products of two dense f32 arrays
// are computed and accumulated in f32.
#include "runtime/image/PlanConditions.h"
#include "runtime/natives/BatchedProducts.h"
#include "runtime/natives/Blas.h"
#include "runtime/natives/IntegerProduct.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/TransposedProduct.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/sparse/SparseProducts.h"

namespace tokamak::runtime {
namespace {

// Where products are split, and with it the order in which their sums add up, follows from these
// figures and from sizes alone: they are the same on every machine.
constexpr double smallestParallelFlops = 4e6;
// Products of few vectors (mostSeparateVectors) are split from this many cells of the other factor on.
constexpr int64_t smallestParallelFactor = int64_t{1} << 17;
// Tiles of the result have at least this many rows or columns, to amortise the packing of operands.
constexpr int64_t smallestTile = 256;
constexpr int64_t mostTiles = 64;
// The inner dimension is split only for results of at most so many cells, whose partial sums are
// cheap to merge.
constexpr int64_t largestSplitResult = int64_t{1} << 16;
constexpr int64_t largestInner = int64_t{1} << 30; // OpenBLAS counts in 32 bits

// The product of two dense matrices of Numbers, double or float.
template <typename Number> struct Product {
  const Array &lhs, &rhs;
  GemmShape shape;

  const Number *lhsAt(int64_t row, int64_t inner) const {
    return lhs.cellsAs<Number>() +
           (shape.lhsTransposed ? inner * lhs.columns() + row : row * lhs.columns() + inner);
  }
  const Number *rhsAt(int64_t inner, int64_t column) const {
    return rhs.cellsAs<Number>() +
           (shape.rhsTransposed ? column * rhs.columns() + inner : inner * rhs.columns() + column);
  }
  double flops() const {
    return 2.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.columns) *
           static_cast<double>(shape.inner);
  }
  // Computes the part of the result at (row, column) that `part` describes, over the inner range
  // that begins at `inner`.
  void compute(int64_t row, int64_t column, int64_t inner, GemmShape part, Number *result,
               int64_t stride) const {
    gemm(part, lhsAt(row, inner), lhs.columns(), rhsAt(inner, column), rhs.columns(), result,
         stride);
  }
};

int64_t chunkOf(int64_t size, int64_t smallest) {
  int64_t chunk = std::max(smallest, (size + mostTiles - 1) / mostTiles);
  return (chunk + 7) / 8 * 8;
}

// Computes partial products over ranges of the inner dimension and adds them in a fixed tree.
template <typename Number>
void multiplySplit(ExecutionContext &context, const Product<Number> &product, Array &into) {
  int64_t cells = product.shape.rows * product.shape.columns;
  int64_t bytesPerInner = sizeof(Number) * (product.shape.rows + product.shape.columns);
  int64_t chunk =
      std::min(largestInner, chunkOf(product.shape.inner, (int64_t{1} << 20) / bytesPerInner + 1));
  int64_t chunks = (product.shape.inner + chunk - 1) / chunk;
  ArrayPointer partials = Array::create({chunks, cells}, into.elementType());
  auto *data = partials->mutableCellsAs<Number>();
  forEachRange(context, product.shape.inner, chunk, [&](int64_t begin, int64_t end) {
    GemmShape part = product.shape;
    part.inner = end - begin;
    product.compute(0, 0, begin, part, data + begin / chunk * cells, part.columns);
  });
  addPartials(context, data, chunks, cells);
  std::copy_n(data, cells, into.mutableCellsAs<Number>());
}

template <typename Number>
void multiplyTiled(ExecutionContext &context, const Product<Number> &product, Array &into) {
  auto *result = into.mutableCellsAs<Number>();
  int64_t rows = product.shape.rows, columns = product.shape.columns;
  bool byRows = rows >= columns;
  int64_t size = byRows ? rows : columns;
  bool isSplit = std::min(rows, columns) <= mostSeparateVectors
                     ? size * product.shape.inner >= smallestParallelFactor
                     : product.flops() >= smallestParallelFlops;
  int64_t chunk = isSplit ? chunkOf(size, smallestTile) : size;
  if constexpr (std::is_floating_point_v<Number>)
    if (std::optional<GemmParts> parts = partsOfGemm<Number>(product.shape); parts && isSplit) {
      byRows = parts->areRows;
      size = byRows ? rows : columns;
      chunk = parts->size;
    }
  forEachRange(context, size, std::min(largestInner, chunk), [&](int64_t begin, int64_t end) {
    GemmShape part = product.shape;
    (byRows ? part.rows : part.columns) = end - begin;
    int64_t row = byRows ? begin : 0, column = byRows ? 0 : begin;
    product.compute(row, column, 0, part, result + row * columns + column, columns);
  });
}

ArrayPointer multiplyDense(ExecutionContext &context, const Array &lhs, const Array &rhs,
                           const GemmShape &shape) {
  ArrayPointer result = Array::create({shape.rows, shape.columns}, lhs.elementType());
  if (shape.lhsTransposed && !shape.rhsTransposed && TransposedProduct::suits(lhs, rhs)) {
    TransposedProduct(lhs, rhs).compute(context, *result);
    return result;
  }
  withProductCells(lhs, [&]<typename Number>() {
    Product<Number> product{lhs, rhs, shape};
    bool isLong = product.flops() >= smallestParallelFlops &&
                  result->cells() <= largestSplitResult &&
                  shape.inner > 8 * std::max(shape.rows, shape.columns);
    if (result->cells() > 0 && (isLong || shape.inner > largestInner))
      multiplySplit(context, product, *result);
    else
      multiplyTiled(context, product, *result);
  });
  return result;
}

// Under ZeroRule::Strict a sparse operand's zeros may be skipped only if all numbers of the other
// operand are finite; else the sparse operand is made dense.
void keepZerosBesideOthers(std::span<Value> operands) {
  CellFact finite =
      CellFact::within(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
  bool left = allows(finite, operands[1]), right = allows(finite, operands[0]);
  if (!left)
    operands[0] = Array::asDense(operands[0].array());
  if (!right)
    operands[1] = Array::asDense(operands[1].array());
}

void multiply(ExecutionContext &context, std::span<Value> operands, std::span<Value> results,
              bool lhsTransposed, bool rhsTransposed) {
  if (context.zeroRule == ZeroRule::Strict && hasSparse(operands))
    keepZerosBesideOthers(operands);
  const Array &lhs = denseOperand(operands[0], "%*%"), &rhs = denseOperand(operands[1], "%*%");
  if (lhs.shape().rank() > 2) {
    results[0] = multiplyBatches(context, lhs, rhs, lhsTransposed, rhsTransposed);
    return;
  }
  GemmShape shape{lhsTransposed, rhsTransposed, lhsTransposed ? lhs.columns() : lhs.rows(),
                  rhsTransposed ? rhs.rows() : rhs.columns(),
                  lhsTransposed ? lhs.rows() : lhs.columns()};
  int64_t rhsInner = rhsTransposed ? rhs.columns() : rhs.rows();
  if (shape.inner != rhsInner)
    throw Error(fmt::format("%*%: the inner dimensions differ: {}x{} %*% {}x{}", shape.rows,
                            shape.inner, rhsInner, shape.columns));
  if (lhs.isSparse() || rhs.isSparse())
    results[0] = multiplySparse(context, {operands[0].array(), lhsTransposed},
                                {operands[1].array(), rhsTransposed});
  else
    results[0] = multiplyDense(context, lhs, rhs, shape);
}

} // namespace

void runMatmul(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  multiply(context, operands, results, false, false);
}

// t(a) %*% b and a %*% t(b) without the transposed copy.
void runMatmulTransposedLeft(ExecutionContext &context, std::span<Value> operands,
                             std::span<Value> results) {
  multiply(context, operands, results, true, false);
}

void runMatmulTransposedRight(ExecutionContext &context, std::span<Value> operands,
                              std::span<Value> results) {
  multiply(context, operands, results, false, true);
}

} // namespace tokamak::runtime
