// Sorting of numbers by their bits: a stable radix sort, least significant digits first (D. Knuth, "The art of computer
// programming", volume 3, section 5.2.5). Its time is linear in the numbers, and its result doesn't depend on threads.
//
//   BudgetedVector<uint64_t> keys = sortKeys(context, cells, 1, count, /*decreasing=*/false);
//   sortKeysAlone(context, keys);
//   cellOfKey(keys[0], false)                     // the smallest
#ifndef TOKAMAK_RUNTIME_NATIVES_KEYSORT_H
#define TOKAMAK_RUNTIME_NATIVES_KEYSORT_H

#include "runtime/memory/MemoryCharge.h"
#include "runtime/natives/Native.h"

#include <bit>
#include <cmath>

namespace tokamak::runtime {

using SortKeys = BudgetedVector<uint64_t>;

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

// Of cells that are `stride` apart.
SortKeys sortKeys(ExecutionContext &context, const double *cells, int64_t stride, int64_t count,
                  bool decreasing);
void sortKeysAlone(ExecutionContext &context, SortKeys &keys);
// Sorts the rows in the same way; equal keys stay in the order in which they are. `Row` is uint32_t or int64_t.
template <typename Row>
void sortKeysWithRows(ExecutionContext &context, SortKeys &keys, BudgetedVector<Row> &rows);

} // namespace tokamak::runtime
#endif
