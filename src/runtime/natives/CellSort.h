// Sorting and selecting of cells, by vectorised quicksort (M. Blacher, J. Giesen, P. Sanders, J. Wassenberg 2022,
// "Vectorized and performance-portable quicksort"), where libtokamak-sort.so can be loaded, and by histograms. NaN is
// behind all numbers, as in compareCells. Results don't depend on the number of threads.
//
//   sortCells(context, cells, count, /*decreasing=*/false, sorted);     // sorted[0] is the smallest
//   RowKeys order = rowsInOrder(context, cells, /*stride=*/1, count, /*decreasing=*/true);
//   order[0].row                                                        // of the largest cell, from 0
//   std::vector<int64_t> places = {2};
//   double third = selectCells(context, cells, count, places)[0];
#ifndef TOKAMAK_RUNTIME_NATIVES_CELLSORT_H
#define TOKAMAK_RUNTIME_NATIVES_CELLSORT_H

#include "runtime/memory/MemoryCharge.h"
#include "runtime/natives/Native.h"
#include "runtime/natives/library/SortLibrary.h"

#include <bit>
#include <cmath>
#include <span>
#include <vector>

namespace tokamak::runtime {

using RowKeys = BudgetedVector<RowKey>;

// Unsigned numbers in the order of compareCells: NaN is behind all others, -0 is 0. Decreasing: in the reverse order.
inline uint64_t keyOfCell(double cell, bool decreasing) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  auto bits = std::bit_cast<uint64_t>(cell + 0.0);
  uint64_t key = std::isnan(cell) ? ~uint64_t{0} : bits & sign ? ~bits : bits | sign;
  return decreasing ? ~key : key;
}
inline double cellOfKey(uint64_t key, bool decreasing) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  if (decreasing)
    key = ~key;
  return std::bit_cast<double>(key & sign ? key & ~sign : ~key);
}

// Writes the sorted cells to `to`, which doesn't overlap them. False if there is a -0, which is no other than 0 here, but
// has its place among equal ones.
bool sortCells(ExecutionContext &context, const double *cells, int64_t count, bool decreasing,
               double *to);

// The rows in the order of cells that are `stride` apart; equal ones in the order of the rows.
RowKeys rowsInOrder(ExecutionContext &context, const double *cells, int64_t stride, int64_t count,
                    bool decreasing);
// Sorts by key, then by row.
void sortRowKeys(ExecutionContext &context, RowKeys &keys);

// The cells that stand at these places, from 0, after sorting them. -0 is 0.
std::vector<double> selectCells(ExecutionContext &context, const double *cells, int64_t count,
                                std::span<const int64_t> places);

} // namespace tokamak::runtime
#endif
