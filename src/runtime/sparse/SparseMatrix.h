// CSR matrices of doubles, row by row: views of rows, ranges of rows with balanced work, and a way
// to build a result in parallel. Ranges depend on sizes and entries alone.
//
//   SparseRow row = rowOf(x, 3);
//   for (int64_t p = 0; p < row.count; ++p)
//     sum += row.values[p] * v[row.columns[p]];
#ifndef TOKAMAK_RUNTIME_SPARSE_SPARSEMATRIX_H
#define TOKAMAK_RUNTIME_SPARSE_SPARSEMATRIX_H

#include "runtime/natives/NativeOperands.h"

#include <span>
#include <vector>

namespace tokamak::runtime {

struct SparseRow {
  const int32_t *columns; // ascending, from 0
  const double *values;
  int64_t count;
};

inline SparseRow rowOf(const Array &csr, int64_t row) {
  int64_t begin = csr.rowOffsets()[row];
  return {csr.columnIndices() + begin, csr.data() + begin, csr.rowOffsets()[row + 1] - begin};
}

// Whether any operand is a CSR array.
bool hasSparse(std::span<const Value> operands);

// The boundaries of ranges of rows with about `grain` work each, more if a single row has more.
// `workBefore(row)` is the work of all rows before `row`; it must not decrease.
template <typename WorkBefore>
BudgetedVector<int64_t> workRanges(int64_t rows, int64_t grain, const WorkBefore &workBefore) {
  BudgetedVector<int64_t> bounds{0};
  while (bounds.back() < rows) {
    int64_t begin = bounds.back(), wanted = workBefore(begin) + grain, low = begin + 1, high = rows;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (workBefore(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    bounds.push_back(low);
  }
  return bounds;
}

// Ranges with about equally many entries; an entry is as much work as `workOfEntry` cells.
BudgetedVector<int64_t> entryRanges(const Array &csr, int64_t workOfEntry = 1);

// Calls body(begin, end, number of the range) for each range, in parallel.
template <typename Body>
void forEachBound(ExecutionContext &context, const BudgetedVector<int64_t> &bounds,
                  const Body &body) {
  forEachRange(context, static_cast<int64_t>(bounds.size()) - 1, 1,
               [&](int64_t i, int64_t) { body(bounds[i], bounds[i + 1], i); });
}

// A CSR matrix whose row i has offsets[i + 1] entries, which are to be written; makes `offsets` those of its rows.
ArrayPointer createFromCounts(int64_t columns, BudgetedVector<int64_t> &offsets);

// Builds a CSR matrix whose rows have countOf(row) entries, written by fill(row, columns, values).
template <typename CountOf, typename Fill>
ArrayPointer buildSparse(ExecutionContext &context, int64_t rows, int64_t columns,
                         const CountOf &countOf, const Fill &fill) {
  BudgetedVector<int64_t> offsets(rows + 1, 0);
  forEachRange(context, rows, parallelGrain / 8, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      offsets[row + 1] = countOf(row);
  });
  ArrayPointer result = createFromCounts(columns, offsets);
  int32_t *indices = result->mutableColumnIndices();
  double *values = result->mutableData();
  BudgetedVector<int64_t> bounds =
      workRanges(rows, parallelGrain, [&](int64_t row) { return offsets[row] + row; });
  forEachBound(context, bounds, [&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row)
      fill(row, indices + offsets[row], values + offsets[row]);
  });
  return result;
}

} // namespace tokamak::runtime
#endif
