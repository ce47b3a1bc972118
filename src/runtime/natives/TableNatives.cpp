// The native table: contingency tables.
#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/values/ScalarOperations.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

namespace tokamak::runtime {
namespace {

// A parameter of table(): a vector, a scalar for every position, or absent (1 for every position).
class TableColumn {
public:
  TableColumn(const Value &operand, int64_t length) {
    if (operand.isNothing())
      return;
    if (!operand.isArray()) {
      scalar_ = operand.asDouble();
      return;
    }
    const Array &array = matrixOperand(operand, "table");
    if (array.cells() != length)
      throw Error(fmt::format("table: the vectors have different lengths, {} and {}", length,
                              array.cells()));
    data_ = array.data();
  }
  double operator[](int64_t i) const { return data_ ? data_[i] : scalar_; }

private:
  const double *data_ = nullptr;
  double scalar_ = 1;
};

int64_t tableKey(double cell) {
  int64_t key = truncateToInteger(cell);
  if (key < 1)
    throw Error(fmt::format("table: keys must be at least 1, got {}", textOf(cell + 0.0)));
  return key;
}

// The entries that table() counts: positions whose keys are not NaN. Keys are
// converted to count from 0.
class TableEntries {
public:
  TableEntries(const Array &rowKeys, const Value &columnKeys, const Value &weights)
      : rowKeys_(rowKeys), columnKeys_(columnKeys, rowKeys.cells()),
        weights_(weights, rowKeys.cells()) {}

  // Calls body(row, column, weight, position). Throws Error at a key that is not positive.
  template <typename Body> void forEach(const Body &body) const {
    for (int64_t i = 0; i < rowKeys_.cells(); ++i) {
      double row = rowKeys_.data()[i], column = columnKeys_[i];
      if (!std::isnan(row) && !std::isnan(column))
        body(tableKey(row) - 1, tableKey(column) - 1, weights_[i], i);
    }
  }

private:
  const Array &rowKeys_;
  TableColumn columnKeys_, weights_;
};

ArrayPointer denseTable(const TableEntries &entries, int64_t rows, int64_t columns) {
  ArrayPointer result = Array::filled({rows, columns}, 0);
  double *cells = result->mutableData();
  entries.forEach([&](int64_t row, int64_t column, double weight, int64_t) {
    if (row < rows && column < columns)
      cells[row * columns + column] += weight;
  });
  return result;
}

// The most common tables, of keys that are all present: they need no checks at each position.
class CompleteTable {
public:
  CompleteTable(ExecutionContext &context, const Array &rowKeys, const Value &columnKeys,
                const Value &weights)
      : context_(context), count_(rowKeys.cells()), rowKeys_(rowKeys.data()),
        weights_(weights, count_),
        countsOnce_(weights.isNothing() || (!weights.isArray() && weights.asDouble() == 1)) {
    bool areVectors =
        !columnKeys.isNothing() && columnKeys.isArray() && columnKeys.array()->cells() == count_;
    bool isScalar = !columnKeys.isNothing() && !columnKeys.isArray() && columnKeys.asDouble() == 1;
    columnKeys_ = areVectors ? columnKeys.array()->data() : nullptr;
    isComplete_ = areVectors || isScalar;
    if (isComplete_)
      findBounds();
  }

  // Whether all keys are numbers from 1 on.
  bool isComplete() const { return isComplete_; }
  // Whether it counts positions in a dense table of so few cells that each thread can have its own.
  bool isCounted(int64_t rows, int64_t columns) const {
    constexpr int64_t mostCells = int64_t{1} << 16;
    return isComplete_ && countsOnce_ && count_ > 0 &&
           rows * columns <= std::min(mostCells, count_) &&
           !Array::isBetterSparse({rows, columns}, count_);
  }
  // Whether each row has at most one entry, which stand in the order of the rows, as in table(seq(1, n), ...).
  bool isAscending() const { return isComplete_ && isAscending_; }
  int64_t rows() const { return mostRow_; }
  int64_t columns() const { return mostColumn_; }

  ArrayPointer countedMatrix(int64_t rows, int64_t columns) const {
    int64_t cells = rows * columns, parts = partsOf(context_, count_, leastOfPart),
            size = (count_ + parts - 1) / parts;
    // Two tables in turns: adding to a cell twice in a row has to wait.
    BudgetedVector<int64_t> tables(static_cast<size_t>(2 * parts * cells));
    bool mayBeOutside = !holdsAll(rows, columns);
    forEachRange(context_, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        int64_t *even = tables.data() + 2 * part * cells, *odd = even + cells;
        for (int64_t i = part * size; i < std::min(count_, (part + 1) * size); ++i) {
          int64_t row = rowAt(i), column = columnAt(i);
          if (mayBeOutside && (row >= rows || column >= columns))
            continue;
          ++(i % 2 == 0 ? even : odd)[row * columns + column];
        }
      }
    });
    ArrayPointer result = Array::create({rows, columns});
    for (int64_t cell = 0; cell < cells; ++cell) {
      int64_t total = 0;
      for (int64_t table = 0; table < 2 * parts; ++table)
        total += tables[table * cells + cell];
      result->mutableData()[cell] = static_cast<double>(total);
    }
    return result;
  }

  // Positions whose keys are within the table.
  int64_t countWithin(int64_t rows, int64_t columns) const {
    if (holdsAll(rows, columns))
      return count_;
    int64_t count = 0;
    forEachWithin(rows, columns, [&](int64_t, int64_t, int64_t) { ++count; });
    return count;
  }

  // Also if it has many cells, or leaves positions out, as table(seq(1, n), group, n, groups) may.
  ArrayPointer denseMatrix(int64_t rows, int64_t columns) const {
    ArrayPointer result = Array::filled({rows, columns}, 0);
    double *cells = result->mutableData();
    forEachWithin(rows, columns, [&](int64_t i, int64_t row, int64_t column) {
      cells[row * columns + column] += weights_[i];
    });
    return result;
  }

  // Whether there are so few rows that each can have a place of its own beside the positions.
  static bool hasFewRows(int64_t rows, int64_t within) {
    return rows / 2 <= within && within <= std::numeric_limits<uint32_t>::max();
  }

  // Of rows in any order, with so many positions within the table: they are sorted by row, then those of each row by
  // column.
  ArrayPointer sortedMatrix(int64_t rows, int64_t columns, int64_t within) const {
    return countsOnce_ ? sortedMatrixOf<Once>(rows, columns, within)
                       : sortedMatrixOf<Weighted>(rows, columns, within);
  }

  // Of ascending rows, with so many positions within the table.
  ArrayPointer sparseMatrix(int64_t rows, int64_t columns, int64_t within) const {
    Array::checkRoomForSparse(rows, columns);
    ArrayPointer result = Array::createSparse(rows, columns, within);
    int64_t *offsets = result->mutableRowOffsets();
    int32_t *indices = result->mutableColumnIndices();
    double *values = result->mutableData();
    if (within < count_) {
      int64_t next = 0, begun = 0; // entries, and rows
      forEachWithin(rows, columns, [&](int64_t i, int64_t row, int64_t column) {
        for (; begun <= row; ++begun)
          offsets[begun] = next;
        indices[next] = static_cast<int32_t>(column);
        values[next++] = sparseWeight(i);
      });
      std::fill(offsets + begun, offsets + rows + 1, next);
      return result;
    }
    forEachRange(context_, count_ + 1, parallelGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i == 0 ? 0 : rowAt(i - 1) + 1, last = i < count_ ? rowAt(i) : rows;
        std::fill(offsets + first, offsets + last + 1, i);
        if (i == count_)
          continue;
        indices[i] = static_cast<int32_t>(columnAt(i));
        values[i] = sparseWeight(i);
      }
    });
    return result;
  }

private:
  // truncateToInteger(key) - 1 of a key that is at least 1.
  static int64_t keyAt(double key) { return static_cast<int64_t>(key + 0x1p-53) - 1; }

  int64_t rowAt(int64_t i) const { return keyAt(rowKeys_[i]); }
  int64_t columnAt(int64_t i) const { return columnKeys_ ? keyAt(columnKeys_[i]) : 0; }
  double sparseWeight(int64_t i) const { return weights_[i] + 0.0; } // -0 counts as 0
  bool holdsAll(int64_t rows, int64_t columns) const {
    return mostRow_ <= rows && mostColumn_ <= columns;
  }

  template <typename Body>
  void forEachWithin(int64_t rows, int64_t columns, const Body &body) const {
    for (int64_t i = 0; i < count_; ++i) {
      int64_t row = rowAt(i), column = columnAt(i);
      if (row < rows && column < columns)
        body(i, row, column);
    }
  }

  // A position of the row that is sorted. Weights of a cell are added in the order of positions.
  struct Once {
    Once(int64_t /*place*/, int64_t column, double /*weight*/)
        : column(static_cast<int32_t>(column)) {}
    bool operator<(const Once &other) const { return column < other.column; }
    void addTo(double &cell) const { ++cell; }
    int32_t column;
  };
  struct Weighted {
    Weighted(int64_t place, int64_t column, double weight)
        : weight(weight), column(static_cast<int32_t>(column)),
          place(static_cast<uint32_t>(place)) {}
    bool operator<(const Weighted &other) const {
      return std::tie(column, place) < std::tie(other.column, other.place);
    }
    void addTo(double &cell) const { cell += weight; }
    double weight;
    int32_t column;
    uint32_t place;
  };

  template <typename Entry>
  ArrayPointer sortedMatrixOf(int64_t rows, int64_t columns, int64_t within) const {
    Array::checkRoomForSparse(rows, columns);
    // While positions are placed, begins[row + 1] is the place of the row's next one; in the end that is where the next
    // row begins.
    BudgetedVector<int64_t> begins(static_cast<size_t>(rows) + 2);
    forEachWithin(rows, columns, [&](int64_t, int64_t row, int64_t) { ++begins[row + 2]; });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    BudgetedVector<Entry> sorted(static_cast<size_t>(within), Entry(0, 0, 0));
    forEachWithin(rows, columns, [&](int64_t i, int64_t row, int64_t column) {
      int64_t place = begins[row + 1]++;
      sorted[place] = Entry(place, column, weights_[i]);
    });
    auto forEachRow = [&](const auto &body) {
      forEachRange(context_, rows, parallelGrain / 8, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          body(row, sorted.data() + begins[row], sorted.data() + begins[row + 1]);
      });
    };
    BudgetedVector<int64_t> cells(static_cast<size_t>(rows) + 1);
    forEachRow([&](int64_t row, Entry *begin, Entry *end) {
      std::sort(begin, end);
      for (const Entry *next = begin; next < end; ++next)
        cells[row + 1] += next == begin || next->column != next[-1].column;
    });
    std::partial_sum(cells.begin(), cells.end(), cells.begin());
    ArrayPointer result = Array::createSparse(rows, columns, cells.back());
    std::copy(cells.begin(), cells.end(), result->mutableRowOffsets());
    int32_t *indices = result->mutableColumnIndices();
    double *values = result->mutableData();
    forEachRow([&](int64_t row, const Entry *next, const Entry *end) {
      for (int64_t place = cells[row]; next < end; ++place) {
        indices[place] = next->column;
        values[place] = 0;
        for (int32_t column = next->column; next < end && next->column == column; ++next)
          next->addTo(values[place]);
      }
    });
    return result;
  }

  static constexpr int64_t leastOfPart = int64_t{1} << 18;

  void findBounds() {
    constexpr double largest = 0x1p31;
    int64_t parts = partsOf(context_, count_, leastOfPart), size = (count_ + parts - 1) / parts;
    struct Bounds {
      double mostRow = 0, mostColumn = 1;
      bool areKeys = true, areAscending = true;
    };
    std::vector<Bounds> bounds(static_cast<size_t>(parts));
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
    forEachRange(context_, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        Bounds &own = bounds[part];
        int64_t first = part * size, last = std::min(count_, first + size);
        widen(rowKeys_, first, last, own.mostRow, own.areKeys);
        if (columnKeys_)
          widen(columnKeys_, first, last, own.mostColumn, own.areKeys);
        own.areAscending = own.areKeys;
        for (int64_t i = first + 1; i < last && own.areAscending; ++i)
          own.areAscending = isBehind(i);
      }
    });
    for (const Bounds &own : bounds) {
      isComplete_ &= own.areKeys;
      isAscending_ &= isComplete_ && own.areAscending;
      mostRow_ = std::max(mostRow_, isComplete_ && own.mostRow >= 1 ? keyAt(own.mostRow) + 1 : 0);
      mostColumn_ = std::max(mostColumn_, isComplete_ ? keyAt(own.mostColumn) + 1 : 0);
    }
    for (int64_t part = 1; part < parts && isAscending_; ++part)
      isAscending_ = part * size >= count_ || isBehind(part * size);
  }

  // Whether this key is of a later row than the one before it.
  bool isBehind(int64_t i) const { return rowAt(i) > rowAt(i - 1); }

  ExecutionContext &context_;
  int64_t count_;
  const double *rowKeys_, *columnKeys_ = nullptr; // null: the column is 1
  TableColumn weights_;
  bool countsOnce_; // weights are all 1
  bool isComplete_ = false, isAscending_ = true;
  int64_t mostRow_ = 0, mostColumn_ = 0;
};

// Builds a sparse table. The weights of a cell are added in the order of
// positions, as in a dense table.
class SparseTable {
public:
  // `count`: the number of entries within the table.
  SparseTable(ExecutionContext &context, const TableEntries &entries, int64_t count, int64_t rows,
              int64_t columns)
      : context_(context), rows_(rows), columns_(columns),
        rowsPerBucket_(std::max<int64_t>(1, rows / std::max<int64_t>(1, count))) {
    Array::checkRoomForSparse(rows, columns);
    distribute(entries, count);
    mergeCells();
  }

  ArrayPointer matrix() {
    ArrayPointer result = Array::createSparse(rows_, columns_, cells_.back());
    int64_t *offsets = result->mutableRowOffsets();
    int32_t *indices = result->mutableColumnIndices();
    double *values = result->mutableData();
    forEachBucket([&](int64_t bucket) {
      int64_t next = cells_[bucket], count = cells_[bucket + 1] - next;
      int64_t row = bucket * rowsPerBucket_;
      for (int64_t i = 0; i < count; ++i, ++next) {
        const Entry &entry = entries_[begins_[bucket] + i];
        while (row <= entry.row)
          offsets[row++] = next;
        indices[next] = entry.column;
        values[next] = entry.weight;
      }
      while (row < std::min(rows_, (bucket + 1) * rowsPerBucket_))
        offsets[row++] = next;
    });
    offsets[rows_] = cells_.back();
    return result;
  }

private:
  struct Entry {
    int64_t row, position;
    double weight;
    int32_t column;
  };

  // Sorts entries into buckets of consecutive rows. There are at most two buckets per entry, so
  // their memory does not depend on the number of rows.
  void distribute(const TableEntries &entries, int64_t count) {
    int64_t buckets = rows_ / rowsPerBucket_ + (rows_ % rowsPerBucket_ != 0);
    begins_.resize(buckets + 1);
    auto forEachWithin = [&](const auto &body) {
      entries.forEach([&](int64_t row, int64_t column, double weight, int64_t position) {
        if (row < rows_ && column < columns_)
          body(Entry{row, position, weight + 0.0, static_cast<int32_t>(column)}); // -0 counts as 0
      });
    };
    forEachWithin([&](const Entry &entry) { ++begins_[entry.row / rowsPerBucket_]; });
    std::exclusive_scan(begins_.begin(), begins_.end(), begins_.begin(), int64_t{0});
    // While entries are distributed, begins_[b] is the place of the bucket's next entry; in the end
    // that is where the next bucket begins.
    entries_.resize(count);
    forEachWithin(
        [&](const Entry &entry) { entries_[begins_[entry.row / rowsPerBucket_]++] = entry; });
    std::copy_backward(begins_.begin(), begins_.end() - 1, begins_.end());
    begins_[0] = 0;
  }

  // Merges the entries of each cell, and moves the merged entries to the front of their bucket.
  void mergeCells() {
    cells_.resize(begins_.size());
    forEachBucket([&](int64_t bucket) {
      auto begin = entries_.begin() + begins_[bucket], end = entries_.begin() + begins_[bucket + 1];
      std::sort(begin, end, [](const Entry &a, const Entry &b) {
        return std::tie(a.row, a.column, a.position) < std::tie(b.row, b.column, b.position);
      });
      auto last = begin;
      for (auto entry = begin; entry != end; ++entry) {
        if (entry == begin)
          continue;
        if (entry->row == last->row && entry->column == last->column)
          last->weight += entry->weight;
        else
          *++last = *entry;
      }
      cells_[bucket + 1] = begin == end ? 0 : last - begin + 1;
    });
    std::partial_sum(cells_.begin(), cells_.end(), cells_.begin());
  }

  template <typename Body> void forEachBucket(const Body &body) {
    auto buckets = static_cast<int64_t>(begins_.size()) - 1;
    forEachRange(context_, buckets, parallelGrain / 8 / rowsPerBucket_,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t bucket = begin; bucket < end; ++bucket)
                     body(bucket);
                 });
  }

  ExecutionContext &context_;
  int64_t rows_, columns_, rowsPerBucket_;
  BudgetedVector<int64_t> begins_; // where the entries of each bucket begin
  BudgetedVector<Entry> entries_;
  BudgetedVector<int64_t> cells_; // the number of cells before each bucket
};

} // namespace

void runTable(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &rowKeys = matrixOperand(operands[0], "table");
  TableEntries entries(rowKeys, operands[1], operands[2]);
  auto sizeGiven = [](const Value &operand, std::string_view what) -> std::optional<int64_t> {
    if (operand.isNothing())
      return std::nullopt;
    return sizeOperand(operand, "table", what);
  };
  std::optional<int64_t> givenRows = sizeGiven(operands[3], "rows"),
                         givenColumns = sizeGiven(operands[4], "columns");
  CompleteTable table(context, rowKeys, operands[1], operands[2]);
  if (table.isComplete()) {
    int64_t ownRows = givenRows.value_or(table.rows()),
            ownColumns = givenColumns.value_or(table.columns());
    if (table.isCounted(ownRows, ownColumns)) {
      results[0] = table.countedMatrix(ownRows, ownColumns);
      return;
    }
    if (rowKeys.cells() > 0) {
      int64_t within = table.countWithin(ownRows, ownColumns);
      if (!Array::isBetterSparse({ownRows, ownColumns}, within)) {
        results[0] = table.denseMatrix(ownRows, ownColumns);
        return;
      }
      if (table.isAscending()) {
        results[0] = table.sparseMatrix(ownRows, ownColumns, within);
        return;
      }
      if (CompleteTable::hasFewRows(ownRows, within)) {
        results[0] = table.sortedMatrix(ownRows, ownColumns, within);
        return;
      }
    }
  }
  int64_t rows = 0, columns = 0, count = 0;
  entries.forEach([&](int64_t row, int64_t column, double, int64_t) {
    rows = std::max(rows, row + 1);
    columns = std::max(columns, column + 1);
    count += (!givenRows || row < *givenRows) && (!givenColumns || column < *givenColumns);
  });
  rows = givenRows ? *givenRows : checkedSize(rows, "table", "rows");
  columns = givenColumns ? *givenColumns : checkedSize(columns, "table", "columns");
  results[0] = Array::isBetterSparse({rows, columns}, count)
                   ? SparseTable(context, entries, count, rows, columns).matrix()
                   : denseTable(entries, rows, columns);
}

} // namespace tokamak::runtime
