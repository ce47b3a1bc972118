// Natives that move the cells of arrays of any rank: dimensions in another order, every n-th place, places
// by number, arrays one behind the other.
#include "runtime/natives/CellTransposition.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/RowCopies.h"

#include <functional>

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

// Walks over the same cells in the same order along as few dimensions as possible, whose number it returns: none of
// size 1, and those that one distance describes are one.
int mergeDimensions(Sizes &sizes, Sizes &strides, int rank) {
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] == 1)
      continue;
    if (kept > 0 && strides[kept - 1] == sizes[i] * strides[i]) {
      sizes[kept - 1] *= sizes[i];
      strides[kept - 1] = strides[i];
    } else {
      sizes[kept] = sizes[i];
      strides[kept++] = strides[i];
    }
  }
  return kept;
}

// Lines of cells in an array: how many of how many, and the distances between lines and between the cells of one.
struct Lines {
  int64_t count, cells, distance, step;
};

// Writes the lines one behind the other.
template <typename Cell> void copyLines(const Cell *from, const Lines &lines, Cell *to) {
  constexpr int64_t fewCells = 8; // are copied faster than a function is called
  if (lines.step == 1 && lines.cells > fewCells) {
    for (int64_t line = 0; line < lines.count; ++line)
      std::copy_n(from + line * lines.distance, lines.cells, to + line * lines.cells);
    return;
  }
  if (lines.distance != 1) {
    for (int64_t line = 0; line < lines.count; ++line, from += lines.distance)
#pragma clang loop vectorize(disable)
      for (int64_t cell = 0; cell < lines.cells; ++cell)
        *to++ = from[cell * lines.step];
    return;
  }
  // Neighbours are of different lines.
  transposeCells(from, lines.step, lines.cells, lines.count, to, lines.cells);
}

// An array of this shape; neighbours along its dimension i are `strides[i]` cells apart in the source. Cells that follow
// each other there are not copied.
ArrayPointer strided(ExecutionContext &context, const Array &source, const Shape &all,
                     int64_t first, Sizes strides) {
  if (all.cells() == 0)
    return Array::create(all, source.elementType());
  Sizes shape{};
  std::copy(all.sizes().begin(), all.sizes().end(), shape.begin());
  int rank = mergeDimensions(shape, strides, all.rank());
  if (rank == 0 || (rank == 1 && strides[0] == 1)) {
    context.touchedBytes = 0;
    return source.part(first, all);
  }
  ArrayPointer result = Array::create(all, source.elementType());
  int last = rank - 1;
  int64_t columns = shape[last], step = strides[last];
  int64_t lines = last == 0 ? 1 : shape[last - 1], distance = last == 0 ? 0 : strides[last - 1];
  withCellSize(source.elementType(), [&]<typename Cell>() {
    const auto *cells = source.cellsAs<Cell>();
    auto *into = result->mutableCellsAs<Cell>();
    forEachRowRange(context, all.cells() / columns, columns, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end;) {
        int64_t line = row % lines, count = std::min(end - row, lines - line);
        int64_t cell = first + line * distance, rest = row / lines;
        for (int i = last - 2; i >= 0; --i) {
          cell += rest % shape[i] * strides[i];
          rest /= shape[i];
        }
        copyLines(cells + cell, {count, columns, distance, step}, into + row * columns);
        row += count;
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
  if (rank != source.shape().rank())
    throw Error(fmt::format("permute: an order of {} dimensions for an array of {}", rank,
                            source.shape().text()));
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
    sizes[i] = sizeOfDimension(numbers[1], "strided_slice", i);
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
  int rank = from.rank() - 1 + inner.rank();
  if (rank > Shape::maxRank)
    throw Error(fmt::format("take: the result would have {} dimensions; at most {} are supported",
                            rank, Shape::maxRank));
  Sizes sizes{};
  auto end = std::copy_n(from.sizes().begin(), dimension, sizes.begin());
  end = std::copy(inner.sizes().begin(), inner.sizes().end(), end);
  std::copy(from.sizes().begin() + dimension + 1, from.sizes().end(), end);
  Shape shape = shapeOf(sizes, rank);
  // Nothing is taken for a result without cells.
  for (int64_t i = 0; i < taken && shape.cells() > 0; ++i)
    if (int64_t index = indices->cellsAs<int64_t>()[i]; index < 1 || index > places)
      throw Error(fmt::format("take: there is no place {} among the {} along dimension {}", index,
                              places, dimension + 1));
  // Whole runs of cells behind the dimension are moved; a single one stays where it is.
  int64_t run = stridesOf(from)[dimension], rows = run == 0 ? 0 : shape.cells() / run;
  if (rows == 1) {
    results[0] = source.part((indices->cellsAs<int64_t>()[0] - 1) * run, shape);
    context.touchedBytes = 0;
    return;
  }
  ArrayPointer result = Array::create(shape, source.elementType());
  withCellSize(source.elementType(), [&]<typename Cell>() {
    const auto *cells = source.cellsAs<Cell>();
    const auto *index = indices->cellsAs<int64_t>();
    auto *into = result->mutableCellsAs<Cell>();
    forEachRowRange(context, rows, run, [&](int64_t begin, int64_t end) {
      const Cell *from = cells + begin / taken * places * run;
      for (int64_t row = begin; row < end; from += places * run) {
        int64_t first = row % taken, last = std::min(taken, first + end - row);
        if (run == 1)
          for (int64_t number = first; number < last; ++number)
            into[row++] = from[index[number] - 1];
        else
          for (int64_t number = first; number < last; ++number, ++row)
            std::copy_n(from + (index[number] - 1) * run, run, into + row * run);
      }
    });
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
  int64_t cell = byteSize(result->elementType());
  std::byte *to = result->mutableBytes();
  for (const Value &part : parts) {
    int64_t own = part.array()->shape()[dimension] * stridesOf(result->shape())[dimension];
    const std::byte *from = part.array()->rawBytes();
    forEachRowRange(context, places, own, [&](int64_t begin, int64_t end) {
      copyRows({to + at * cell, whole * cell}, {from, own * cell}, begin, end, own * cell,
               std::identity());
    });
    at += own;
  }
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
