#include "runtime/natives/PanelProduct.h"

#include <algorithm>

namespace tokamak::runtime {
namespace {

template <typename Number> struct Product {
  PanelFactor<Number> lhs;
  int64_t inner;
  const Number *panel;
  int64_t panelStride;
  std::span<const PanelRun<Number>> runs;
  int64_t resultStride, columnStride;
  bool isContinued;
};

// The rows of a tile: with its vectors of columns its sums fill most of the 32 registers of AVX-512 and
// NEON, or of the 16 of AVX2, and each factor that is loaded is used for several sums.
constexpr bool hasManyRegisters(int vectorBytes) { return vectorBytes != 32; }
constexpr int tileRowsFor(int vectorBytes, int vectors) {
  return hasManyRegisters(vectorBytes) && vectors < 4 ? 8 : 6;
}
constexpr int mostVectorsFor(int vectorBytes) { return hasManyRegisters(vectorBytes) ? 4 : 2; }

// In the widest vectors that so many cells fill; the last one overlaps the one before. At most
// 2 * Bytes, or `mostVectors` of them.
template <typename Number, int Bytes, int mostVectors = 2>
[[gnu::always_inline]] inline void copyCells(const Number *from, Number *to, int64_t count) {
  using Unaligned [[gnu::vector_size(Bytes), gnu::aligned(alignof(Number)), gnu::may_alias]] =
      Number;
  constexpr int64_t lanes = Bytes / sizeof(Number);
  auto copy = [&](int64_t cell) {
    *reinterpret_cast<Unaligned *>(to + cell) = *reinterpret_cast<const Unaligned *>(from + cell);
  };
  if (count >= lanes) {
    for (int i = 0; i < mostVectors - 1; ++i)
      if ((i + 1) * lanes < count)
        copy(i * lanes);
    copy(count - lanes);
  } else if constexpr (lanes > 1) {
    copyCells<Number, Bytes / 2>(from, to, count);
  }
}

// Inlined into functions compiled for machines with such vectors.
template <typename Number, int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void multiplyTile(const Product<Number> &product, int64_t row) {
  using Vector [[gnu::vector_size(Bytes), gnu::may_alias]] = Number;
  using Unaligned [[gnu::vector_size(Bytes), gnu::aligned(alignof(Number)), gnu::may_alias]] =
      Number;
  constexpr int lanes = Bytes / sizeof(Number), width = lanes * Vectors;
  bool isOneRun = product.runs.size() == 1 && product.columnStride == 1;
  int64_t whole = isOneRun ? product.runs[0].count / lanes : 0; // vectors of it
  alignas(Bytes) Number tile[Rows][width];
  Vector sums[Rows][Vectors] = {};
  if (product.isContinued) {
    for (const PanelRun<Number> &run : product.runs) {
      const Number *from = run.to + row * product.resultStride;
      if (product.columnStride == 1) {
        for (int r = 0; r < Rows; ++r)
          copyCells<Number, Bytes, Vectors>(from + r * product.resultStride, tile[r] + run.column,
                                            run.count);
        continue;
      }
      for (int64_t c = 0; c < run.count; ++c)
        for (int r = 0; r < Rows; ++r)
          tile[r][run.column + c] = from[r * product.resultStride + c * product.columnStride];
    }
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < Vectors; ++i)
        sums[r][i] = *reinterpret_cast<const Vector *>(tile[r] + i * lanes);
  }
  int64_t rowStride = product.lhs.rowStride, innerStride = product.lhs.innerStride;
  const Number *lhs = product.lhs.cells + row * rowStride, *panel = product.panel;
  // The next tile's rows are fetched from the third-level cache or memory meanwhile: the machine expects neither steps as
  // long as those between neighbouring rows, nor where short rows end. Of rows with gaps between them, some are missed.
  const Number *next = lhs + Rows * rowStride;
  int64_t step = rowStride == 1 ? innerStride : Rows;
  for (int64_t k = 0; k < product.inner; ++k, lhs += innerStride, panel += product.panelStride) {
    Vector cells[Vectors];
    for (int i = 0; i < Vectors; ++i)
      cells[i] = *reinterpret_cast<const Unaligned *>(panel + i * lanes);
    __builtin_prefetch(next + k * step, 0, 2);
    for (int r = 0; r < Rows; ++r) {
      Vector factor = lhs[r * rowStride] - Vector{};
      for (int i = 0; i < Vectors; ++i)
        sums[r][i] = __builtin_elementwise_fma(factor, cells[i], sums[r][i]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Vectors && i < whole; ++i)
      *reinterpret_cast<Unaligned *>(product.runs[0].to + (row + r) * product.resultStride +
                                     i * lanes) = sums[r][i];
  if (isOneRun && whole * lanes == product.runs[0].count)
    return;
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Vectors; ++i)
      *reinterpret_cast<Vector *>(tile[r] + i * lanes) = sums[r][i];
  for (const PanelRun<Number> &run : product.runs) {
    if (product.resultStride == 1) { // rows are columns of the result in memory
      for (int64_t c = 0; c < run.count; ++c)
        for (int r = 0; r < Rows; ++r)
          run.to[row + r + c * product.columnStride] = tile[r][run.column + c];
      continue;
    }
    Number *to = run.to + row * product.resultStride;
    if (product.columnStride == 1) {
      int64_t begin = whole > 0 ? run.count - lanes : 0;
      for (int r = 0; r < Rows; ++r, to += product.resultStride)
        copyCells<Number, Bytes, Vectors>(tile[r] + run.column + begin, to + begin,
                                          run.count - begin);
      continue;
    }
    for (int r = 0; r < Rows; ++r)
      for (int64_t c = 0; c < run.count; ++c)
        to[r * product.resultStride + c * product.columnStride] = tile[r][run.column + c];
  }
}

template <typename Number, int Bytes, int Vectors>
[[gnu::always_inline]] inline void multiplyRows(const Product<Number> &product, int64_t row,
                                                int64_t end) {
  constexpr int tileRows = tileRowsFor(Bytes, Vectors);
  for (; row + tileRows <= end; row += tileRows)
    multiplyTile<Number, Bytes, tileRows, Vectors>(product, row);
  if (row + 4 <= end) {
    multiplyTile<Number, Bytes, 4, Vectors>(product, row);
    row += 4;
  }
  if (row + 2 <= end) {
    multiplyTile<Number, Bytes, 2, Vectors>(product, row);
    row += 2;
  }
  if (row < end)
    multiplyTile<Number, Bytes, 1, Vectors>(product, row);
}

#if defined(__x86_64__)
template <typename Number, int Vectors>
[[gnu::target("avx512f"), gnu::noinline]] void multiplyWide(const Product<Number> &product,
                                                            int64_t begin, int64_t end) {
  multiplyRows<Number, 64, Vectors>(product, begin, end);
}
template <typename Number, int Vectors>
[[gnu::target("avx2,fma"), gnu::noinline]] void multiplyNarrow(const Product<Number> &product,
                                                               int64_t begin, int64_t end) {
  multiplyRows<Number, 32, Vectors>(product, begin, end);
}
#else
template <typename Number, int Vectors>
void multiplyWide(const Product<Number> &product, int64_t begin, int64_t end) {
  multiplyRows<Number, 16, Vectors>(product, begin, end);
}
#endif

template <typename Number>
void multiplyIn(int vectorBytes, int64_t vectors, const Product<Number> &product, int64_t begin,
                int64_t end) {
#if defined(__x86_64__)
  if (vectorBytes == 32)
    return vectors == 1 ? multiplyNarrow<Number, 1>(product, begin, end)
                        : multiplyNarrow<Number, 2>(product, begin, end);
#endif
  switch (vectors) {
  case 1:
    return multiplyWide<Number, 1>(product, begin, end);
  case 2:
    return multiplyWide<Number, 2>(product, begin, end);
  case 3:
    return multiplyWide<Number, 3>(product, begin, end);
  default:
    return multiplyWide<Number, 4>(product, begin, end);
  }
}

} // namespace

template <typename Number> int64_t PanelProduct<Number>::widest() const {
  return lanes() * mostVectorsFor(vectorBytes_);
}

template <typename Number> int64_t PanelProduct<Number>::width(int64_t columns) const {
  int64_t vectors = (columns + lanes() - 1) / lanes(), most = mostVectorsFor(vectorBytes_);
  // Tiles of three vectors have more rows; but one vector alone is slow.
  if (most == 4 && vectors != 4)
    most = 3;
  return lanes() * std::clamp<int64_t>(vectors, 1, most);
}

template <typename Number>
void PanelProduct<Number>::multiply(const PanelFactor<Number> &lhs, int64_t begin, int64_t end,
                                    int64_t inner, const Panel<Number> &panel,
                                    std::span<const PanelRun<Number>> runs, int64_t resultStride,
                                    int64_t columnStride, bool isContinued) const {
  multiplyIn<Number>(
      vectorBytes_, panel.width / lanes(),
      {lhs, inner, panel.cells, panel.stride, runs, resultStride, columnStride, isContinued}, begin,
      end);
}

template class PanelProduct<float>;
template class PanelProduct<double>;

} // namespace tokamak::runtime
