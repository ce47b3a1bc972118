#include "runtime/sparse/RowCompression.h"

#include "runtime/memory/MemoryCharge.h"
#include "runtime/natives/NativeOperands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace tokamak::runtime {
namespace {

// Sorts the entries of rows by column; those of one column stay in their order.
class ColumnSort {
public:
  explicit ColumnSort(int64_t columns)
      : digits_((std::bit_width(static_cast<uint64_t>(std::max<int64_t>(columns, 1) - 1)) +
                 bitsOfDigit - 1) /
                bitsOfDigit) {}

  void sort(int32_t *columns, double *values, int64_t count) {
    constexpr int64_t few = 48;
    if (std::is_sorted(columns, columns + count))
      return;
    count <= few ? insert(columns, values, count) : sortByDigits(columns, values, count);
  }

private:
  static constexpr int bitsOfDigit = 8;
  static constexpr size_t mostDigit = (size_t{1} << bitsOfDigit) - 1;

  static void insert(int32_t *columns, double *values, int64_t count) {
    for (int64_t i = 1; i < count; ++i) {
      int32_t column = columns[i];
      double value = values[i];
      int64_t p = i;
      for (; p > 0 && columns[p - 1] > column; --p) {
        columns[p] = columns[p - 1];
        values[p] = values[p - 1];
      }
      columns[p] = column;
      values[p] = value;
    }
  }

  // Distributes them by each digit of the column, from the last digit to the first.
  void sortByDigits(int32_t *columns, double *values, int64_t count) {
    if (auto size = static_cast<size_t>(count); spareColumns_.size() < size) {
      spareColumns_.resize(size);
      spareValues_.resize(size);
    }
    int32_t *from = columns, *to = spareColumns_.data();
    double *fromValues = values, *toValues = spareValues_.data();
    for (int digit = 0; digit < digits_; ++digit) {
      auto digitOf = [&](int32_t column) {
        return static_cast<size_t>(column) >> digit * bitsOfDigit & mostDigit;
      };
      std::array<int64_t, mostDigit + 1> next{};
      for (int64_t i = 0; i < count; ++i)
        ++next[digitOf(from[i])];
      if (next[digitOf(from[0])] == count) // all have the same
        continue;
      std::exclusive_scan(next.begin(), next.end(), next.begin(), int64_t{0});
      for (int64_t i = 0; i < count; ++i) {
        int64_t p = next[digitOf(from[i])]++;
        to[p] = from[i];
        toValues[p] = fromValues[i];
      }
      std::swap(from, to);
      std::swap(fromValues, toValues);
    }
    if (from != columns) {
      std::copy_n(from, count, columns);
      std::copy_n(fromValues, count, values);
    }
  }

  int digits_; // of the largest column
  BudgetedVector<int32_t> spareColumns_;
  BudgetedVector<double> spareValues_;
};

// Makes one of the entries at each place, which are sorted, and moves the remaining ones to the front. Returns their number.
int64_t joinAdded(int32_t *columns, double *values, int64_t count) {
  int64_t kept = 0;
  for (int64_t p = 0; p < count; ++p)
    if (kept > 0 && columns[kept - 1] == columns[p]) {
      values[kept - 1] += values[p];
    } else {
      columns[kept] = columns[p];
      values[kept++] = values[p];
    }
  return kept;
}

int64_t keepLast(int32_t *columns, double *values, int64_t count) {
  int64_t kept = 0;
  for (int64_t p = 0; p < count; ++p) {
    bool isLast = p + 1 == count || columns[p + 1] != columns[p];
    if (!isLast || values[p] == 0)
      continue;
    columns[kept] = columns[p];
    values[kept++] = values[p];
  }
  return kept;
}

} // namespace

RowCompression::RowCompression(ExecutionContext &context, int64_t rows, int64_t columns,
                               int64_t entries)
    : context_(context), rows_(rows), columns_(columns), entries_(entries),
      matrix_(Array::createSparse(rows, columns, entries)), offsets_(matrix_->mutableRowOffsets()),
      indices_(matrix_->mutableColumnIndices()), values_(matrix_->mutableData()) {
  std::fill_n(offsets_, rows + 1, 0);
}

void RowCompression::beginPlacing() { std::partial_sum(offsets_, offsets_ + rows_ + 1, offsets_); }

ArrayPointer RowCompression::finish(SamePlace samePlace) {
  std::copy_backward(offsets_, offsets_ + rows_, offsets_ + rows_ + 1);
  offsets_[0] = 0;
  // Ranges of rows are sorted and compacted independently, in parallel, and moved together afterwards.
  int64_t rowsAtOnce = std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(parallelGrain) * static_cast<double>(rows_) /
                              static_cast<double>(std::max<int64_t>(1, entries_))));
  struct Range {
    int64_t begin = 0, kept = 0; // entries
  };
  BudgetedVector<Range> ranges((rows_ + rowsAtOnce - 1) / rowsAtOnce);
  for (size_t i = 0; i < ranges.size(); ++i)
    ranges[i].begin = offsets_[static_cast<int64_t>(i) * rowsAtOnce];
  forEachRange(context_, rows_, rowsAtOnce, [&](int64_t begin, int64_t end) {
    ColumnSort sort(columns_);
    Range &range = ranges[begin / rowsAtOnce];
    int64_t next = range.begin, first = range.begin;
    for (int64_t row = begin; row < end; ++row) {
      // The next range may already have overwritten the offset of its first row.
      bool isLast = row + 1 == end && end < rows_;
      int64_t last = isLast ? ranges[begin / rowsAtOnce + 1].begin : offsets_[row + 1];
      int32_t *columns = indices_ + first;
      double *values = values_ + first;
      sort.sort(columns, values, last - first);
      int64_t kept = samePlace == SamePlace::Added ? joinAdded(columns, values, last - first)
                                                   : keepLast(columns, values, last - first);
      if (first != next) {
        std::copy_n(columns, kept, indices_ + next);
        std::copy_n(values, kept, values_ + next);
      }
      offsets_[row] = next - range.begin;
      next += kept;
      first = last;
    }
    range.kept = next - range.begin;
  });
  int64_t next = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    int64_t begin = static_cast<int64_t>(i) * rowsAtOnce;
    for (int64_t row = begin; row < std::min(rows_, begin + rowsAtOnce); ++row)
      offsets_[row] += next;
    if (ranges[i].begin != next) {
      std::copy_n(indices_ + ranges[i].begin, ranges[i].kept, indices_ + next);
      std::copy_n(values_ + ranges[i].begin, ranges[i].kept, values_ + next);
    }
    next += ranges[i].kept;
  }
  offsets_[rows_] = next;
  return std::move(matrix_);
}

} // namespace tokamak::runtime
