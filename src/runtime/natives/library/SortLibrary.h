// The interface of libtokamak-sort.so: the vectorised quicksort of Highway behind two functions. It is a separate library,
// loaded when a program first sorts many cells, because it needs a C++ runtime of its own.
//
//   uint64_t keys[3] = {3, 1, 2};
//   tokamakSortKeys(keys, 3);       // 1 2 3
//
// Its sort of doubles is not used: version 1.0.3, which Debian 12 has, makes the largest numbers of infinities.
#ifndef TOKAMAK_RUNTIME_NATIVES_LIBRARY_SORTLIBRARY_H
#define TOKAMAK_RUNTIME_NATIVES_LIBRARY_SORTLIBRARY_H

#include <cstddef>
#include <cstdint>

namespace tokamak::runtime {

// A row and the key that it is ordered by.
struct alignas(16) RowKey {
  uint64_t row = 0, key = 0;
};

} // namespace tokamak::runtime

// All sort in ascending order.
extern "C" {
void tokamakSortKeys(uint64_t *keys, size_t count);
// By key, then by row.
void tokamakSortRowKeys(tokamak::runtime::RowKey *keys, size_t count);
}

#endif
