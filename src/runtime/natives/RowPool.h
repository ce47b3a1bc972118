// Pools the windows of a row: the largest cell of each, or their sum. The cells that lie above each other
// are combined first, line by line, which goes along memory: each window then has as many cells as a line
// of it. Beside the line there are cells that change nothing, for the parts of windows that are outside.
//
//   RowPool<float> pool(PoolKind::Max, along.back(), width);
//   pool.run(rows, cellsEnd, to);        // rows: where those of the image that the windows have begin
//
// For float and double, with the widest vectors of the machine. The maximum of NaN and another number is NaN.
#ifndef TOKAMAK_RUNTIME_NATIVES_ROWPOOL_H
#define TOKAMAK_RUNTIME_NATIVES_ROWPOOL_H

#include "runtime/natives/WindowPlaces.h"

#include <limits>
#include <type_traits>

namespace tokamak::runtime {

enum class PoolKind : uint8_t { Max, Sum };

// Sums of integers are modulo a power of 2.
template <typename Cell> Cell combined(PoolKind kind, Cell a, Cell b) {
  if (kind == PoolKind::Max)
    return b > a || b != b ? b : a;
  if constexpr (std::is_integral_v<Cell>)
    return static_cast<Cell>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

// What changes nothing when it is combined with a cell that is the first one of its window.
template <typename Cell> Cell neutralCell(PoolKind kind) {
  if (kind == PoolKind::Sum)
    return Cell();
  return std::is_integral_v<Cell> ? std::numeric_limits<Cell>::lowest()
                                  : -std::numeric_limits<Cell>::infinity();
}

template <typename Cell> class RowPool {
public:
  // Whether windows are evenly spaced, and not too far apart.
  static bool suits(const WindowPlaces &last, int64_t width);
  // `last`: the places along the last dimension, of `width` cells.
  RowPool(PoolKind kind, const WindowPlaces &last, int64_t width);

  // Writes the row's windows to `to`. Nothing may be read at `cellsEnd` or behind it.
  void run(std::span<const Cell *const> rows, const Cell *cellsEnd, Cell *to);

private:
  PoolKind kind_;
  int64_t width_, windows_, places_, first_, step_, distance_; // in cells of the line
  std::vector<Cell> line_;
  Cell *begin_; // of the image's cells in the line
};

} // namespace tokamak::runtime
#endif
