#include "reference/TensorMeaning.h"

#include "reference/MatrixAccess.h"

#include <algorithm>
#include <vector>

namespace tokamak::reference {
namespace {

using runtime::Shape;

using Sizes = std::vector<int64_t>;

Sizes sizesOf(const Shape &shape) { return {shape.sizes().begin(), shape.sizes().end()}; }

Shape shapeOf(std::span<const Value> sizes, std::string_view operation) {
  Sizes values;
  for (const Value &size : sizes) {
    std::string what = fmt::format("cells along dimension {}", values.size() + 1);
    values.push_back(sizeOf(size, operation, what));
  }
  return Shape(std::span<const int64_t>(values));
}

// The shape with its last two dimensions replaced.
Shape withMatrix(const Shape &shape, int64_t rows, int64_t columns) {
  Sizes sizes = sizesOf(shape);
  sizes[sizes.size() - 2] = rows;
  sizes[sizes.size() - 1] = columns;
  return Shape(std::span<const int64_t>(sizes));
}

// The rows and columns of the matrices in the last two dimensions, and the number of these
// matrices.
int64_t rowsOf(const Array &array) { return array.shape()[array.shape().rank() - 2]; }
int64_t columnsOf(const Array &array) { return array.shape()[array.shape().rank() - 1]; }
int64_t countMatrices(const Shape &shape) { return withMatrix(shape, 1, 1).cells(); }

} // namespace

std::optional<Shape> broadcastShape(const Shape &a, const Shape &b) {
  int rank = std::max(a.rank(), b.rank());
  // The size of a dimension of the result; 1 where the shape has no such dimension.
  auto sizeOf = [rank](const Shape &shape, int dimension) {
    int own = dimension - (rank - shape.rank());
    return own < 0 ? 1 : shape[own];
  };
  Sizes sizes;
  for (int i = 0; i < rank; ++i) {
    int64_t left = sizeOf(a, i), right = sizeOf(b, i);
    if (left != right && left != 1 && right != 1)
      return std::nullopt;
    sizes.push_back(left == 1 ? right : left);
  }
  return Shape(std::span<const int64_t>(sizes));
}

int64_t broadcastCell(const Shape &whole, const Shape &part, int64_t cell) {
  if (part == whole) // the common case, and quick to tell
    return cell;
  int64_t result = 0, stride = 1;
  int missing = whole.rank() - part.rank();
  for (int i = whole.rank() - 1; i >= missing; --i) {
    int64_t index = cell % whole[i], own = part[i - missing];
    cell /= whole[i];
    if (own != 1)
      result += index * stride;
    stride *= own;
  }
  return result;
}

Value view(const Value &operand, std::span<const Value> sizes) {
  const Array &x = arrayOf(operand, "view");
  Shape shape = shapeOf(sizes, "view");
  if (productOfSizes(shape.sizes()) != x.cells())
    throw Error(fmt::format("view: cannot show {} as {}: the cells are not as many",
                            x.shape().text(), shape.text()));
  ArrayPointer result = Array::create(shape);
  std::copy_n(x.data(), x.cells(), result->mutableData());
  return result;
}

Value expand(const Value &operand, std::span<const Value> sizes) {
  const Array &x = arrayOf(operand, "expand");
  Shape shape = shapeOf(sizes, "expand");
  for (int i = 0; i < shape.rank(); ++i)
    if (x.shape()[i] != 1 && x.shape()[i] != shape[i])
      throw Error(fmt::format("expand: only dimensions of size 1 can be repeated, not {} to {}",
                              x.shape().text(), shape.text()));
  ArrayPointer result = Array::create(shape);
  for (int64_t i = 0; i < result->cells(); ++i)
    result->mutableData()[i] = x.data()[broadcastCell(shape, x.shape(), i)];
  return result;
}

MatrixProduct::MatrixProduct(const Shape &lhs, const Shape &rhs)
    : leftPlaces(withMatrix(lhs, 1, 1)), rightPlaces(withMatrix(rhs, 1, 1)),
      rows(lhs[lhs.rank() - 2]), inner(lhs[lhs.rank() - 1]), columns(rhs[rhs.rank() - 1]) {
  if (inner != rhs[rhs.rank() - 2])
    throw Error(fmt::format("%*%: the inner dimensions differ: {} %*% {}", lhs.text(), rhs.text()));
  // Broadcast over the leading dimensions only: each matrix counts as one cell.
  std::optional<Shape> both = broadcastShape(leftPlaces, rightPlaces);
  if (!both)
    throw Error(
        fmt::format("%*%: the leading dimensions differ: {} %*% {}", lhs.text(), rhs.text()));
  places = *both;
}

Shape MatrixProduct::result() const { return withMatrix(places, rows, columns); }

MatrixProduct::Factors MatrixProduct::factorsOf(int64_t cell) const {
  int64_t place = cell / (rows * columns), row = cell / columns % rows, column = cell % columns;
  return {(broadcastCell(places, leftPlaces, place) * rows + row) * inner,
          broadcastCell(places, rightPlaces, place) * inner * columns + column};
}

Value multiplyMatrices(const Array &lhs, const Array &rhs) {
  MatrixProduct product(lhs.shape(), rhs.shape());
  ArrayPointer result = Array::create(product.result());
  for (int64_t cell = 0; cell < result->cells(); ++cell) {
    auto [left, right] = product.factorsOf(cell);
    double sum = 0;
    for (int64_t k = 0; k < product.inner; ++k)
      sum += lhs.data()[left + k] * rhs.data()[right + k * product.columns];
    result->mutableData()[cell] = sum;
  }
  return result;
}

Value transposeMatrices(const Array &operand) {
  int64_t rows = rowsOf(operand), columns = columnsOf(operand);
  ArrayPointer result = Array::create(withMatrix(operand.shape(), columns, rows));
  for (int64_t place = 0; place < countMatrices(operand.shape()); ++place) {
    const double *x = operand.data() + place * rows * columns;
    double *y = result->mutableData() + place * rows * columns;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        y[j * rows + i] = x[i * columns + j];
  }
  return result;
}

} // namespace tokamak::reference
