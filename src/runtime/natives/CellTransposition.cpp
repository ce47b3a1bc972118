#include "runtime/natives/CellTransposition.h"

#include "base/WidestVectors.h"
#include "runtime/natives/NativeOperands.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tokamak::runtime {
namespace {

//===- cells of four bytes, in tiles -----------------------------------------------------------===//

constexpr int64_t tile = rowsOfTile; // and columns
using Row [[gnu::vector_size(32)]] = uint32_t;
using RowInMemory [[gnu::vector_size(32), gnu::may_alias, gnu::aligned(4)]] = uint32_t;

// Exchanges, in all squares of 2 * distance rows and columns, the upper right quarter and the lower left one.
template <int64_t distance, size_t... lane>
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

template <typename RowAt>
[[gnu::always_inline]] inline void transposeTile(const RowAt &rowAt, uint32_t *to,
                                                 int64_t toStride) {
  constexpr auto lanes = std::make_index_sequence<tile>();
  Row rows[tile];
  for (int64_t i = 0; i < tile; ++i)
    rows[i] = *reinterpret_cast<const RowInMemory *>(rowAt(i));
  exchangeQuarters<1>(rows, lanes);
  exchangeQuarters<2>(rows, lanes);
  exchangeQuarters<4>(rows, lanes);
  for (int64_t i = 0; i < tile; ++i)
    *reinterpret_cast<RowInMemory *>(to + i * toStride) = rows[i];
}

constexpr int64_t cellsOfLine = 16;

// Whether whole cache lines are read and written, or all cells stay in the second-level cache.
bool suitsTiles(int64_t fromStride, int64_t rows, int64_t columns, int64_t toStride) {
  constexpr int64_t mostCells = int64_t{1} << 18;
  return std::max(rows * std::abs(fromStride), columns * toStride) <= mostCells ||
         (fromStride % cellsOfLine == 0 && toStride % cellsOfLine == 0);
}

// Two lines of each.
[[gnu::always_inline]] inline void prefetchRows(const uint32_t *from, int64_t stride, int64_t begin,
                                                int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    __builtin_prefetch(from + i * stride);
    __builtin_prefetch(from + i * stride + cellsOfLine);
  }
}

// In parts of two lines of each row, by way of a buffer: where rows are a power of two apart, the lines that tiles are
// written to would compete for the same cache sets. The machine doesn't foresee reads so far apart.
TOKAMAK_WIDEST_VECTORS void transposeInTiles(const uint32_t *from, int64_t fromStride, int64_t rows,
                                             int64_t columns, uint32_t *to, int64_t toStride) {
  constexpr int64_t mostRows = 64, mostColumns = 2 * cellsOfLine, ahead = 2 * tile;
  alignas(64) uint32_t buffer[mostColumns * mostRows];
  for (int64_t row = 0; row < rows; row += mostRows)
    for (int64_t column = 0; column < columns; column += mostColumns) {
      int64_t height = std::min(mostRows, rows - row),
              width = std::min(mostColumns, columns - column);
      const uint32_t *part = from + row * fromStride + column;
      for (int64_t i = 0; i < height; i += tile) {
        prefetchRows(part, fromStride, i + ahead, std::min(height, i + ahead + tile));
        int64_t j = 0;
        if (i + tile <= height)
          for (; j + tile <= width; j += tile)
            transposeTile([&](int64_t k) { return part + (i + k) * fromStride + j; },
                          buffer + j * mostRows + i, mostRows);
        for (; j < width; ++j)
          for (int64_t k = i; k < std::min(height, i + tile); ++k)
            buffer[j * mostRows + k] = part[k * fromStride + j];
      }
      if (column + mostColumns < columns)
        prefetchRows(part + mostColumns, fromStride, 0, std::min(ahead, height));
      uint32_t *into = to + column * toStride + row;
      for (int64_t j = 0; j < width; ++j)
        if (height == mostRows)
          std::memcpy(into + j * toStride, buffer + j * mostRows, mostRows * sizeof(uint32_t));
        else
          std::copy_n(buffer + j * mostRows, height, into + j * toStride);
    }
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

// Squares fit the first-level cache: rows are read, columns are written with a stride. Tiles of eight bytes are no faster:
// memory is what takes time. Nor are vectors that are put together cell by cell.
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
  if constexpr (sizeof(Cell) == sizeof(uint32_t))
    if (suitsTiles(fromStride, rows, columns, toStride))
      return transposeInTiles(from, fromStride, rows, columns, to, toStride);
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
