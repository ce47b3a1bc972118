#include "runtime/sparse/CellCollector.h"

#include "runtime/natives/NativeOperands.h"

#include <numeric>

namespace tokamak::runtime {
namespace {

// Buffers the entries of one row while they are sorted.
class RowEntries {
public:
  // Sorts the entries [begin, end) by columns, removes zeros and, of entries with the same column,
  // all but the last; the remaining ones are moved to the front. Returns their number.
  int64_t tidy(int32_t *columns, double *values, int64_t begin, int64_t end) {
    if (!std::is_sorted(columns + begin, columns + end)) {
      entries_.clear();
      for (int64_t p = begin; p < end; ++p)
        entries_.push_back({columns[p], p, values[p]});
      std::sort(entries_.begin(), entries_.end(), [](const Entry &a, const Entry &b) {
        return a.column != b.column ? a.column < b.column : a.position < b.position;
      });
      for (int64_t p = begin; p < end; ++p) {
        columns[p] = entries_[p - begin].column;
        values[p] = entries_[p - begin].value;
      }
    }
    int64_t next = begin;
    for (int64_t p = begin; p < end; ++p) {
      bool isLastOfColumn = p + 1 == end || columns[p + 1] != columns[p];
      if (!isLastOfColumn || values[p] == 0)
        continue;
      columns[next] = columns[p];
      values[next++] = values[p];
    }
    return next - begin;
  }

private:
  struct Entry {
    int32_t column;
    int64_t position;
    double value;
  };
  BudgetedVector<Entry> entries_;
};

} // namespace

CellCollector::CellCollector(int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {
  if (rows < 0 || columns < 0)
    throw Error(fmt::format("a matrix cannot have the size {}x{}", rows, columns));
  if (!isSize(rows) || !isSize(columns))
    throw Error(fmt::format("a matrix of the size {}x{} is too large", rows, columns));
  // Fail before a file is read in vain.
  if (Array::isBetterSparse({rows, columns}, 0))
    Array::checkRoomForSparse(rows, columns);
  else
    dense_ = Array::filled({rows, columns}, 0);
}

void CellCollector::scatter(const BudgetedVector<Cell> &cells) {
  double *data = dense_->mutableData();
  for (const Cell &cell : cells)
    data[cell.row * columns_ + cell.column] = cell.value;
}

void CellCollector::add(BudgetedVector<Cell> cells) {
  count_ += static_cast<int64_t>(cells.size());
  if (!dense_) {
    cells_.push_back(std::move(cells));
    if (Array::isBetterSparse({rows_, columns_}, count_))
      return;
    dense_ = Array::filled({rows_, columns_}, 0);
    for (const BudgetedVector<Cell> &earlier : cells_)
      scatter(earlier);
    cells_.clear();
    return;
  }
  scatter(cells);
}

ArrayPointer CellCollector::compressed(ExecutionContext &context) {
  ArrayPointer csr = Array::createSparse(rows_, columns_, count_);
  int64_t *offsets = csr->mutableRowOffsets();
  int32_t *columns = csr->mutableColumnIndices();
  double *values = csr->mutableData();
  std::fill_n(offsets, rows_ + 1, 0);
  for (const BudgetedVector<Cell> &cells : cells_)
    for (const Cell &cell : cells)
      ++offsets[cell.row + 1];
  std::partial_sum(offsets, offsets + rows_ + 1, offsets);
  // While cells are distributed, offsets[r] is the position for the next entry of row r; in the end
  // that is the begin of row r + 1.
  for (const BudgetedVector<Cell> &cells : cells_)
    for (const Cell &cell : cells) {
      int64_t p = offsets[cell.row]++;
      columns[p] = static_cast<int32_t>(cell.column);
      values[p] = cell.value;
    }
  cells_.clear();
  std::copy_backward(offsets, offsets + rows_, offsets + rows_ + 1);
  offsets[0] = 0;

  // Ranges of rows are compacted independently, in parallel, and moved together afterwards.
  int64_t rowsAtOnce = std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(parallelGrain) * static_cast<double>(rows_) /
                              static_cast<double>(std::max<int64_t>(1, count_))));
  struct Range {
    int64_t begin = 0, kept = 0; // entries
  };
  BudgetedVector<Range> ranges((rows_ + rowsAtOnce - 1) / rowsAtOnce);
  for (size_t i = 0; i < ranges.size(); ++i)
    ranges[i].begin = offsets[static_cast<int64_t>(i) * rowsAtOnce];
  forEachRange(context, rows_, rowsAtOnce, [&](int64_t begin, int64_t end) {
    RowEntries entries;
    Range &range = ranges[begin / rowsAtOnce];
    int64_t next = range.begin, first = range.begin;
    for (int64_t row = begin; row < end; ++row) {
      // The next range may already have overwritten the offset of its first row.
      bool isLast = row + 1 == end && end < rows_;
      int64_t last = isLast ? ranges[begin / rowsAtOnce + 1].begin : offsets[row + 1];
      int64_t kept = entries.tidy(columns, values, first, last);
      if (first != next) {
        std::copy_n(columns + first, kept, columns + next);
        std::copy_n(values + first, kept, values + next);
      }
      offsets[row] = next - range.begin;
      next += kept;
      first = last;
    }
    range.kept = next - range.begin;
  });
  int64_t next = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    int64_t begin = static_cast<int64_t>(i) * rowsAtOnce;
    for (int64_t row = begin; row < std::min(rows_, begin + rowsAtOnce); ++row)
      offsets[row] += next;
    if (ranges[i].begin != next) {
      std::copy_n(columns + ranges[i].begin, ranges[i].kept, columns + next);
      std::copy_n(values + ranges[i].begin, ranges[i].kept, values + next);
    }
    next += ranges[i].kept;
  }
  offsets[rows_] = next;
  return csr;
}

ArrayReference CellCollector::finish(ExecutionContext &context) {
  if (dense_)
    return Array::inBestLayout(std::move(dense_));
  if (Array::isBetterSparse({rows_, columns_}, count_))
    return compressed(context);
  return Array::filled({rows_, columns_}, 0); // no cells, and too small to be sparse
}

} // namespace tokamak::runtime
