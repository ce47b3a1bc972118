// How far ahead kernels prefetch, and for which sizes. Only times depend on these figures, never
// results, so that a target may have others.
//
//   Value later = vectors.offset(x, vectors.integer(prefetching::cellsAhead));
//   vectors.prefetch(later);
//
// They follow from the cores of today's servers: a read from memory takes about 100 ns and moves a
// line of 64 bytes; the first-level cache has 32 KiB and more, the second-level cache 1 MiB and more.
// A distance is right if the work in between takes longer than a read from memory, and if what was
// prefetched meanwhile fits the first-level cache. Kernels are shared by programs, whatever their
// machine models are, therefore the figures are no part of cost::MachineModel.
#ifndef TOKAMAK_CODEGEN_PREFETCHING_H
#define TOKAMAK_CODEGEN_PREFETCHING_H

#include <cstdint>

namespace tokamak::codegen::prefetching {

inline constexpr int64_t bytesPerLine = 64;

// Dense kernels prefetch blocks of rows this many cells ahead, or one block ahead if that is more:
// 8 KiB of doubles, which a core reads from its caches in 200 ns.
inline constexpr int64_t blockCellsAhead = 1024;
// Rows with at least this many cells are not prefetched: a block of eight fills the first-level
// cache (8 rows of 512 doubles are 32 KiB).
inline constexpr int64_t longRowCells = 512;

// Rows of the right factor of a sampled product are prefetched this many entries ahead, because they
// are read in an order that the hardware prefetcher can't predict. From caches, eight rows of 64
// columns take as long as one read from memory.
inline constexpr int64_t factorRowsAhead = 8;
// Cells of a vector that is gathered by column are prefetched this many entries ahead, because their
// order is unpredictable, too. An entry takes about 1 ns, so that a read from memory is covered; 160
// lines are 10 KiB.
inline constexpr int64_t cellsAhead = 160;
// The entries themselves (indices and values, 12 bytes) are prefetched this many ahead: the hardware
// prefetcher doesn't recognise the stream behind masked loads or among gathers. 6 KiB.
inline constexpr int64_t entriesAhead = 512;
// Vectors of at most this many doubles, 1 MiB, fit a core's own caches, where gathers overlap well
// enough without prefetching.
inline constexpr int64_t cellsInCache = 1 << 17;

} // namespace tokamak::codegen::prefetching
#endif
