// Natives that move the cells of arrays of any rank: dimensions in another order, every n-th place, places
// by number, arrays one behind the other.
#include "runtime/natives/NativeOperands.h"

namespace tokamak::runtime {
namespace {

using Sizes = std::array<int64_t, Shape::maxRank>;

// In cells, the distance between neighbours along each dimension of a dense array.
Sizes stridesOf(const Shape &shape) {
  Sizes strides{};
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Shape shapeOf(const Sizes &sizes, int rank) {
  return Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank)));
}

// The dimension, from 0, that a number from 1 means.
int dimensionOperand(const Value &number, const Shape &shape, std::string_view native) {
  int64_t dimension = number.asInteger();
  if (dimension < 1 || dimension > shape.rank())
    throw Error(fmt::format("{}: there is no dimension {} in an array of {}", native, dimension,
                            shape.text()));
  return static_cast<int>(dimension - 1);
}

// An array of this shape; neighbours along its dimension i are `strides[i]` cells apart in the source.
ArrayPointer strided(ExecutionContext &context, const Array &source, const Shape &shape,
                     int64_t first, const Sizes &strides) {
  ArrayPointer result = Array::create(shape, source.elementType());
  int last = shape.rank() - 1;
  int64_t columns = last < 0 ? 1 : shape[last], step = last < 0 ? 0 : strides[last];
  int64_t rows = columns == 0 ? 0 : result->cells() / columns;
  withCellSize(source.elementType(), [&]<typename Cell>() {
    const auto *cells = source.cellsAs<Cell>();
    auto *into = result->mutableCellsAs<Cell>();
    forEachRowRange(context, rows, columns, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t cell = first, rest = row;
        for (int i = last - 1; i >= 0; --i) {
          cell += rest % shape[i] * strides[i];
          rest /= shape[i];
        }
        Cell *to = into + row * columns;
        if (step == 1)
          std::copy_n(cells + cell, columns, to);
        else
          for (int64_t column = 0; column < columns; ++column)
            to[column] = cells[cell + column * step];
      }
    });
  });
  return result;
}

} // namespace

void runPermute(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "permute");
  Sizes own = stridesOf(source.shape()), sizes{}, strides{};
  uint32_t seen = 0;
  auto rank = static_cast<int>(operands.size()) - 1;
  for (int i = 0; i < rank; ++i) {
    int from = dimensionOperand(operands[i + 1], source.shape(), "permute");
    if (seen >> from & 1)
      throw Error(fmt::format("permute: dimension {} stands twice in the order", from + 1));
    seen |= 1U << from;
    sizes[i] = source.shape()[from];
    strides[i] = own[from];
  }
  results[0] = strided(context, source, shapeOf(sizes, rank), 0, strides);
}

void runStridedSlice(ExecutionContext &context, std::span<Value> operands,
                     std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "strided_slice");
  const Shape &from = source.shape();
  Sizes own = stridesOf(from), sizes{}, strides{};
  int64_t first = 0;
  for (int i = 0; i < from.rank(); ++i) {
    const Value *numbers = &operands[1 + 3 * i];
    int64_t begin = numbers[0].asInteger(), step = numbers[2].asInteger();
    sizes[i] =
        sizeOperand(numbers[1], "strided_slice", fmt::format("cells along dimension {}", i + 1));
    if (sizes[i] == 0)
      continue;
    int64_t reach = 0, last = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, step, &reach) ||
        __builtin_add_overflow(begin, reach, &last) || std::min(begin, last) < 1 ||
        std::max(begin, last) > from[i])
      throw Error(
          fmt::format("strided_slice: {} places from {} on, in steps of {}, of the {} along "
                      "dimension {}",
                      sizes[i], begin, step, from[i], i + 1));
    first += (begin - 1) * own[i];
    strides[i] = own[i] * step;
  }
  results[0] = strided(context, source, shapeOf(sizes, from.rank()), first, strides);
}

void runTake(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "take");
  int dimension = dimensionOperand(operands[2], source.shape(), "take");
  const Shape &from = source.shape(), &inner = operands[1].array()->shape();
  ArrayReference indices = Array::withElementType(operands[1].array(), ElementType::I64);
  int64_t places = from[dimension], taken = indices->cells();
  for (int64_t i = 0; i < taken; ++i)
    if (int64_t index = indices->cellsAs<int64_t>()[i]; index < 1 || index > places)
      throw Error(fmt::format("take: there is no place {} among the {} along dimension {}", index,
                              places, dimension + 1));
  int rank = from.rank() - 1 + inner.rank();
  if (rank > Shape::maxRank)
    throw Error(fmt::format("take: the result would have {} dimensions; at most {} are supported",
                            rank, Shape::maxRank));
  Sizes sizes{};
  auto end = std::copy_n(from.sizes().begin(), dimension, sizes.begin());
  end = std::copy(inner.sizes().begin(), inner.sizes().end(), end);
  std::copy(from.sizes().begin() + dimension + 1, from.sizes().end(), end);
  ArrayPointer result = Array::create(shapeOf(sizes, rank), source.elementType());
  // Whole runs of cells behind the dimension are moved.
  int64_t run = stridesOf(from)[dimension], rows = run == 0 ? 0 : result->cells() / run;
  forEachRowRange(context, rows, run, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t index = indices->cellsAs<int64_t>()[row % taken] - 1;
      copyCells(source, (row / taken * places + index) * run, run, result->mutableBytes(),
                row * run);
    }
  });
  results[0] = std::move(result);
}

void runJoin(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  std::span<Value> parts = operands.subspan(1);
  const Shape &first = denseOperand(parts[0], "join").shape();
  int dimension = dimensionOperand(operands[0], first, "join");
  Sizes sizes{};
  std::copy(first.sizes().begin(), first.sizes().end(), sizes.begin());
  for (const Value &part : parts.subspan(1)) {
    const Shape &shape = part.array()->shape();
    for (int i = 0; i < first.rank(); ++i)
      if (i != dimension && shape[i] != first[i])
        throw Error(fmt::format("join: {} and {} differ in more than dimension {}", first.text(),
                                shape.text(), dimension + 1));
    sizes[dimension] += shape[dimension];
  }
  ArrayPointer result =
      Array::create(shapeOf(sizes, first.rank()), parts[0].array()->elementType());
  // Of each part and of the result, the cells of one place in the dimensions before.
  int64_t whole = sizes[dimension] * stridesOf(result->shape())[dimension], at = 0;
  int64_t places = whole == 0 ? 0 : result->cells() / whole;
  for (const Value &part : parts) {
    int64_t own = part.array()->shape()[dimension] * stridesOf(result->shape())[dimension];
    forEachRowRange(context, places, own, [&](int64_t begin, int64_t end) {
      for (int64_t place = begin; place < end; ++place)
        copyCells(*part.array(), place * own, own, result->mutableBytes(), place * whole + at);
    });
    at += own;
  }
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
