// Tests products with panels, and what is made of them, to the bit: each cell is one chain of fused multiplications and additions.
#include "runtime/natives/PanelProduct.h"

#include "runtime/natives/NativeTesting.h"
#include "runtime/natives/PanelConvolution.h"
#include "runtime/natives/PanelGemm.h"
#include "runtime/natives/RandomNumbers.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;

namespace {

template <typename Number> std::vector<Number> numbers(int64_t count, uint64_t seed) {
  std::vector<Number> cells(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    cells[static_cast<size_t>(i)] =
        static_cast<Number>(uniform(randomBlock(seed, 0, i), 0) * 2 - 1);
  return cells;
}

std::vector<int> vectorWidths() {
  std::vector<int> widths;
  for (int bytes : {16, 32, 64})
    if (bytes <= fusedVectorBytes() && (bytes == 16) == (fusedVectorBytes() == 16))
      widths.push_back(bytes);
  return widths;
}

template <typename Number> class Panels : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Panels, Numbers);

// All widths of panels with all numbers of rows at the end of tiles; results in one run or several, by
// rows or by columns. What lies beside them stays.
TYPED_TEST(Panels, multipliesAllSizes) {
  using Number = TypeParam;
  constexpr int64_t inner = 5, mostRows = 17, gap = 3;
  for (int bytes : vectorWidths()) {
    PanelProduct<Number> product(bytes);
    for (int64_t columns = 1; columns <= product.widest(); ++columns) {
      int64_t width = product.width(columns);
      ASSERT_GE(width, columns);
      auto panel = numbers<Number>(inner * width, 1), lhs = numbers<Number>(mostRows * inner, 2);
      for (int64_t rows = 1; rows <= mostRows; ++rows)
        for (bool byColumns : {false, true})
          for (int64_t split : {int64_t{0}, columns / 3}) {
            int64_t stride = byColumns ? 1 : columns + gap,
                    columnStride = byColumns ? rows + gap : 1;
            std::vector<Number> result(static_cast<size_t>((columns + gap) * (rows + gap)), 7);
            std::vector<PanelRun<Number>> runs;
            if (split > 0)
              runs.push_back({0, split, result.data()});
            runs.push_back({split, columns - split, result.data() + split * columnStride});
            product.multiply({lhs.data(), inner, 1}, 0, rows, inner, {panel.data(), width, width},
                             runs, stride, columnStride);
            std::vector<Number> expected(result.size(), 7);
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t c = 0; c < columns; ++c) {
                Number sum = 0;
                for (int64_t k = 0; k < inner; ++k)
                  sum = std::fma(lhs[r * inner + k], panel[k * width + c], sum);
                expected[r * stride + c * columnStride] = sum;
              }
            ASSERT_EQ(result, expected) << bytes << " bytes, " << rows << " rows, " << columns
                                        << " columns, split at " << split << ", " << byColumns;
          }
    }
  }
}

// Sizes on both sides of the limits for panels that are written together, with all transpositions.
TYPED_TEST(Panels, multipliesAsChains) {
  using Number = TypeParam;
  struct Size {
    int64_t rows, columns, inner;
  };
  for (Size size : {Size{5, 5, 1},
                    {7, 100, 3},
                    {100, 7, 70},
                    {130, 49, 65},
                    {50, 70, 2100},
                    {64, 400, 300},
                    {200, 30, 700},
                    {61, 203, 509}}) {
    auto lhs = numbers<Number>(size.rows * size.inner, 3),
         rhs = numbers<Number>(size.inner * size.columns, 4);
    for (bool lhsTransposed : {false, true})
      for (bool rhsTransposed : {false, true}) {
        GemmShape shape{lhsTransposed, rhsTransposed, size.rows, size.columns, size.inner};
        if (!suitsPanels(shape))
          continue;
        auto at = [](const std::vector<Number> &cells, bool transposed, int64_t i, int64_t j,
                     int64_t rows, int64_t columns) {
          return cells[static_cast<size_t>(transposed ? j * rows + i : i * columns + j)];
        };
        std::vector<Number> result(static_cast<size_t>(size.rows * (size.columns + 1)), 7),
            expected(result);
        gemmInPanels(shape, lhs.data(), lhsTransposed ? size.rows : size.inner, rhs.data(),
                     rhsTransposed ? size.inner : size.columns, result.data(), size.columns + 1);
        for (int64_t i = 0; i < size.rows; ++i)
          for (int64_t j = 0; j < size.columns; ++j) {
            Number sum = 0;
            for (int64_t k = 0; k < size.inner; ++k)
              sum = std::fma(at(lhs, lhsTransposed, i, k, size.rows, size.inner),
                             at(rhs, rhsTransposed, k, j, size.inner, size.columns), sum);
            expected[static_cast<size_t>(i * (size.columns + 1) + j)] = sum;
          }
        ASSERT_EQ(result, expected) << size.rows << 'x' << size.inner << 'x' << size.columns << ' '
                                    << lhsTransposed << rhsTransposed;
      }
  }
}

// Parts of the side that is packed: of the right factor in X %*% Y, since the left one is read where it lies.
TYPED_TEST(Panels, areSplitWherePartsCopyNothingTwice) {
  using Number = TypeParam;
  if (!PanelProduct<Number>::isAvailable())
    GTEST_SKIP() << "no vectors with fused multiplication and addition";
  auto parts = [](GemmShape shape) { return partsOfGemm<Number>(shape); };
  for (bool areRows : {false, true}) {
    std::optional<GemmParts> square = parts({areRows, areRows, 2000, 2000, 2000});
    ASSERT_TRUE(square.has_value());
    EXPECT_EQ(square->areRows, areRows);
    EXPECT_GE(2000 / square->size, 3) << "too few parts for four threads";
    EXPECT_EQ(square->size % PanelProduct<Number>().width(2000), 0);
  }
  EXPECT_TRUE(parts({true, false, 2000, 2000, 2000}).has_value()); // copies both
  EXPECT_FALSE(parts({false, false, 1000000, 60, 100}))
      << "rows are split: too few columns are packed";
  EXPECT_FALSE(parts({false, false, 1000000, 500, 100})) << "parts of many rows read them once";
  EXPECT_FALSE(parts({false, false, 50, 50, 50})) << "too small for panels";
}

// NaN and Inf reach the cells of their row and column and no others, in all forms.
TYPED_TEST(Panels, keepsSpecialCellsApart) {
  using Number = TypeParam;
  constexpr int64_t size = 131, row = 17, column = 90;
  auto lhs = numbers<Number>(size * size, 3), rhs = numbers<Number>(size * size, 4);
  for (bool lhsTransposed : {false, true})
    for (bool rhsTransposed : {false, true}) {
      auto left = lhs, right = rhs;
      left[lhsTransposed ? 100 * size + row : row * size + 100] =
          std::numeric_limits<Number>::quiet_NaN();
      right[rhsTransposed ? column * size + 100 : 100 * size + column] =
          std::numeric_limits<Number>::infinity();
      std::vector<Number> result(size * size);
      gemm({lhsTransposed, rhsTransposed, size, size, size}, left.data(), size, right.data(), size,
           result.data(), size);
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j)
          ASSERT_TRUE(i == row      ? std::isnan(result[i * size + j])
                      : j == column ? std::isinf(result[i * size + j])
                                    : std::isfinite(result[i * size + j]))
              << i << ' ' << j << ' ' << lhsTransposed << rhsTransposed;
    }
}

struct Dimension {
  int64_t size, windows, places, first, step, spacing, distance = 1;

  int64_t at(int64_t window, int64_t place) const { // -1: outside
    int64_t at = first + window * step + place * spacing;
    return at < 0 || at % distance != 0 || at / distance >= size ? -1 : at / distance;
  }
  void addTo(std::vector<Value> &numbers) const {
    for (int64_t number : {windows, places, first + 1, step, spacing, distance})
      numbers.emplace_back(number);
  }
};

struct ConvolutionCase {
  int64_t images, groups, channels, filters; // of channels and of filters those of a group
  Dimension rows, columns;
};

template <typename Number>
ArrayPointer arrayOf(const Shape &shape, ElementType type, uint64_t seed) {
  ArrayPointer array = Array::create(shape, type);
  auto cells = numbers<Number>(shape.cells(), seed);
  std::copy(cells.begin(), cells.end(), array->mutableCellsAs<Number>());
  return array;
}

template <typename Number> void expectConvolution(const ConvolutionCase &given) {
  ElementType type = sizeof(Number) == 4 ? ElementType::F32 : ElementType::F64;
  auto [images, groups, channels, filters, rows, columns] = given;
  Shape imageShape({images, groups * channels, rows.size, columns.size});
  ArrayPointer image = arrayOf<Number>(imageShape, type, 5),
               weights = arrayOf<Number>(
                   Shape({groups * filters, channels, rows.places, columns.places}), type, 6);
  std::vector<Value> values;
  rows.addTo(values), columns.addTo(values);
  std::vector<WindowPlaces> along = windowPlacesOf(imageShape, values, "convolve");
  WindowRows windows(along);
  int64_t count = rows.windows * columns.windows;
  std::vector<Number> expected(static_cast<size_t>(images * groups * filters * count));
  for (int64_t n = 0; n < images; ++n)
    for (int64_t f = 0; f < groups * filters; ++f)
      for (int64_t w = 0; w < count; ++w) {
        Number sum = 0;
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t y = 0; y < rows.places; ++y)
            for (int64_t x = 0; x < columns.places; ++x) {
              int64_t row = rows.at(w / columns.windows, y),
                      column = columns.at(w % columns.windows, x);
              Number weight = weights->cellsAs<
                  Number>()[((f * channels + c) * rows.places + y) * columns.places + x];
              Number cell = row < 0 || column < 0
                                ? 0
                                : image->cellsAs<Number>()[((n * groups * channels +
                                                             f / filters * channels + c) *
                                                                rows.size +
                                                            row) *
                                                               columns.size +
                                                           column];
              sum = std::fma(weight, cell, sum);
            }
        expected[static_cast<size_t>((n * groups * filters + f) * count + w)] = sum;
      }
  for (int bytes : vectorWidths())
    for (int threads : {1, 3}) {
      Scheduler scheduler(threads);
      ExecutionContext context;
      context.scheduler = &scheduler;
      std::vector<Number> result(expected.size(), 7);
      PanelConvolution<Number>(*image, *weights, groups, windows, result.data(),
                               PanelProduct<Number>(bytes))
          .compute(context);
      // Few columns are vectors, whose products are added up in another order.
      bool isChain = images * count >= 5;
      for (size_t i = 0; i < result.size() && !isChain; ++i)
        if (std::abs(result[i] - expected[i]) < 1e-5)
          result[i] = expected[i];
      ASSERT_EQ(result, expected) << bytes << " bytes, " << threads << " threads: " << images
                                  << " images, " << groups << " groups of " << channels
                                  << " channels and " << filters << " filters, rows " << rows.size
                                  << '/' << rows.windows << ", columns " << columns.size << '/'
                                  << columns.windows << ", step " << columns.step;
    }
}

TYPED_TEST(Panels, convolvesByTheDefinition) {
  Dimension one{1, 1, 1, 0, 1, 1}, cells{9, 9, 1, 0, 1, 1}, many{33, 33, 1, 0, 1, 1};
  Dimension padded{9, 9, 3, -1, 1, 1}, wide{40, 40, 5, -2, 1, 1}, halved{19, 10, 3, -1, 2, 1};
  Dimension third{31, 11, 2, 0, 3, 2}, transposed{5, 11, 3, -2, 1, 1, 2},
      outside{3, 5, 4, -9, 2, 3};
  for (const ConvolutionCase &given :
       std::initializer_list<ConvolutionCase>{{1, 1, 3, 5, padded, padded},
                                              {1, 1, 3, 9, wide, wide},
                                              {1, 2, 2, 8, wide, many},
                                              {1, 1, 8, 30, many, many},
                                              {3, 1, 4, 7, cells, cells},
                                              {5, 2, 3, 10, one, padded},
                                              {1, 3, 5, 4, cells, many},
                                              {2, 1, 3, 26, halved, halved},
                                              {1, 1, 2, 6, third, third},
                                              {1, 1, 2, 3, transposed, transposed},
                                              {1, 1, 1, 4, outside, outside},
                                              {20, 1, 2, 25, one, {4, 4, 3, -1, 1, 1}},
                                              {1, 1, 130, 9, many, many},
                                              {1, 4, 1, 4, halved, wide},
                                              {1, 1, 300, 100, padded, padded},
                                              {1, 1, 40, 60, one, {9, 4, 3, -1, 2, 1}},
                                              {2, 3, 4, 30, one, {3, 2, 2, 0, 1, 1}}})
    expectConvolution<TypeParam>(given);
}

} // namespace
