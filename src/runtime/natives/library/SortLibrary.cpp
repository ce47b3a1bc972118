#include "runtime/natives/library/SortLibrary.h"

#include <hwy/contrib/sort/vqsort.h>

using tokamak::runtime::RowKey;

void tokamakSortKeys(uint64_t *keys, size_t count) {
  hwy::Sorter()(keys, count, hwy::SortAscending());
}

void tokamakSortRowKeys(RowKey *keys, size_t count) {
  static_assert(sizeof(RowKey) == sizeof(hwy::uint128_t));
  static_assert(offsetof(RowKey, key) == offsetof(hwy::uint128_t, hi));
  hwy::Sorter()(reinterpret_cast<hwy::uint128_t *>(keys), count, hwy::SortAscending());
}
