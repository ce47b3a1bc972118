// The native table: contingency tables.
#include "runtime/natives/CompleteTable.h"
#include "runtime/sparse/SparseMatrix.h"

#include <numeric>
#include <optional>
#include <tuple>

namespace tokamak::runtime {
namespace {

ArrayPointer denseTable(const TableEntries &entries, int64_t rows, int64_t columns) {
  ArrayPointer result = Array::filled({rows, columns}, 0);
  double *cells = result->mutableData();
  entries.forEach([&](int64_t row, int64_t column, double weight, int64_t) {
    if (row < rows && column < columns)
      cells[row * columns + column] += weight;
  });
  return result;
}

// Builds a sparse table of any size. The weights of a cell are added in the order of
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
  if (rowKeys.cells() > 0)
    if (CompleteTable table(context, rowKeys, operands[1], operands[2]); table.isComplete())
      if (ArrayPointer matrix = table.matrix(givenRows.value_or(table.rows()),
                                             givenColumns.value_or(table.columns()))) {
        results[0] = std::move(matrix);
        return;
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
