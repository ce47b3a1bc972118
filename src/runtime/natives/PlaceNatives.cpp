// Natives that find places: of the largest and least cells of each row, of cells that are not 0, of rows in
// their order; these count from 1. And the check of indices that count from 0.
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/CellOrder.h"

#include <numeric>

namespace tokamak::runtime {
namespace {

// NaN is larger than every number.
template <typename Cell> int compare(Cell a, Cell b) {
  if constexpr (isFloatCell<Cell>)
    return compareCells(convertCell<double>(a), convertCell<double>(b));
  else
    return (a > b) - (a < b);
}

} // namespace

// Equal cells are in the order of their places, so that there is one result only.
void runTopPlaces(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "top_places");
  const Shape &shape = source.shape();
  int64_t count = sizeOperand(operands[1], "top_places", "places");
  int64_t length = shape.rank() == 0 ? 0 : shape[shape.rank() - 1];
  if (shape.rank() == 0 || count > length)
    throw Error(fmt::format("top_places: {} places of an array of {}", count, shape.text()));
  bool decreasing = operands[2].asBoolean();
  ArrayPointer result = Array::create(shape.withLast(count), ElementType::I64);
  auto *to = result->mutableCellsAs<int64_t>();
  int64_t rows = count == 0 ? 0 : result->cells() / count;
  withCellType(source.elementType(), [&]<typename Cell>() {
    forEachRowRange(context, rows, length, [&](int64_t begin, int64_t end) {
      BudgetedVector<int64_t> places(length);
      for (int64_t row = begin; row < end; ++row) {
        const auto *cells = source.cellsAs<Cell>() + row * length;
        auto *into = to + row * count;
        std::iota(places.begin(), places.end(), 0);
        auto isBefore = [&](int64_t a, int64_t b) {
          int order = decreasing ? compare(cells[b], cells[a]) : compare(cells[a], cells[b]);
          return order != 0 ? order < 0 : a < b;
        };
        if (count < length)
          std::partial_sort(places.begin(), places.begin() + count, places.end(), isBefore);
        else // several times as fast
          std::sort(places.begin(), places.end(), isBefore);
        std::transform(places.begin(), places.begin() + count, into,
                       [](int64_t place) { return place + 1; });
      }
    });
  });
  results[0] = std::move(result);
}

void runNonzeroPlaces(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "nonzero_places");
  withCellType(source.elementType(), [&]<typename Cell>() {
    const auto *cells = source.cellsAs<Cell>();
    auto isNonzero = [](Cell cell) { return convertCell<bool>(cell); };
    int64_t count = std::count_if(cells, cells + source.cells(), isNonzero);
    ArrayPointer result = Array::create({count}, ElementType::I64);
    auto *next = result->mutableCellsAs<int64_t>();
    for (int64_t i = 0; i < source.cells(); ++i)
      if (isNonzero(cells[i]))
        *next++ = i + 1;
    results[0] = std::move(result);
  });
}

void runRowRanks(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "row_ranks");
  int64_t columns = source.columns();
  BudgetedVector<int64_t> rows(source.rows());
  std::iota(rows.begin(), rows.end(), 0);
  ArrayPointer result = Array::create({source.rows(), 1}, ElementType::I64);
  withCellType(source.elementType(), [&]<typename Cell>() {
    const auto *cells = source.cellsAs<Cell>();
    auto compareRows = [&](int64_t a, int64_t b) {
      for (int64_t j = 0; j < columns; ++j)
        if (int order = compare(cells[a * columns + j], cells[b * columns + j]))
          return order;
      return 0;
    };
    std::sort(rows.begin(), rows.end(),
              [&](int64_t a, int64_t b) { return compareRows(a, b) < 0; });
    int64_t rank = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      rank += i == 0 || compareRows(rows[i - 1], rows[i]) != 0;
      result->mutableCellsAs<int64_t>()[rows[i]] = rank;
    }
  });
  results[0] = std::move(result);
}

// Where each cell of the first operand goes in the second, a sorted vector: before cells that equal it, or behind them.
void runSortedPlaces(ExecutionContext &context, std::span<Value> operands,
                     std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "sorted_places"),
              &sorted = denseOperand(operands[1], "sorted_places");
  if (sorted.shape().rank() != 1)
    throw Error(
        fmt::format("sorted_places: expected a vector, got an array of {}", sorted.shape().text()));
  bool isBehind = operands[2].asBoolean();
  ArrayPointer result = Array::create(source.shape(), ElementType::I64);
  auto *to = result->mutableCellsAs<int64_t>();
  constexpr int64_t grain = 1 << 12;
  withCellType(source.elementType(), [&]<typename Cell>() {
    const auto *cells = source.cellsAs<Cell>(), *first = sorted.cellsAs<Cell>();
    const auto *last = first + sorted.cells();
    forEachRange(context, source.cells(), grain, [&](int64_t begin, int64_t end) {
      auto isLess = [](Cell a, Cell b) { return compare(a, b) < 0; };
      for (int64_t i = begin; i < end; ++i)
        to[i] = 1 + ((isBehind ? std::upper_bound(first, last, cells[i], isLess)
                               : std::lower_bound(first, last, cells[i], isLess)) -
                     first);
    });
  });
  results[0] = std::move(result);
}

void runCheckedIndices(ExecutionContext &context, std::span<Value> operands,
                       std::span<Value> results) {
  const Array &indices = denseOperand(operands[0], "checked_indices");
  if (indices.elementType() != ElementType::I64)
    throw Error(
        fmt::format("checked_indices: indices of {}, not i64", nameOf(indices.elementType())));
  int64_t size = operands[1].asInteger(), least = operands[2].asBoolean() ? -size : 0;
  ArrayPointer result = Array::create(indices.shape(), ElementType::I64);
  const auto *from = indices.cellsAs<int64_t>();
  auto *to = result->mutableCellsAs<int64_t>();
  forEachRange(context, indices.cells(), parallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (from[i] < least || from[i] >= size)
        throw Error(
            size == 0
                ? fmt::format("the index {} is of a dimension without places", from[i])
                : fmt::format("the index {} is outside of {} to {}", from[i], least, size - 1));
      to[i] = from[i] < 0 ? from[i] + size : from[i];
    }
  });
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
