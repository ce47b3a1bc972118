// How much of an operator's arrays one tile of its kernel touches. The runtime cuts tiles by it, and the
// cost model asks how many threads find a tile.
//
//   int64_t rows = tokamak::abi::tileBytes / (8 * 1000);     // of a matrix with 1000 columns
#ifndef TOKAMAK_ABI_TILEBYTES_H
#define TOKAMAK_ABI_TILEBYTES_H

#include <cstdint>

namespace tokamak::abi {

// Few enough bytes for the second-level cache, many enough to amortise the launch of a tile. The
// boundaries of tiles, and with them the order in which sums add up, follow from this figure and from
// sizes alone: it is the same on every machine, and no part of its model.
inline constexpr int64_t tileBytes = int64_t{512} << 10;

} // namespace tokamak::abi
#endif
