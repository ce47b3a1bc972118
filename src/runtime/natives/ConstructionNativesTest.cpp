#include "runtime/natives/NativeTesting.h"

#include <cmath>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

TEST(ConstructionNatives, fills) {
  EXPECT_EQ(cellsOf(call("fill", {integer(3), integer(2), integer(2)})), (Cells{3, 3, 3, 3}));
  EXPECT_EQ(sizeOf(call("fill", {0.0, integer(0), integer(4)})), "0x4");
  EXPECT_EQ(cellsOf(call("fill", {true, integer(1), integer(1)})), Cells{1});
  EXPECT_EQ(errorOf("fill", {0.0, integer(-1), integer(4)}),
            "matrix: the number of rows is negative: -1");
}

TEST(ConstructionNatives, parsesText) {
  EXPECT_EQ(cellsOf(call("parse_matrix", {" 1 2.5  -3 1e2", integer(2), integer(2)})),
            (Cells{1, 2.5, -3, 100}));
  EXPECT_EQ(errorOf("parse_matrix", {"1 2 3", integer(2), integer(2)}),
            "matrix: the text has 3 numbers, 2x2 needs 4");
  EXPECT_EQ(errorOf("parse_matrix", {"1 a", integer(1), integer(2)}),
            "matrix: 'a' in the text is not a number");
}

TEST(ConstructionNatives, reshapes) {
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(cellsOf(call("reshape", {x, integer(3), integer(2), true})), (Cells{1, 2, 3, 4, 5, 6}));
  // By columns, x reads 1 4 2 5 3 6; the result has them by columns, too.
  EXPECT_EQ(cellsOf(call("reshape", {x, integer(3), integer(2), false})),
            (Cells{1, 5, 4, 3, 2, 6}));
  EXPECT_EQ(errorOf("reshape", {x, integer(4), integer(2), true}),
            "matrix: cannot reshape 2x3 to 4x2: 6 cells are not 8");
}

TEST(ConstructionNatives, countsInSequences) {
  EXPECT_EQ(cellsOf(call("seq", {1.0, 4.0, Value()})), (Cells{1, 2, 3, 4}));
  EXPECT_EQ(cellsOf(call("seq", {3.0, 1.0, Value()})), (Cells{3, 2, 1}));
  EXPECT_EQ(cellsOf(call("seq", {2.0, 2.0, Value()})), Cells{2});
  EXPECT_EQ(cellsOf(call("seq", {1.0, 6.0, 2.0})), (Cells{1, 3, 5}));
  Cells tenths = cellsOf(call("seq", {0.0, 1.0, 0.1}));
  EXPECT_EQ(tenths.size(), 11u);
  EXPECT_EQ(tenths[3], 0.30000000000000004);
  EXPECT_TRUE(std::signbit(cellsOf(call("seq", {-0.0, 3.0, Value()}))[0]));
  constexpr double last = 300'001; // on several threads
  for (double by : {1.0, -3.0, 0.1}) {
    Cells cells = cellsOf(call("seq", {by < 0 ? last : 1.0, by < 0 ? 1.0 : last, by}));
    double expected = by < 0 ? last : 1;
    for (double cell : cells) {
      ASSERT_EQ(cell, expected) << "what was added up so far";
      expected += by;
    }
  }
  EXPECT_EQ(errorOf("seq", {1.0, 5.0, -1.0}),
            "seq: the increment -1.0 does not lead from 1.0 to 5.0");
  EXPECT_EQ(errorOf("seq", {1.0, 5.0, 0.0}), "seq: the increment is zero");
}
