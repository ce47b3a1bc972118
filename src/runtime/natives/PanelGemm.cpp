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
// The longest part of the inner dimension that is multiplied before the next one.
constexpr int64_t mostInner = 1024;
constexpr int64_t rowsOfTiles = 24; // tiles have six or eight

// A factor whose vectors (rows of the left one, columns of the right one) are `vectorStride` apart.
struct Vectors {
  const float *cells;
  int64_t count, vectorStride, innerStride;

  const float *at(int64_t vector) const { return cells + vector * vectorStride; }
};

// Copies `count` vectors from `from` on to a panel, with zeros behind them.
TOKAMAK_WIDEST_VECTORS void writePanel(const float *from, int64_t vectorStride, int64_t innerStride,
                                       int64_t inner, int64_t count, int64_t width, float *panel) {
  if (count < width)
    std::fill_n(panel, inner * width, 0.0f);
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

} // namespace

bool suitsPanels(const GemmShape &shape) {
  return PanelProduct<float>::isAvailable() && shape.inner > 0 &&
         std::min(shape.rows, shape.columns) > mostSeparateVectors;
}

void gemmInPanels(const GemmShape &shape, const float *lhs, int64_t lhsStride, const float *rhs,
                  int64_t rhsStride, float *result, int64_t resultStride) {
  Vectors left{lhs, shape.rows, shape.lhsTransposed ? 1 : lhsStride,
               shape.lhsTransposed ? lhsStride : 1};
  Vectors right{rhs, shape.columns, shape.rhsTransposed ? rhsStride : 1,
                shape.rhsTransposed ? 1 : rhsStride};
  // The other factor is read along `inner` then. In steps of whole rows that is slow.
  bool readsLeft = left.innerStride == 1, readsRight = right.innerStride == 1;
  // Of two that may be packed, the smaller one; but from panels of the left one results are written by columns, which
  // takes about as long as packing for each two cells.
  bool isLeftCheaper =
      static_cast<double>(shape.rows) *
          (static_cast<double>(shape.inner) + 0.5 * static_cast<double>(shape.columns)) <
      static_cast<double>(shape.columns) * static_cast<double>(shape.inner);
  bool packsLeft = readsLeft == readsRight ? isLeftCheaper : readsRight;
  const Vectors &packed = packsLeft ? left : right, &other = packsLeft ? right : left;
  int64_t packedStride = packsLeft ? resultStride : 1, otherStride = packsLeft ? 1 : resultStride;

  PanelProduct<float> product;
  int64_t widest = product.widest(), inner = std::min(shape.inner, mostInner),
          bytesOfVector = inner * static_cast<int64_t>(sizeof(float));
  int64_t together = other.count * bytesOfVector <= bytesOfRows
                         ? 1
                         : std::clamp<int64_t>(bytesOfPanels / (bytesOfVector * widest), 1,
                                               (packed.count + widest - 1) / widest);
  int64_t rows = std::max<int64_t>(1, bytesOfRows / bytesOfVector / rowsOfTiles) * rowsOfTiles;
  ArrayPointer buffer = Array::create({together, inner * widest}, ElementType::F32);
  auto *cells = buffer->mutableCellsAs<float>();
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
    PanelFactor<float> factor{other.cells + begin * other.innerStride, other.vectorStride,
                              other.innerStride};
    for (int64_t row = 0; row < other.count; row += rows)
      for (size_t i = 0; i < panels.size(); ++i) {
        PanelRun<float> run{0, panels[i].count, result + panels[i].first * packedStride};
        product.multiply(factor, row, std::min(other.count, row + rows), length,
                         {cells + i * inner * widest, panels[i].width, panels[i].width}, {&run, 1},
                         otherStride, packedStride, begin > 0);
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

} // namespace tokamak::runtime
