#include "runtime/natives/RowPool.h"

#include "runtime/natives/NativeTesting.h"
#include "runtime/natives/RandomNumbers.h"

#include <bit>
#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;

namespace {

template <typename Cell> class RowPools : public ::testing::Test {};
using Cells = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RowPools, Cells);

struct Along {
  int64_t windows, places, first, step, spacing;
};

// All widths about a vector, windows inside and outside of the line, with NaN and infinities among the cells; the last
// line ends where the array does.
TYPED_TEST(RowPools, poolByTheDefinition) {
  using Cell = TypeParam;
  constexpr int64_t lines = 3;
  for (int64_t width : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 50})
    for (Along along :
         {Along{width, 3, -1, 1, 1}, Along{(width + 1) / 2, 3, -1, 2, 1},
          Along{width / 2, 2, 0, 2, 1}, Along{1, width, 0, 1, 1}, Along{width, 2, -3, 1, 4},
          Along{width / 3 + 1, 4, -2, 3, 2}, Along{width + 5, 2, -5, 1, 1}}) {
      std::vector<Cell> cells(static_cast<size_t>(lines * width));
      for (size_t i = 0; i < cells.size(); ++i) {
        double number = uniform(randomBlock(width, 0, static_cast<int64_t>(i)), 0);
        cells[i] = static_cast<Cell>(number < 0.03   ? std::nan("")
                                     : number < 0.06 ? -std::numeric_limits<double>::infinity()
                                     : number < 0.1  ? -0.0
                                                     : number * 8 - 4);
      }
      std::vector<Value> numbers;
      for (int64_t number :
           {along.windows, along.places, along.first + 1, along.step, along.spacing, int64_t{1}})
        numbers.emplace_back(number);
      WindowPlaces places(numbers, width, 1, "pool");
      ASSERT_TRUE(RowPool<Cell>::suits(places, width));
      for (PoolKind kind : {PoolKind::Max, PoolKind::Sum})
        for (size_t count = 0; count <= lines; ++count) {
          std::vector<const Cell *> rows;
          for (size_t row = lines - count; row < lines; ++row)
            rows.push_back(cells.data() + static_cast<int64_t>(row) * width);
          std::vector<Cell> result(static_cast<size_t>(along.windows + 1), 7);
          RowPool<Cell> pool(kind, places, width);
          pool.run(rows, cells.data() + cells.size(), result.data());
          pool.run(rows, cells.data() + cells.size(),
                   result.data()); // nothing is left of the first
          EXPECT_EQ(result.back(), 7);
          for (int64_t window = 0; window < along.windows; ++window) {
            Cell expected = neutralCell<Cell>(kind);
            for (int64_t place = 0; place < along.places; ++place) {
              int64_t at = along.first + window * along.step + place * along.spacing;
              Cell line = neutralCell<Cell>(kind);
              for (const Cell *row : rows)
                if (at >= 0 && at < width)
                  line = combined(kind, line, row[at]);
              expected = combined(kind, expected, line);
            }
            Cell actual = result[static_cast<size_t>(window)];
            ASSERT_TRUE(std::isnan(expected)
                            ? std::isnan(actual)
                            : expected == actual && std::signbit(expected) == std::signbit(actual))
                << width << " wide, " << along.windows << " windows of " << along.places << " from "
                << along.first << ", step " << along.step << ", spacing " << along.spacing << ", "
                << count << " rows, window " << window << ": " << actual << ", expected "
                << expected;
          }
        }
    }
}

TEST(RowPool, refusesWindowsFarApart) {
  auto suits = [](std::initializer_list<int64_t> given) {
    std::vector<Value> numbers;
    for (int64_t number : given)
      numbers.emplace_back(number);
    return RowPool<float>::suits(WindowPlaces(numbers, 10, 1, "pool"), 10);
  };
  EXPECT_TRUE(suits({4, 3, 0, 2, 1, 1}));
  EXPECT_FALSE(suits({4, 3, 0, 2, 1, 2}));
  EXPECT_FALSE(suits({4, 3, -(int64_t{1} << 29), 2, 1, 1}));
  EXPECT_FALSE(suits({4, 3, 0, 2, int64_t{1} << 29, 1}));
  EXPECT_FALSE(suits({int64_t{1} << 25, 3, 0, 1 << 10, 1, 1}));
}

} // namespace
