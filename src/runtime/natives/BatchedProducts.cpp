#include "runtime/natives/BatchedProducts.h"

#include "runtime/natives/Blas.h"
#include "runtime/natives/IntegerProduct.h"
#include "runtime/natives/NativeOperands.h"

namespace tokamak::runtime {
namespace {

// The least work for a task, in floating-point operations, and about the most where a matrix can be cut into parts of at
// least so many rows or columns: of f32, whose other factor is not packed again for each part, and of other numbers.
constexpr double smallestTaskFlops = 4e6, largestTaskFlops = 64e6, largestSingleTaskFlops = 16e6;
constexpr int64_t leastTaskVectors = 96;
constexpr int64_t vectorsOfPanel = 48; // see PanelProduct.h

// The matrices of one operand; `rows` and `columns` are those after a transposition.
struct Matrices {
  const Array &array;
  bool transposed;

  int64_t size(int fromEnd) const { return array.shape()[array.shape().rank() - fromEnd]; }
  int64_t rows() const { return size(transposed ? 1 : 2); }
  int64_t columns() const { return size(transposed ? 2 : 1); }
  // The operand's sizes after a transposition.
  std::string text() const {
    std::string text;
    for (int i = 0; i + 2 < array.shape().rank(); ++i)
      text += fmt::format("{}x", array.shape()[i]);
    return text + fmt::format("{}x{}", rows(), columns());
  }
  template <typename Number> const Number *matrix(int64_t number) const {
    return array.cellsAs<Number>() + number * rows() * columns();
  }
};

// The number of the operand's matrix that is multiplied for matrix `number` of the result:
// dimensions of size 1 are broadcast.
int64_t matrixFor(const Shape &shape, const Shape &result, int64_t number) {
  int64_t matrix = 0, stride = 1;
  for (int i = shape.rank() - 3; i >= 0; --i) {
    if (shape[i] != 1)
      matrix += number % result[i] * stride;
    number /= result[i];
    stride *= shape[i];
  }
  return matrix;
}

Shape resultShape(const Matrices &lhs, const Matrices &rhs) {
  const Shape &left = lhs.array.shape(), &right = rhs.array.shape();
  if (lhs.columns() != rhs.rows())
    throw Error(fmt::format("%*%: the inner dimensions differ: {} %*% {}", lhs.text(), rhs.text()));
  std::array<int64_t, Shape::maxRank> sizes{};
  int rank = left.rank();
  for (int i = 0; i + 2 < rank; ++i) {
    if (left[i] != right[i] && left[i] != 1 && right[i] != 1)
      throw Error(
          fmt::format("%*%: the leading dimensions differ: {} %*% {}", lhs.text(), rhs.text()));
    sizes[i] = left[i] == 1 ? right[i] : left[i];
  }
  sizes[rank - 2] = lhs.rows();
  sizes[rank - 1] = rhs.columns();
  return Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank)));
}

} // namespace

Value multiplyBatches(ExecutionContext &context, const Array &left, const Array &right,
                      bool lhsTransposed, bool rhsTransposed) {
  Matrices lhs{left, lhsTransposed}, rhs{right, rhsTransposed};
  Shape shape = resultShape(lhs, rhs);
  ArrayPointer result = Array::create(shape, left.elementType());
  GemmShape product{lhsTransposed, rhsTransposed, lhs.rows(), rhs.columns(), lhs.columns()};
  int64_t cells = product.rows * product.columns;
  if (cells == 0)
    return result;
  // Parts of large matrices are tasks, too: networks multiply few matrices at a time. The shorter factor is what
  // all parts pack.
  bool byRows = product.rows >= product.columns;
  int64_t vectors = byRows ? product.rows : product.columns;
  double flopsOfVector =
      2.0 * static_cast<double>(cells / vectors) * static_cast<double>(product.inner);
  double largest =
      left.elementType() == ElementType::F32 ? largestSingleTaskFlops : largestTaskFlops;
  auto wanted = static_cast<int64_t>(flopsOfVector * static_cast<double>(vectors) / largest) + 1,
       most = std::max<int64_t>(1, vectors / leastTaskVectors);
  int64_t parts = std::min(wanted, most), part = (vectors + parts - 1) / parts;
  part = std::min(vectors, (part + vectorsOfPanel - 1) / vectorsOfPanel * vectorsOfPanel);
  parts = (vectors + part - 1) / part;
  auto grain = static_cast<int64_t>(smallestTaskFlops /
                                    std::max(1.0, flopsOfVector * static_cast<double>(part)));
  withProductCells(left, [&]<typename Number>() {
    auto *to = result->mutableCellsAs<Number>();
    forEachRange(context, result->cells() / cells * parts, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t matrix = i / parts, first = i % parts * part,
                count = std::min(part, vectors - first);
        int64_t row = byRows ? first : 0, column = byRows ? 0 : first;
        GemmShape shapeOfPart = product;
        (byRows ? shapeOfPart.rows : shapeOfPart.columns) = count;
        gemm(shapeOfPart,
             lhs.matrix<Number>(matrixFor(left.shape(), shape, matrix)) +
                 row * (lhsTransposed ? 1 : lhs.size(1)),
             lhs.size(1),
             rhs.matrix<Number>(matrixFor(right.shape(), shape, matrix)) +
                 column * (rhsTransposed ? rhs.size(1) : 1),
             rhs.size(1), to + matrix * cells + row * product.columns + column, product.columns);
      }
    });
  });
  return result;
}

} // namespace tokamak::runtime
