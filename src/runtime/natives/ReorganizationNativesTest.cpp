#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static Value sixCells() { return matrix(2, 3, {1, 2, 3, 4, 5, 6}); }

static std::vector<Value> range(Value x, int64_t r1, int64_t r2, int64_t c1, int64_t c2) {
  return {x, r1, r2, c1, c2};
}

static std::vector<Value> insertion(Value x, Value value, int64_t r1, int64_t r2, int64_t c1,
                                    int64_t c2) {
  return {std::move(x), std::move(value), r1, r2, c1, c2};
}

TEST(ReorganizationNatives, transposes) {
  EXPECT_EQ(cellsOf(call("transpose", {sixCells()})), (Cells{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(sizeOf(call("transpose", {matrix(0, 3, {})})), "3x0");
  ArrayPointer large = Array::create({301, 517});
  for (int64_t i = 0; i < large->cells(); ++i)
    large->mutableData()[i] = static_cast<double>(i);
  Value transposed = call("transpose", {large});
  for (int64_t i = 0; i < 301; ++i)
    for (int64_t j = 0; j < 517; ++j)
      ASSERT_EQ(transposed.array()->at(j, i), large->at(i, j));
}

TEST(ReorganizationNatives, slicesRowsWithoutACopy) {
  Value x = sixCells();
  Value row = call("slice", range(x, 2, 2, 1, 3));
  EXPECT_EQ(cellsOf(row), (Cells{4, 5, 6}));
  EXPECT_EQ(row.array()->data(), x.array()->data() + 3);
  EXPECT_EQ(cellsOf(call("slice", range(x, 1, 2, 2, 3))), (Cells{2, 3, 5, 6}));
  EXPECT_EQ(sizeOf(call("slice", range(matrix(0, 2, {}), 1, 0, 2, 2))), "0x1");
}

TEST(ReorganizationNatives, checksRanges) {
  EXPECT_EQ(errorOf("slice", range(sixCells(), 3, 3, 1, 1)),
            "index out of range: row 3 of a 2x3 matrix");
  EXPECT_EQ(errorOf("slice", range(sixCells(), 1, 1, 2, 4)),
            "index out of range: columns 2:4 of a 2x3 matrix");
  EXPECT_EQ(errorOf("slice", range(sixCells(), 2, 1, 1, 1)),
            "invalid range: rows 2:1 end before they begin");
  EXPECT_EQ(errorOf("slice", range(sixCells(), 0, 1, 1, 1)),
            "index out of range: rows 0:1 of a 2x3 matrix; indices begin at 1");
}

TEST(ReorganizationNatives, insertsIntoACopyOfSharedArrays) {
  Value x = sixCells();
  Value changed = call("insert", insertion(x, matrix(1, 2, {8, 9}), 2, 2, 2, 3));
  EXPECT_EQ(cellsOf(changed), (Cells{1, 2, 3, 4, 8, 9}));
  EXPECT_EQ(cellsOf(x), (Cells{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(cellsOf(call("insert", insertion(x, integer(7), 1, 1, 1, 1)))[0], 7);
}

TEST(ReorganizationNatives, insertsInPlaceWhereItIsTheSoleOwner) {
  Value x = sixCells();
  const double *before = x.array()->data();
  EXPECT_EQ(call("insert", insertion(std::move(x), 1.0, 1, 1, 1, 1)).array()->data(), before);
  // An array with a view must not be changed in place.
  Value y = sixCells();
  ArrayPointer view = y.array()->rowView(0, 1);
  call("insert", insertion(std::move(y), 100.0, 1, 1, 1, 1));
  EXPECT_EQ(view->at(0, 0), 1);
}

// Rows of a few bytes are copied by other instructions than long ones; ranges of rows on several threads.
TEST(ReorganizationNatives, copiesRowsOfAnyLength) {
  constexpr int64_t rows = 3000, columns = 37;
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::I8}) {
    ArrayPointer numbers = Array::create({rows, columns});
    for (int64_t i = 0; i < numbers->cells(); ++i)
      numbers->mutableData()[i] = static_cast<double>(i % 119);
    Value x = Array::withElementType(numbers, type);
    for (int64_t width = 1; width <= 25; ++width) {
      Value part = call("slice", range(x, 2, rows, 5, 4 + width));
      Value reversed = call("rev", {part}), bound = call("cbind", {reversed, part});
      Value changed = call("insert", insertion(x, reversed, 1, rows - 1, 3, 2 + width));
      for (int64_t i : {int64_t{0}, int64_t{1}, rows / 2, rows - 2})
        for (int64_t j = 0; j < columns; ++j) {
          bool isChanged = j >= 2 && j < 2 + width;
          ASSERT_EQ(changed.array()->at(i, j),
                    isChanged ? numbers->at(rows - 1 - i, j + 2) : numbers->at(i, j))
              << width << " columns, cell " << i << ", " << j;
          if (j < width) {
            ASSERT_EQ(bound.array()->at(i, j), numbers->at(rows - 1 - i, 4 + j));
            ASSERT_EQ(bound.array()->at(i, width + j), numbers->at(i + 1, 4 + j));
          }
        }
    }
  }
}

TEST(ReorganizationNatives, checksWhatIsInserted) {
  EXPECT_EQ(errorOf("insert", insertion(sixCells(), 1.0, 1, 2, 1, 1)),
            "left indexing: a scalar can replace one cell, not 2x1; use matrix(value, rows, cols)");
  EXPECT_EQ(errorOf("insert", insertion(sixCells(), matrix(1, 1, {1}), 1, 2, 1, 1)),
            "left indexing: a 1x1 matrix cannot replace 2x1 cells");
}

TEST(ReorganizationNatives, bindsMatrices) {
  Value column = matrix(2, 1, {7, 8});
  EXPECT_EQ(cellsOf(call("cbind", {sixCells(), column})), (Cells{1, 2, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(cellsOf(call("rbind", {matrix(1, 2, {1, 2}), matrix(0, 2, {}), matrix(1, 2, {3, 4})})),
            (Cells{1, 2, 3, 4}));
  EXPECT_EQ(sizeOf(call("cbind", {matrix(2, 0, {}), column})), "2x1");
  EXPECT_EQ(errorOf("cbind", {sixCells(), matrix(1, 1, {1})}),
            "cbind: the matrices have different numbers of rows, 2x3 and 1x1");
  EXPECT_EQ(errorOf("rbind", {sixCells(), column}),
            "rbind: the matrices have different numbers of columns, 2x3 and 2x1");
}

TEST(ReorganizationNatives, bindsListsAndTexts) {
  Value list = call("list", {"a", integer(1)});
  Value longer = call("rbind", {list, call("list", {"b", 2.5}), "x"});
  EXPECT_EQ(longer.list()->elements.size(), 3u);
  EXPECT_EQ(longer.list()->names, (std::vector<std::string>{"a", "b", ""}));
  EXPECT_EQ(call("rbind", {"a", "b"}).text(), "a\nb");
  EXPECT_EQ(cellsOf(call("cbind", {call("list", {Value(), integer(1), integer(2)})})),
            (Cells{1, 2}));
}

TEST(ReorganizationNatives, makesAndTakesDiagonals) {
  EXPECT_EQ(cellsOf(call("diag", {matrix(2, 1, {3, 4})})), (Cells{3, 0, 0, 4}));
  EXPECT_EQ(cellsOf(call("diag", {matrix(2, 2, {1, 2, 3, 4})})), (Cells{1, 4}));
  EXPECT_EQ(cellsOf(call("diag", {matrix(1, 1, {9})})), Cells{9});
  EXPECT_EQ(errorOf("diag", {sixCells()}),
            "diag: expected a column vector or a square matrix, got 2x3");
}

TEST(ReorganizationNatives, reversesAndRolls) {
  EXPECT_EQ(cellsOf(call("rev", {sixCells()})), (Cells{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(sizeOf(call("rev", {matrix(0, 1, {})})), "0x1");
  Value x = matrix(4, 1, {1, 2, 3, 4});
  EXPECT_EQ(cellsOf(call("roll", {x, integer(1)})), (Cells{4, 1, 2, 3}));
  EXPECT_EQ(cellsOf(call("roll", {x, integer(-5)})), (Cells{2, 3, 4, 1}));
}

TEST(ReorganizationNatives, takesTriangles) {
  Value x = matrix(2, 2, {1, 2, 3, 4});
  EXPECT_EQ(cellsOf(call("lower_tri", {x, false, false})), (Cells{0, 0, 1, 0}));
  EXPECT_EQ(cellsOf(call("upper_tri", {x, true, true})), (Cells{1, 2, 0, 4}));
}
