#include "runtime/natives/PanelGemm.h"

#include "base/WidestVectors.h"
#include "runtime/natives/PanelProduct.h"
#include "runtime/values/Array.h"

#include <algorithm>
#include <vector>

namespace tokamak::runtime {
namespace {

// The bytes of panels, and of the other factor, that are multiplied with each other before the next
// ones are read: together what second-level caches hold.
constexpr int64_t bytesOfPanels = int64_t{512} << 10, bytesOfRows = int64_t{256} << 10;
// More of them where the other factor is copied for each such group of panels.
constexpr int64_t bytesOfPanelsOfCopies = int64_t{2} << 20;
// The longest part of the inner dimension that is multiplied before the next one.
constexpr int64_t mostInner = 1024;
// The same where the other factor is copied, too: more panels are multiplied with each of its cells then.
constexpr int64_t mostCopiedInner = 256;
constexpr int64_t rowsOfTiles = 24; // tiles have six or eight

// A factor whose vectors (rows of the left one, columns of the right one) are `vectorStride` apart.
template <typename Number> struct Vectors {
  const Number *cells;
  int64_t count, vectorStride, innerStride;

  const Number *at(int64_t vector) const { return cells + vector * vectorStride; }
};

// Copies `count` vectors from `from` on to a panel, with zeros behind them.
template <typename Number>
[[gnu::always_inline]] inline void writeVectors(const Number *from, int64_t vectorStride,
                                                int64_t innerStride, int64_t inner, int64_t count,
                                                int64_t width, Number *panel) {
  if (count < width)
    std::fill_n(panel, inner * width, Number(0));
  if (vectorStride == 1) {
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t i = 0; i < count; ++i)
        panel[k * width + i] = from[k * innerStride + i];
    return;
  }
  for (int64_t begin = 0; begin < inner; begin += rowsTogether) {
    int64_t end = std::min(inner, begin + rowsTogether);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = begin; k < end; ++k)
        panel[k * width + i] = from[i * vectorStride + k * innerStride];
  }
}

TOKAMAK_WIDEST_VECTORS void writePanel(const float *from, int64_t vectorStride, int64_t innerStride,
                                       int64_t inner, int64_t count, int64_t width, float *panel) {
  writeVectors(from, vectorStride, innerStride, inner, count, width, panel);
}
TOKAMAK_WIDEST_VECTORS void writePanel(const double *from, int64_t vectorStride,
                                       int64_t innerStride, int64_t inner, int64_t count,
                                       int64_t width, double *panel) {
  writeVectors(from, vectorStride, innerStride, inner, count, width, panel);
}

} // namespace

bool suitsPanels(const GemmShape &shape) {
  return PanelProduct<float>::isAvailable() && shape.inner > 0 &&
         std::min(shape.rows, shape.columns) > mostSeparateVectors;
}

namespace {

// Which factor is packed, and what is multiplied with each other at a time.
template <typename Number> struct Packing {
  bool packsLeft, copiesOther;
  int64_t inner;    // of the inner dimension
  int64_t together; // panels
  int64_t rows;     // of the other factor

  explicit Packing(const GemmShape &shape) {
    // The other factor is read along `inner`. In steps of whole rows that is slow.
    bool readsLeft = !shape.lhsTransposed, readsRight = shape.rhsTransposed;
    // Of two that may be packed, the smaller one; but from panels of the left one results are written by columns, which
    // takes about as long as packing for each two cells.
    bool isLeftCheaper =
        static_cast<double>(shape.rows) *
            (static_cast<double>(shape.inner) + 0.5 * static_cast<double>(shape.columns)) <
        static_cast<double>(shape.columns) * static_cast<double>(shape.inner);
    packsLeft = readsLeft == readsRight ? isLeftCheaper : readsRight;
    int64_t widest = PanelProduct<Number>().widest(), count = packed(shape), others = other(shape);
    // Cells whose neighbours along `inner` are far away are read once for all panels of some, not once for each.
    copiesOther = !(packsLeft ? readsRight : readsLeft) && count > widest;
    inner = std::min(shape.inner, copiesOther ? mostCopiedInner : mostInner);
    int64_t bytesOfVector = inner * static_cast<int64_t>(sizeof(Number)),
            bytes = copiesOther ? bytesOfPanelsOfCopies : bytesOfPanels;
    together = others * bytesOfVector <= bytesOfRows
                   ? 1
                   : std::clamp<int64_t>(bytes / (bytesOfVector * widest), 1,
                                         (count + widest - 1) / widest);
    rows = std::max<int64_t>(1, bytesOfRows / bytesOfVector / rowsOfTiles) * rowsOfTiles;
    rows = std::min(rows, others);
  }

  int64_t packed(const GemmShape &shape) const { return packsLeft ? shape.rows : shape.columns; }
  int64_t other(const GemmShape &shape) const { return packsLeft ? shape.columns : shape.rows; }
};

} // namespace

template <typename Number> std::optional<GemmParts> partsOfPanels(const GemmShape &shape) {
  constexpr int64_t fewest = 4, most = 64, largest = 256;
  // So many vectors of the other factor in a part make up for packing once for it, and are read once.
  constexpr int64_t manyOthers = 2048;
  Packing<Number> packing(shape);
  if (packing.other(shape) >= most * manyOthers)
    return std::nullopt;
  PanelProduct<Number> product;
  int64_t count = packing.packed(shape), width = product.width(count);
  auto upTo = [](int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; };
  int64_t size = std::min(largest, packing.together * width);
  int64_t parts =
      std::min(most, upTo((count + size - 1) / size, fewest)); // as many for each of four threads
  size = upTo((count + parts - 1) / parts, width);
  if (count <= size * (fewest - 1))
    return std::nullopt;
  return GemmParts{packing.packsLeft, size};
}

template <typename Number>
void gemmInPanels(const GemmShape &shape, const Number *lhs, int64_t lhsStride, const Number *rhs,
                  int64_t rhsStride, Number *result, int64_t resultStride) {
  Vectors<Number> left{lhs, shape.rows, shape.lhsTransposed ? 1 : lhsStride,
                       shape.lhsTransposed ? lhsStride : 1};
  Vectors<Number> right{rhs, shape.columns, shape.rhsTransposed ? rhsStride : 1,
                        shape.rhsTransposed ? 1 : rhsStride};
  Packing<Number> packing(shape);
  bool packsLeft = packing.packsLeft, copiesOther = packing.copiesOther;
  int64_t inner = packing.inner, together = packing.together, rows = packing.rows;
  const Vectors<Number> &packed = packsLeft ? left : right, &other = packsLeft ? right : left;
  int64_t packedStride = packsLeft ? resultStride : 1, otherStride = packsLeft ? 1 : resultStride;

  PanelProduct<Number> product;
  int64_t widest = product.widest();
  int64_t cellsOfPanels = together * inner * widest, cellsOfCopy = copiesOther ? rows * inner : 0;
  ArrayPointer buffer =
      Array::create({1, cellsOfPanels + cellsOfCopy},
                    sizeof(Number) == sizeof(float) ? ElementType::F32 : ElementType::F64);
  auto *cells = buffer->mutableCellsAs<Number>(), *copy = cells + cellsOfPanels;
  struct Part {
    int64_t first, count, width;
  };
  std::vector<Part> panels;
  // The panels' product with all vectors of the other factor, from `begin` of the inner dimension on.
  auto multiply = [&](int64_t begin) {
    int64_t length = std::min(inner, shape.inner - begin);
    for (size_t i = 0; i < panels.size(); ++i)
      writePanel(packed.at(panels[i].first) + begin * packed.innerStride, packed.vectorStride,
                 packed.innerStride, length, panels[i].count, panels[i].width,
                 cells + i * inner * widest);
    for (int64_t row = 0; row < other.count; row += rows) {
      int64_t count = std::min(rows, other.count - row);
      PanelFactor<Number> factor{other.at(row) + begin * other.innerStride, other.vectorStride,
                                 other.innerStride};
      if (copiesOther) {
        for (int64_t k = 0; k < length; ++k)
          std::copy_n(factor.cells + k * factor.innerStride, count, copy + k * count);
        factor = {copy, 1, count};
      }
      for (size_t i = 0; i < panels.size(); ++i) {
        PanelRun<Number> run{0, panels[i].count,
                             result + row * otherStride + panels[i].first * packedStride};
        product.multiply(factor, 0, count, length,
                         {cells + i * inner * widest, panels[i].width, panels[i].width}, {&run, 1},
                         otherStride, packedStride, begin > 0);
      }
    }
  };
  for (int64_t first = 0; first < packed.count;) {
    panels.clear();
    for (; first < packed.count && static_cast<int64_t>(panels.size()) < together;
         first += panels.back().count) {
      int64_t width = product.width(packed.count - first);
      panels.push_back({first, std::min(width, packed.count - first), width});
    }
    for (int64_t begin = 0; begin < shape.inner; begin += inner)
      multiply(begin);
  }
}

template std::optional<GemmParts> partsOfPanels<float>(const GemmShape &);
template std::optional<GemmParts> partsOfPanels<double>(const GemmShape &);
template void gemmInPanels(const GemmShape &, const float *, int64_t, const float *, int64_t,
                           float *, int64_t);
template void gemmInPanels(const GemmShape &, const double *, int64_t, const double *, int64_t,
                           double *, int64_t);

} // namespace tokamak::runtime
