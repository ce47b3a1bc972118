#include "runtime/natives/NativeTesting.h"

#include <algorithm>
#include <cmath>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static Cells order(Cells cells, bool decreasing) {
  auto rows = static_cast<int64_t>(cells.size());
  return cellsOf(call("order", {matrix(rows, 1, cells), integer(1), decreasing, true}));
}

TEST(SelectionNatives, ordersStablyWithNanAsTheLargest) {
  EXPECT_EQ(order({3, notANumber, 1, 3, -infinity}, false), (Cells{5, 3, 1, 4, 2}));
  EXPECT_EQ(order({3, notANumber, 1, 3, -infinity}, true), (Cells{2, 1, 4, 3, 5}));
  EXPECT_EQ(order({}, false), Cells{});
}

TEST(SelectionNatives, ordersByServeralColumns) {
  Value x = matrix(3, 2, {2, 5, 1, 9, 2, 1});
  EXPECT_EQ(cellsOf(call("order", {x, matrix(1, 2, {1, 2}), false, false})),
            (Cells{1, 9, 2, 1, 2, 5}));
  EXPECT_EQ(errorOf("order", {x, integer(3), false, false}),
            "order: there is no column 3 in a 3x2 matrix");
}

TEST(SelectionNatives, replaces) {
  EXPECT_EQ(cellsOf(call("replace", {matrix(1, 3, {1, notANumber, 2}), notANumber, 0.0})),
            (Cells{1, 0, 2}));
  EXPECT_EQ(cellsOf(call("replace", {matrix(1, 3, {1, infinity, 2}), infinity, 5.0})),
            (Cells{1, 5, 2}));
}

TEST(SelectionNatives, removesEmptyRowsAndColumns) {
  Value x = matrix(3, 2, {1, 0, 0, 0, 2, 0});
  EXPECT_EQ(cellsOf(call("remove_empty", {x, "rows", Value(), true})), (Cells{1, 0, 2, 0}));
  EXPECT_EQ(cellsOf(call("remove_empty", {x, "cols", Value(), true})), (Cells{1, 0, 2}));
  EXPECT_EQ(cellsOf(call("remove_empty", {x, "rows", matrix(3, 1, {0, 1, 0}), true})),
            (Cells{0, 0}));
  Value zeros = matrix(2, 2, {0, 0, 0, 0});
  EXPECT_EQ(sizeOf(call("remove_empty", {zeros, "rows", Value(), true})), "1x2");
  EXPECT_EQ(sizeOf(call("remove_empty", {zeros, "cols", Value(), false})), "2x0");
  EXPECT_EQ(errorOf("remove_empty", {x, "row", Value(), true}),
            "removeEmpty: unknown margin \"row\": expected rows or cols");
}

TEST(SelectionNatives, tabulates) {
  Value a = matrix(3, 1, {1, 2, 1}), b = matrix(3, 1, {1, 3, 1});
  EXPECT_EQ(cellsOf(call("table", {a, b, Value(), Value(), Value()})), (Cells{2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(cellsOf(call("table", {a, b, 0.5, integer(1), integer(2)})), (Cells{1, 0}));
  EXPECT_EQ(cellsOf(call("table",
                         {matrix(2, 1, {1.9, notANumber}), integer(1), Value(), Value(), Value()})),
            Cells{1});
  EXPECT_EQ(errorOf("table", {matrix(1, 1, {0}), integer(1), Value(), Value(), Value()}),
            "table: keys must be at least 1, got 0.0");
  EXPECT_EQ(errorOf("table", {a, matrix(1, 1, {1}), Value(), Value(), Value()}),
            "table: the vectors have different lengths, 3 and 1");
}

// One position is one entry: counting is quicker than adding up weights, and gives the same.
TEST(SelectionNatives, tablesAddUpWeightsInOrder) {
  constexpr int64_t rows = 60;
  Cells places, mixed, groups, ones(rows, 1), weights;
  for (int64_t i = 0; i < rows; ++i) {
    places.push_back(static_cast<double>(i + 1));
    mixed.push_back(static_cast<double>(i * 37 % rows + 1) - static_cast<double>(i % 3 == 1));
    groups.push_back(static_cast<double>(i * 7 % 5 + 1));
    weights.push_back(i % 11 == 3 ? -0.0
                                  : std::pow(10, i % 7 * 5 % 19)); // sums depend on their order
  }
  for (Cells *keys : {&mixed, &groups}) // several times in one cell
    (*keys)[0] = (*keys)[20] = (*keys)[10];
  std::ranges::replace(mixed, 0.0, 2.0);
  for (const Cells &keys : {places, mixed, groups})
    for (const Cells &added : {Cells(), ones, weights})
      for (int64_t count :
           {2, 4, 5, 8, 40}) // columns 3 to 5 are left out, or some have no position
        for (int64_t size : {int64_t{30}, rows}) {
          Cells expected(size * count, 0);
          for (int64_t i = 0; i < rows; ++i)
            if (keys[i] <= static_cast<double>(size) && groups[i] <= static_cast<double>(count))
              expected[(static_cast<int64_t>(keys[i]) - 1) * count +
                       static_cast<int64_t>(groups[i]) - 1] += added.empty() ? 1 : added[i];
          Value table = call("table", {matrix(rows, 1, keys), matrix(rows, 1, groups),
                                       added.empty() ? Value() : matrix(rows, 1, added),
                                       integer(size), integer(count)});
          EXPECT_EQ(cellsOf(table), expected) << count << " columns, " << size;
        }
}

TEST(SelectionNatives, multipliesOut) {
  Value u = matrix(2, 1, {1, 2}), v = matrix(1, 2, {3, 4});
  EXPECT_EQ(cellsOf(call("outer", {u, v, "*"})), (Cells{3, 4, 6, 8}));
  EXPECT_EQ(cellsOf(call("outer", {u, v, "^"})), (Cells{1, 1, 8, 16}));
  EXPECT_EQ(cellsOf(call("outer", {u, v, "=="})), (Cells{0, 0, 0, 0}));
  EXPECT_EQ(errorOf("outer", {u, v, "plus"}), "outer: unknown operator \"plus\"");
  EXPECT_EQ(cellsOf(call("outer", {v, u, "-"})), (Cells{2, 3, 1, 2}));
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(cellsOf(call("outer", {u, x, "=="})), (Cells{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(cellsOf(call("outer", {x, matrix(1, 3, {1, 0, 1}), "-"})), (Cells{0, 2, 2, 3, 5, 5}));
  EXPECT_EQ(cellsOf(call("outer", {x, x, "-"})), Cells(6, 0));
  EXPECT_EQ(errorOf("outer", {x, v, "+"}),
            "sizes do not agree: 2x3 + 1x2; expected equal sizes, or 1 where they differ");
}

TEST(SelectionNatives, findsDistinctValues) {
  Value x = matrix(2, 3, {3, 1, 3, 2, 2, 2});
  EXPECT_EQ(cellsOf(call("unique", {x, "rc"})), (Cells{1, 2, 3}));
  EXPECT_EQ(cellsOf(call("unique", {x, "r"})), (Cells{1, 3, 2, 0}));
  for (double zero : {0.0, -0.0}) {
    Cells many, expected;
    for (int64_t i = 0; i < 1000; ++i)
      many.push_back(static_cast<double>(i * 37 % 101 - 50));
    for (int64_t i = -50; i <= 50; ++i)
      expected.push_back(static_cast<double>(i));
    std::ranges::replace(many, 0.0, zero);
    EXPECT_EQ(cellsOf(call("unique", {matrix(1000, 1, many), "rc"})), expected) << zero;
    many[100] = many[7] = notANumber;
    EXPECT_EQ(call("count_distinct", {matrix(1000, 1, many), "rc"}).asInteger(), 102) << zero;
  }
  EXPECT_EQ(call("count_distinct", {x, "rc"}).asInteger(), 3);
  EXPECT_EQ(cellsOf(call("count_distinct", {x, "c"})), (Cells{2, 2, 2}));
  EXPECT_TRUE(call("contains", {matrix(1, 2, {notANumber, 1}), notANumber}).asBoolean());
  EXPECT_FALSE(call("contains", {x, 7.0}).asBoolean());
  EXPECT_TRUE(call("contains", {x, matrix(1, 3, {2, 2, 2})}).asBoolean());
  Value rows = matrix(4, 2, {3, notANumber, 1, 2, 1, 1, -0.0, 5});
  EXPECT_TRUE(
      call("contains", {rows, matrix(4, 2, {1, 1, 3, notANumber, 1, 1, 0, 5})}).asBoolean());
  EXPECT_FALSE(call("contains", {rows, matrix(3, 2, {1, 1, 1, 3, 1, 2})}).asBoolean());
}

TEST(ScanNatives, runDownTheColumns) {
  Value x = matrix(3, 2, {1, 4, 2, 3, 3, notANumber});
  EXPECT_EQ(cellsOf(call("cumprod", {matrix(3, 1, {1, 2, 3})})), (Cells{1, 2, 6}));
  Cells sums = cellsOf(call("cumsum", {x}));
  EXPECT_EQ(Cells(sums.begin(), sums.begin() + 5), (Cells{1, 4, 3, 7, 6}));
  EXPECT_TRUE(std::isnan(sums[5]));
  EXPECT_EQ(cellsOf(call("cummin", {matrix(3, 1, {2, 3, 1})})), (Cells{2, 2, 1}));
  EXPECT_EQ(cellsOf(call("cummax", {matrix(3, 1, {2, 3, 1})})), (Cells{2, 3, 3}));
  EXPECT_EQ(cellsOf(call("rowcumsum", {matrix(2, 2, {1, 2, 3, 4})})), (Cells{1, 3, 3, 7}));
  EXPECT_EQ(cellsOf(call("cumsumprod", {matrix(3, 2, {1, 9, 2, 2, 3, 1})})), (Cells{1, 4, 7}));
  EXPECT_EQ(sizeOf(call("cumsum", {matrix(0, 2, {})})), "0x2");
}
