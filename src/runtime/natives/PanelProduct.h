// Products with a panel: some columns of the right factor, copied row by row to contiguous memory, so
// that the cells of a tile of the result stay in registers.
//
//   PanelProduct<float> product;
//   int64_t width = product.width(columns);                       // of the next panel: a few vectors
//   float *cells = new float[inner * width];                      // as many columns of each row
//   PanelRun<float> run{0, columns, result};                      // where those of the panel go
//   product.multiply({lhs, inner, 1}, 0, rows, inner, {cells, width, width}, {&run, 1}, stride);
//
// Each cell is one chain of fused multiplications and additions in the order of `inner`: how rows and
// columns are cut doesn't change its bits.
#ifndef TOKAMAK_RUNTIME_NATIVES_PANELPRODUCT_H
#define TOKAMAK_RUNTIME_NATIVES_PANELPRODUCT_H

#include "base/WidestVectors.h"

#include <cstdint>
#include <span>

namespace tokamak::runtime {

// A factor whose cell (row, k) is cells[row * rowStride + k * innerStride].
template <typename Number> struct PanelFactor {
  const Number *cells;
  int64_t rowStride, innerStride;
};

// `width` neighbouring cells for each place of the inner dimension; `stride` cells from one place to the next.
template <typename Number> struct Panel {
  const Number *cells;
  int64_t width, stride;
};

// Where a panel is written column by column, so many rows come before the next ones: what the first-level cache holds.
inline constexpr int64_t rowsTogether = 64;

// `count` columns of a panel from `column` on, and where those of the result's first row are.
template <typename Number> struct PanelRun {
  int64_t column, count;
  Number *to;
};

// For float and double.
template <typename Number> class PanelProduct {
public:
  // `vectorBytes`: 32 or 64 on x86-64, 16 on AArch64, at most fusedVectorBytes(). If that is 0, only
  // isAvailable() may be called.
  explicit PanelProduct(int vectorBytes = fusedVectorBytes()) : vectorBytes_(vectorBytes) {}
  static bool isAvailable() { return fusedVectorBytes() != 0; }

  // The columns of the first panel of so many: at most `widest()`, more than are left at the end.
  int64_t width(int64_t columns) const;
  int64_t widest() const;

  // For the rows r from `begin` to `end` and the columns c of all runs: to[r * resultStride + (c - column) * columnStride]
  // becomes the sum of lhs(r, k) * cells[k * stride + c] over k < inner, added to what it is if `isContinued`. The panel's width is one of width().
  void multiply(const PanelFactor<Number> &lhs, int64_t begin, int64_t end, int64_t inner,
                const Panel<Number> &panel, std::span<const PanelRun<Number>> runs,
                int64_t resultStride, int64_t columnStride = 1, bool isContinued = false) const;

private:
  int64_t lanes() const { return vectorBytes_ / static_cast<int64_t>(sizeof(Number)); }

  int vectorBytes_;
};

} // namespace tokamak::runtime
#endif
