#include "reference/TensorMeaning.h"

#include "reference/MatrixAccess.h"

#include <algorithm>
#include <cmath>
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
    throw Error(fmt::format("an array of {} has not as many cells as one of {}", x.shape().text(),
                            shape.text()));
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

namespace {

// The dimension, from 0, that a number from 1 means.
int dimensionOf(const Value &number, const Shape &shape, std::string_view operation) {
  int64_t dimension = number.asInteger();
  if (dimension < 1 || dimension > shape.rank())
    throw Error(fmt::format("{}: there is no dimension {} in an array of {}", operation, dimension,
                            shape.text()));
  return static_cast<int>(dimension - 1);
}

// The place along each dimension of a cell, from 0.
Sizes placeOf(int64_t cell, const Shape &shape) {
  Sizes place(shape.rank());
  for (int i = shape.rank() - 1; i >= 0; --i) {
    place[i] = cell % shape[i];
    cell /= shape[i];
  }
  return place;
}

int64_t cellAt(const Sizes &place, const Shape &shape) {
  int64_t cell = 0;
  for (int i = 0; i < shape.rank(); ++i)
    cell = cell * shape[i] + place[i];
  return cell;
}

// An array whose cell at each place is the one that `from` gives.
template <typename From> ArrayPointer gathered(const Sizes &sizes, const From &from) {
  ArrayPointer result = Array::create(Shape(std::span<const int64_t>(sizes)));
  for (int64_t i = 0; i < result->cells(); ++i)
    result->mutableData()[i] = from(placeOf(i, result->shape()));
  return result;
}

} // namespace

Value permute(const Value &operand, std::span<const Value> order) {
  const Array &x = arrayOf(operand, "permute");
  if (static_cast<int>(order.size()) != x.shape().rank())
    throw Error(fmt::format("permute: an order of {} dimensions for an array of {}", order.size(),
                            x.shape().text()));
  std::vector<int> from;
  Sizes sizes;
  for (const Value &number : order) {
    int dimension = dimensionOf(number, x.shape(), "permute");
    if (std::find(from.begin(), from.end(), dimension) != from.end())
      throw Error(fmt::format("permute: dimension {} stands twice in the order", dimension + 1));
    from.push_back(dimension);
    sizes.push_back(x.shape()[dimension]);
  }
  return gathered(sizes, [&](const Sizes &place) {
    Sizes source(place.size());
    for (size_t i = 0; i < place.size(); ++i)
      source[from[i]] = place[i];
    return x.data()[cellAt(source, x.shape())];
  });
}

Value stridedSlice(const Value &operand, std::span<const Value> numbers) {
  const Array &x = arrayOf(operand, "strided_slice");
  Sizes begins, sizes, steps;
  for (int i = 0; i < x.shape().rank(); ++i) {
    int64_t begin = numbers[3 * i].asInteger(), step = numbers[3 * i + 2].asInteger();
    int64_t size =
        sizeOf(numbers[3 * i + 1], "strided_slice", fmt::format("cells along dimension {}", i + 1));
    int64_t places = x.shape()[i], reach = 0, last = 0;
    bool isBeyond = __builtin_mul_overflow(size - 1, step, &reach) ||
                    __builtin_add_overflow(begin, reach, &last);
    if (size > 0 && (isBeyond || std::min(begin, last) < 1 || std::max(begin, last) > places))
      throw Error(
          fmt::format("strided_slice: {} places from {} on, in steps of {}, of the {} along "
                      "dimension {}",
                      size, begin, step, places, i + 1));
    begins.push_back(size == 0 ? 0 : begin - 1);
    sizes.push_back(size);
    steps.push_back(step);
  }
  return gathered(sizes, [&](Sizes place) {
    for (size_t i = 0; i < place.size(); ++i)
      place[i] = begins[i] + place[i] * steps[i];
    return x.data()[cellAt(place, x.shape())];
  });
}

Value take(const Value &operand, const Value &indices, const Value &number) {
  const Array &x = arrayOf(operand, "take"), &at = arrayOf(indices, "take");
  int dimension = dimensionOf(number, x.shape(), "take"), inner = at.shape().rank();
  Sizes sizes = sizesOf(x.shape());
  int64_t places = sizes[dimension];
  sizes.erase(sizes.begin() + dimension);
  sizes.insert(sizes.begin() + dimension, at.shape().sizes().begin(), at.shape().sizes().end());
  return gathered(sizes, [&](const Sizes &place) {
    auto first = place.begin() + dimension;
    double index = at.data()[cellAt(Sizes(first, first + inner), at.shape())];
    if (!(index >= 1 && index <= static_cast<double>(places)))
      throw Error(fmt::format("take: there is no place {:.0f} among the {} along dimension {}",
                              index, places, dimension + 1));
    Sizes source(place.begin(), first);
    source.push_back(static_cast<int64_t>(index) - 1);
    source.insert(source.end(), first + inner, place.end());
    return x.data()[cellAt(source, x.shape())];
  });
}

Value join(const Value &number, std::span<const Value> parts) {
  const Array &first = arrayOf(parts[0], "join");
  int dimension = dimensionOf(number, first.shape(), "join");
  Sizes sizes = sizesOf(first.shape());
  for (const Value &part : parts.subspan(1)) {
    const Shape &shape = arrayOf(part, "join").shape();
    for (int i = 0; i < shape.rank(); ++i)
      if (i != dimension && shape[i] != first.shape()[i])
        throw Error(fmt::format("join: {} and {} differ in more than dimension {}",
                                first.shape().text(), shape.text(), dimension + 1));
    sizes[dimension] += shape[dimension];
  }
  return gathered(sizes, [&](Sizes place) {
    size_t part = 0;
    for (; place[dimension] >= parts[part].array()->shape()[dimension]; ++part)
      place[dimension] -= parts[part].array()->shape()[dimension];
    const Array &source = *parts[part].array();
    return source.data()[cellAt(place, source.shape())];
  });
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
  // Cell by cell: of arrays without cells there may be many matrices and many rows.
  for (int64_t cell = 0; cell < result->cells(); ++cell) {
    int64_t begin = cell / (rows * columns) * rows * columns, row = cell % rows,
            column = cell / rows % columns;
    result->mutableData()[cell] = operand.data()[begin + row * columns + column];
  }
  return result;
}

namespace {

// Subtracts multiples of a row from those below, until nothing is left under the diagonal.
double determinant(std::vector<double> cells, int64_t size) {
  double product = 1;
  for (int64_t k = 0; k < size; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < size; ++i)
      if (std::fabs(cells[i * size + k]) > std::fabs(cells[pivot * size + k]))
        pivot = i;
    if (pivot != k) {
      for (int64_t j = 0; j < size; ++j)
        std::swap(cells[pivot * size + j], cells[k * size + j]);
      product = -product;
    }
    double first = cells[k * size + k];
    product *= first;
    if (first == 0)
      return 0;
    for (int64_t i = k + 1; i < size; ++i) {
      double factor = cells[i * size + k] / first;
      for (int64_t j = k; j < size; ++j)
        cells[i * size + j] -= factor * cells[k * size + j];
    }
  }
  return product;
}

} // namespace

Value determinants(const Value &operand) {
  const Array &x = arrayOf(operand, "determinants");
  if (x.shape().rank() < 2 || rowsOf(x) != columnsOf(x))
    throw Error(fmt::format("determinants: expected square matrices, got an array of {}",
                            x.shape().text()));
  int64_t size = rowsOf(x);
  ArrayPointer result = Array::create(Shape(x.shape().sizes().first(x.shape().rank() - 2)));
  for (int64_t i = 0; i < result->cells(); ++i) {
    const double *first = x.data() + i * size * size;
    result->mutableData()[i] = determinant({first, first + size * size}, size);
  }
  return result;
}

} // namespace tokamak::reference
