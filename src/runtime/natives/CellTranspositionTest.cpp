#include "runtime/natives/CellTransposition.h"

#include "runtime/memory/CacheSize.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

using namespace tokamak::runtime;

namespace {

template <typename Cell> class CellTransposition : public ::testing::Test {};
using Cells = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(CellTransposition, Cells);

// All remainders of squares, parts and tiles, in larger matrices, whose other cells stay.
TYPED_TEST(CellTransposition, movesEachCell) {
  constexpr int64_t most = 75, gap = 3;
  std::vector<TypeParam> from((most + gap) * (most + gap));
  std::iota(from.begin(), from.end(), TypeParam(1));
  for (int64_t rows = 0; rows <= most; ++rows)
    for (int64_t columns = 0; columns <= most; ++columns) {
      int64_t fromStride = columns + gap, toStride = rows + gap;
      std::vector<TypeParam> to((most + gap) * (most + gap)), expected = to;
      transposeCells(from.data(), fromStride, rows, columns, to.data(), toStride);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          expected[j * toStride + i] = from[i * fromStride + j];
      ASSERT_EQ(to, expected) << rows << " x " << columns;
    }
}

// Results that no cache holds, whose rows begin anywhere in a cache line. What is between them is not touched.
TYPED_TEST(CellTransposition, writesLargeResultsPastTheCaches) {
  constexpr int64_t rows = 203, columns = 101;
  int64_t toStride = lastCacheBytes() / static_cast<int64_t>(sizeof(TypeParam)) / columns + 3;
  std::vector<TypeParam> from(rows * columns);
  std::iota(from.begin(), from.end(), TypeParam(1));
  std::unique_ptr<TypeParam[]> to(new TypeParam[columns * toStride]);
  transposeCells(from.data(), columns, rows, columns, to.get(), toStride);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(to[j * toStride + i], from[i * columns + j]) << i << ", " << j;
}

TYPED_TEST(CellTransposition, readsRowsFromTheLastOne) {
  constexpr int64_t rows = 20, columns = 17;
  std::vector<TypeParam> from(rows * columns), to(from.size()), expected(from.size());
  std::iota(from.begin(), from.end(), TypeParam(1));
  transposeCells(from.data() + (rows - 1) * columns, -columns, rows, columns, to.data(), rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      expected[j * rows + i] = from[(rows - 1 - i) * columns + j];
  EXPECT_EQ(to, expected);
}

// From rows in any order.
TEST(CellTranspositionTest, movesRowsThatLieAnywhere) {
  constexpr int64_t most = 40, stride = 11;
  std::vector<uint32_t> from(rowsOfTile * most);
  std::iota(from.begin(), from.end(), 1u);
  for (int64_t columns = 0; columns <= most; ++columns) {
    std::array<const uint32_t *, rowsOfTile> rows;
    for (int64_t i = 0; i < rowsOfTile; ++i)
      rows[i] = from.data() + i * 3 % rowsOfTile * most;
    std::vector<uint32_t> to(most * stride), expected = to;
    transposeTileRows(rows, columns, to.data(), stride);
    for (int64_t i = 0; i < rowsOfTile; ++i)
      for (int64_t j = 0; j < columns; ++j)
        expected[j * stride + i] = rows[i][j];
    ASSERT_EQ(to, expected) << columns;
  }
}

} // namespace
