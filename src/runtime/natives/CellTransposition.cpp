#include "runtime/natives/CellTransposition.h"

#include "base/WidestVectors.h"
#include "runtime/memory/CacheSize.h"
#include "runtime/natives/NativeOperands.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace tokamak::runtime {
namespace {

//===- cells of four and eight bytes, in tiles --------------------------------------------------===//

constexpr int64_t tile = rowsOfTile; // and columns
template <typename Cell> struct TileRow {
  using Vector [[gnu::vector_size(tile * sizeof(Cell))]] = Cell;
  using InMemory
      [[gnu::vector_size(tile * sizeof(Cell)), gnu::may_alias, gnu::aligned(sizeof(Cell))]] = Cell;
};

// Exchanges, in all squares of 2 * distance rows and columns, the upper right quarter and the lower left one.
template <int64_t distance, typename Row, size_t... lane>
[[gnu::always_inline]] inline void exchangeQuarters(Row *rows, std::index_sequence<lane...>) {
  for (int64_t i = 0; i < tile; ++i) {
    if (i & distance)
      continue;
    Row upper = rows[i], lower = rows[i + distance];
    rows[i] =
        __builtin_shufflevector(upper, lower, (lane & distance ? tile + lane - distance : lane)...);
    rows[i + distance] =
        __builtin_shufflevector(upper, lower, (lane & distance ? tile + lane : lane + distance)...);
  }
}

template <typename Cell, typename RowAt>
[[gnu::always_inline]] inline void transposeTile(const RowAt &rowAt, Cell *to, int64_t toStride) {
  constexpr auto lanes = std::make_index_sequence<tile>();
  typename TileRow<Cell>::Vector rows[tile];
  for (int64_t i = 0; i < tile; ++i)
    rows[i] = *reinterpret_cast<const typename TileRow<Cell>::InMemory *>(rowAt(i));
  exchangeQuarters<1>(rows, lanes);
  exchangeQuarters<2>(rows, lanes);
  exchangeQuarters<4>(rows, lanes);
  for (int64_t i = 0; i < tile; ++i)
    *reinterpret_cast<typename TileRow<Cell>::InMemory *>(to + i * toStride) = rows[i];
}

template <typename Cell> constexpr int64_t cellsOfLine = 64 / sizeof(Cell);

template <bool prefetches, typename Cell>
[[gnu::always_inline]] inline void transposeTiles(const Cell *from, int64_t fromStride,
                                                  int64_t rows, int64_t columns, Cell *to,
                                                  int64_t toStride) {
  constexpr int64_t ahead = 2 * tile; // rows
  for (int64_t i = 0; i < rows; i += tile) {
    int64_t end = std::min(rows, i + tile), j = 0;
    if constexpr (prefetches) // the machine doesn't foresee reads so far apart
      for (int64_t k = i + ahead; k < std::min(rows, end + ahead); ++k)
        for (int64_t cell = 0; cell < columns; cell += cellsOfLine<Cell>)
          __builtin_prefetch(from + k * fromStride + cell);
    if (i + tile <= rows)
      for (; j + tile <= columns; j += tile)
        transposeTile([&](int64_t k) { return from + (i + k) * fromStride + j; },
                      to + j * toStride + i, toStride);
    for (; j < columns; ++j)
      for (int64_t k = i; k < end; ++k)
        to[j * toStride + k] = from[k * fromStride + j];
  }
}

// Past the caches, but for the ends that are no whole cache lines.
template <typename Cell>
[[gnu::always_inline]] inline void streamCells(const Cell *from, int64_t count, Cell *to) {
  using Row = TileRow<Cell>;
  int64_t i = 0;
  for (; i < count && reinterpret_cast<uintptr_t>(to + i) % 64 != 0; ++i)
    to[i] = from[i];
  for (; i + cellsOfLine<Cell> <= count; i += cellsOfLine<Cell>)
    for (int64_t k = i; k < i + cellsOfLine<Cell>; k += tile)
      __builtin_nontemporal_store(*reinterpret_cast<const typename Row::InMemory *>(from + k),
                                  reinterpret_cast<typename Row::Vector *>(to + k));
  for (; i < count; ++i)
    to[i] = from[i];
}

// In parts that the nearest caches hold. Results that no cache holds are put together in a buffer and written in whole
// lines, so that no line is read before it is written.
template <typename Cell>
[[gnu::always_inline]] inline void transposeInParts(const Cell *from, int64_t fromStride,
                                                    int64_t rows, int64_t columns, Cell *to,
                                                    int64_t toStride) {
  constexpr int64_t mostRows = 64, mostColumns = 128, streamedColumns = 32;
  auto furthest = std::max(rows * std::abs(fromStride), columns * toStride);
  bool isStreamed =
      rows >= mostRows && furthest * static_cast<int64_t>(sizeof(Cell)) > lastCacheBytes();
  alignas(64) Cell buffer[streamedColumns * mostRows];
  int64_t width = isStreamed ? streamedColumns : mostColumns;
  for (int64_t row = 0; row < rows; row += mostRows)
    for (int64_t column = 0; column < columns; column += width) {
      const Cell *part = from + row * fromStride + column;
      Cell *into = to + column * toStride + row;
      int64_t height = std::min(mostRows, rows - row), count = std::min(width, columns - column);
      if (!isStreamed) {
        transposeTiles</*prefetches=*/false>(part, fromStride, height, count, into, toStride);
        continue;
      }
      transposeTiles</*prefetches=*/true>(part, fromStride, height, count, buffer, mostRows);
      for (int64_t j = 0; j < count; ++j)
        streamCells(buffer + j * mostRows, height, into + j * toStride);
    }
  if (isStreamed) // other threads see what was streamed only after a fence
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

// The attribute is not for templates.
TOKAMAK_WIDEST_VECTORS void transposeInTiles(const uint32_t *from, int64_t fromStride, int64_t rows,
                                             int64_t columns, uint32_t *to, int64_t toStride) {
  transposeInParts(from, fromStride, rows, columns, to, toStride);
}
TOKAMAK_WIDEST_VECTORS void transposeInTiles(const uint64_t *from, int64_t fromStride, int64_t rows,
                                             int64_t columns, uint64_t *to, int64_t toStride) {
  transposeInParts(from, fromStride, rows, columns, to, toStride);
}

TOKAMAK_WIDEST_VECTORS void transposeRows(const uint32_t *const *rows, int64_t columns,
                                          uint32_t *to, int64_t toStride) {
  int64_t j = 0;
  for (; j + tile <= columns; j += tile)
    transposeTile([&](int64_t i) { return rows[i] + j; }, to + j * toStride, toStride);
  for (; j < columns; ++j)
    for (int64_t i = 0; i < tile; ++i)
      to[j * toStride + i] = rows[i][j];
}

//===- cells one by one --------------------------------------------------------------------------===//

// Squares fit the first-level cache: rows are read, columns are written with a stride.
template <typename Cell>
void transposeInSquares(const Cell *from, int64_t fromStride, int64_t rows, int64_t columns,
                        Cell *to, int64_t toStride) {
  constexpr int64_t square = 16;
  for (int64_t right = 0; right < columns; right += square)
    for (int64_t lower = 0; lower < rows; lower += square) {
      int64_t columnEnd = std::min(columns, right + square),
              rowEnd = std::min(rows, lower + square);
      for (int64_t j = right; j < columnEnd; ++j)
#pragma clang loop vectorize(disable)
        for (int64_t i = lower; i < rowEnd; ++i)
          to[j * toStride + i] = from[i * fromStride + j];
    }
}

} // namespace

template <typename Cell>
void transposeCells(const Cell *from, int64_t fromStride, int64_t rows, int64_t columns, Cell *to,
                    int64_t toStride) {
  if constexpr (sizeof(Cell) >= sizeof(uint32_t))
    transposeInTiles(from, fromStride, rows, columns, to, toStride);
  else
    transposeInSquares(from, fromStride, rows, columns, to, toStride);
}

template <typename Cell>
void transposeMatrix(ExecutionContext &context, const Cell *from, int64_t rows, int64_t columns,
                     Cell *to) {
  // The longer side is distributed over the threads, in whole cache lines.
  constexpr int64_t line = 16;
  int64_t shorter = std::max<int64_t>(1, std::min(rows, columns));
  int64_t grain = std::max(line, parallelGrain / shorter / line * line);
  forEachRange(context, std::max(rows, columns), grain, [&](int64_t begin, int64_t end) {
    if (rows >= columns)
      transposeCells(from + begin * columns, columns, end - begin, columns, to + begin, rows);
    else
      transposeCells(from + begin, columns, rows, end - begin, to + begin * rows, rows);
  });
}

void transposeTileRows(const std::array<const uint32_t *, rowsOfTile> &lines, int64_t columns,
                       uint32_t *to, int64_t toStride) {
  transposeRows(lines.data(), columns, to, toStride);
}

template void transposeCells(const uint8_t *, int64_t, int64_t, int64_t, uint8_t *, int64_t);
template void transposeMatrix(ExecutionContext &, const uint8_t *, int64_t, int64_t, uint8_t *);
template void transposeCells(const uint16_t *, int64_t, int64_t, int64_t, uint16_t *, int64_t);
template void transposeMatrix(ExecutionContext &, const uint16_t *, int64_t, int64_t, uint16_t *);
template void transposeCells(const uint32_t *, int64_t, int64_t, int64_t, uint32_t *, int64_t);
template void transposeMatrix(ExecutionContext &, const uint32_t *, int64_t, int64_t, uint32_t *);
template void transposeCells(const uint64_t *, int64_t, int64_t, int64_t, uint64_t *, int64_t);
template void transposeMatrix(ExecutionContext &, const uint64_t *, int64_t, int64_t, uint64_t *);

} // namespace tokamak::runtime
