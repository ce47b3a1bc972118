#include "runtime/natives/CompleteTable.h"

#include "runtime/sparse/RowCompression.h"

#include <algorithm>
#include <numeric>

namespace tokamak::runtime {

// Positions that a thread looks at, at least.
static constexpr int64_t leastOfPart = int64_t{1} << 18;

CompleteTable::CompleteTable(ExecutionContext &context, const Array &rowKeys,
                             const Value &columnKeys, const Value &weights)
    : context_(context), count_(rowKeys.cells()), rowKeys_(rowKeys.data()),
      weights_(weights, count_), parts_(partsOf(context, count_, leastOfPart)),
      countsOnce_(weights.isNothing() || (!weights.isArray() && weights.asDouble() == 1)) {
  bool areVectors =
      !columnKeys.isNothing() && columnKeys.isArray() && columnKeys.array()->cells() == count_;
  bool isScalar = !columnKeys.isNothing() && !columnKeys.isArray() && columnKeys.asDouble() == 1;
  columnKeys_ = areVectors ? columnKeys.array()->data() : nullptr;
  isComplete_ = areVectors || isScalar;
  if (isComplete_)
    findBounds();
}

std::pair<int64_t, int64_t> CompleteTable::positionsOf(int64_t part) const {
  int64_t size = (count_ + parts_ - 1) / parts_;
  return {std::min(count_, part * size), std::min(count_, (part + 1) * size)};
}

template <typename Body> void CompleteTable::forEachPart(const Body &body) const {
  forEachRange(context_, parts_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      body(part);
  });
}

void CompleteTable::findBounds() {
  constexpr double largest = 0x1p31;
  constexpr int64_t block =
      2048; // positions whose keys are in the nearest cache when they are looked at again
  struct Bounds {
    double mostRow = 0, mostColumn = 1;
    bool areKeys = true, areAscending = true;
  };
  std::vector<Bounds> bounds(static_cast<size_t>(parts_));
  auto widen = [](const double *keys, int64_t begin, int64_t end, double &most, bool &areKeys) {
    double upper = most;
    bool valid = true;
    for (int64_t i = begin; i < end; ++i) {
      valid &= keys[i] >= 1 && keys[i] < largest; // not NaN
      upper = std::max(upper, keys[i]);
    }
    most = upper;
    areKeys &= valid;
  };
  forEachPart([&](int64_t part) {
    Bounds own;
    auto [begin, end] = positionsOf(part);
    for (int64_t first = begin; first < end && own.areKeys; first += block) {
      int64_t last = std::min(end, first + block);
      widen(rowKeys_, first, last, own.mostRow, own.areKeys);
      if (columnKeys_)
        widen(columnKeys_, first, last, own.mostColumn, own.areKeys);
      if (own.areKeys && own.areAscending)
        for (int64_t i = std::max(first, begin + 1); i < last; ++i)
          own.areAscending &= isBehind(i);
    }
    bounds[part] = own;
  });
  for (const Bounds &own : bounds) {
    isComplete_ &= own.areKeys;
    isAscending_ &= isComplete_ && own.areAscending;
    mostRow_ = std::max(mostRow_, isComplete_ && own.mostRow >= 1 ? keyAt(own.mostRow) + 1 : 0);
    mostColumn_ = std::max(mostColumn_, isComplete_ ? keyAt(own.mostColumn) + 1 : 0);
  }
  for (int64_t part = 1; part < parts_ && isAscending_; ++part)
    isAscending_ = positionsOf(part).first >= count_ || isBehind(positionsOf(part).first);
}

template <typename Body>
void CompleteTable::forEachWithin(int64_t rows, int64_t columns, const Body &body) const {
  for (int64_t i = 0; i < count_; ++i) {
    int64_t row = rowAt(i), column = columnAt(i);
    if (row < rows && column < columns)
      body(i, row, column);
  }
}

std::vector<int64_t> CompleteTable::withinBefore(int64_t rows, int64_t columns) const {
  std::vector<int64_t> before(static_cast<size_t>(parts_) + 1);
  bool areAllWithin = holdsAll(rows, columns);
  forEachPart([&](int64_t part) {
    auto [begin, end] = positionsOf(part);
    int64_t count = areAllWithin ? end - begin : 0;
    if (!areAllWithin)
      for (int64_t i = begin; i < end; ++i)
        count += rowAt(i) < rows && columnAt(i) < columns ? 1 : 0;
    before[part + 1] = count;
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

//===- dense ---------------------------------------------------------------------------------===//

// Whether it counts positions in a dense table of so few cells that each thread can have its own.
bool CompleteTable::isCounted(int64_t rows, int64_t columns) const {
  int64_t mostCells = std::min(int64_t{1} << 16, count_);
  bool hasFewCells = columns == 0 || rows <= mostCells / columns; // their product may overflow
  return countsOnce_ && hasFewCells && !Array::isBetterSparse({rows, columns}, count_);
}

ArrayPointer CompleteTable::countedMatrix(int64_t rows, int64_t columns) const {
  int64_t cells = rows * columns;
  // Two tables in turns: adding to a cell twice in a row has to wait.
  BudgetedVector<int64_t> tables(static_cast<size_t>(2 * parts_ * cells));
  bool mayBeOutside = !holdsAll(rows, columns);
  forEachPart([&](int64_t part) {
    int64_t *even = tables.data() + 2 * part * cells, *odd = even + cells;
    auto [begin, end] = positionsOf(part);
    for (int64_t i = begin; i < end; ++i) {
      int64_t row = rowAt(i), column = columnAt(i);
      if (mayBeOutside && (row >= rows || column >= columns))
        continue;
      ++(i % 2 == 0 ? even : odd)[row * columns + column];
    }
  });
  ArrayPointer result = Array::create({rows, columns});
  for (int64_t cell = 0; cell < cells; ++cell) {
    int64_t total = 0;
    for (int64_t table = 0; table < 2 * parts_; ++table)
      total += tables[table * cells + cell];
    result->mutableData()[cell] = static_cast<double>(total);
  }
  return result;
}

// Also if it has many cells, or leaves positions out, as table(seq(1, n), group, n, groups) may.
ArrayPointer CompleteTable::denseMatrix(int64_t rows, int64_t columns) const {
  ArrayPointer result = Array::filled({rows, columns}, 0);
  double *cells = result->mutableData();
  forEachWithin(rows, columns, [&](int64_t i, int64_t row, int64_t column) {
    cells[row * columns + column] += weights_[i];
  });
  return result;
}

//===- sparse --------------------------------------------------------------------------------===//

// Of ascending rows.
ArrayPointer CompleteTable::ascendingMatrix(int64_t rows, int64_t columns,
                                            std::span<const int64_t> before) const {
  Array::checkRoomForSparse(rows, columns);
  ArrayPointer result = Array::createSparse(rows, columns, before.back());
  int64_t *offsets = result->mutableRowOffsets();
  int32_t *indices = result->mutableColumnIndices();
  double *values = result->mutableData();
  // Rows of the table come first.
  int64_t count = std::partition_point(rowKeys_, rowKeys_ + count_,
                                       [&](double key) { return keyAt(key) < rows; }) -
                  rowKeys_;
  forEachPart([&](int64_t part) {
    auto [begin, end] = positionsOf(part);
    int64_t next = before[part], last = before[part + 1];
    int64_t begun = begin == 0 ? 0 : rowAt(begin - 1) + 1; // rows
    for (int64_t i = begin; i < std::min(end, count); ++i) {
      for (int64_t row = rowAt(i); begun <= row; ++begun)
        offsets[begun] = next;
      if (next == last) // what follows in this part lies outside of the table
        continue;
      int64_t column = columnAt(i);
      indices[next] = static_cast<int32_t>(column);
      values[next] = sparseWeight(i);
      next += column < columns ? 1 : 0; // else the next one takes its place
    }
  });
  std::fill(offsets + (count == 0 ? 0 : rowAt(count - 1) + 1), offsets + rows + 1, before.back());
  return result;
}

ArrayPointer CompleteTable::sortedMatrix(int64_t rows, int64_t columns, int64_t within) const {
  auto forEachEntry = [&](const auto &body) {
    forEachWithin(rows, columns, [&](int64_t i, int64_t row, int64_t column) {
      body(row, column, sparseWeight(i));
    });
  };
  return RowCompression(context_, rows, columns, within)
      .of(forEachEntry, RowCompression::SamePlace::Added);
}

ArrayPointer CompleteTable::matrix(int64_t rows, int64_t columns) const {
  if (isCounted(rows, columns))
    return countedMatrix(rows, columns);
  std::vector<int64_t> before = withinBefore(rows, columns);
  int64_t within = before.back();
  if (!Array::isBetterSparse({rows, columns}, within))
    return denseMatrix(rows, columns);
  return isAscending_ ? ascendingMatrix(rows, columns, before)
                      : sortedMatrix(rows, columns, within);
}

} // namespace tokamak::runtime
