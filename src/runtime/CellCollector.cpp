#include "runtime/CellCollector.h"

#include "runtime/NativeOperands.h"

#include <numeric>

namespace tokamak::runtime {
namespace {

// The entries of one row while it is put in order.
class RowEntries {
public:
  // Sorts the entries [begin, end) by columns, equal ones by position, and returns how many remain
  // when of equal columns only the last is kept, and no zeros. Those come first.
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
  std::vector<Entry> entries_;
};

} // namespace

CellCollector::CellCollector(int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {
  constexpr int64_t largest = int64_t{1} << 48;
  if (rows < 0 || columns < 0)
    throw Error(fmt::format("a matrix cannot have the size {}x{}", rows, columns));
  if (rows > largest || columns > largest)
    throw Error(fmt::format("a matrix of the size {}x{} is too large", rows, columns));
}

void CellCollector::scatter(const std::vector<Cell> &cells) {
  double *data = dense_->mutableData();
  for (const Cell &cell : cells)
    data[cell.row * columns_ + cell.column] = cell.value;
}

void CellCollector::add(std::vector<Cell> cells) {
  count_ += static_cast<int64_t>(cells.size());
  if (!dense_) {
    cells_.push_back(std::move(cells));
    if (Array::isBetterCsr({rows_, columns_}, count_))
      return;
    dense_ = Array::filled({rows_, columns_}, 0);
    for (const std::vector<Cell> &earlier : cells_)
      scatter(earlier);
    cells_.clear();
    return;
  }
  scatter(cells);
}

ArrayPointer CellCollector::compressed(ExecutionContext &context) {
  ArrayPointer csr = Array::createCsr(rows_, columns_, count_);
  int64_t *offsets = csr->mutableRowOffsets();
  int32_t *columns = csr->mutableColumnIndices();
  double *values = csr->mutableData();
  std::fill_n(offsets, rows_ + 1, 0);
  for (const std::vector<Cell> &cells : cells_)
    for (const Cell &cell : cells)
      ++offsets[cell.row + 1];
  std::partial_sum(offsets, offsets + rows_ + 1, offsets);
  // While cells are put into their rows, offsets[r] is where the next one goes; in the end that is
  // where the next row begins.
  for (const std::vector<Cell> &cells : cells_)
    for (const Cell &cell : cells) {
      int64_t p = offsets[cell.row]++;
      columns[p] = static_cast<int32_t>(cell.column);
      values[p] = cell.value;
    }
  cells_.clear();
  std::copy_backward(offsets, offsets + rows_, offsets + rows_ + 1);
  offsets[0] = 0;

  std::vector<int64_t> kept(rows_);
  int64_t rowsAtOnce = std::max<int64_t>(1, parallelGrain * rows_ / std::max<int64_t>(1, count_));
  forEachRange(context, rows_, rowsAtOnce, [&](int64_t begin, int64_t end) {
    RowEntries entries;
    for (int64_t row = begin; row < end; ++row)
      kept[row] = entries.tidy(columns, values, offsets[row], offsets[row + 1]);
  });
  int64_t next = 0;
  for (int64_t row = 0; row < rows_; ++row) {
    int64_t begin = offsets[row];
    if (begin != next) {
      std::copy_n(columns + begin, kept[row], columns + next);
      std::copy_n(values + begin, kept[row], values + next);
    }
    offsets[row] = next;
    next += kept[row];
  }
  offsets[rows_] = next;
  return csr;
}

ArrayReference CellCollector::finish(ExecutionContext &context) {
  if (dense_)
    return Array::inBestLayout(std::move(dense_));
  if (Array::isBetterCsr({rows_, columns_}, count_))
    return compressed(context);
  return Array::filled({rows_, columns_}, 0); // too small to be sparse, and without cells
}

} // namespace tokamak::runtime
