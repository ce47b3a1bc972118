// Products, reorganisation, construction, indexing and selection.
#include "reference/ConstructionMeaning.h"
#include "reference/IndexMeaning.h"
#include "reference/ListMeaning.h"
#include "reference/MatrixMeaning.h"
#include "reference/SelectionMeaning.h"
#include "reference/TextProgram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::List;
using runtime::Value;

static const double notANumber = std::numeric_limits<double>::quiet_NaN();
static const Value nothing{};

static Value integer(int64_t value) { return value; }

TEST(MatrixMeaning, Products) {
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(shown(matmul(x, matrix(3, 1, {1, 0, -1}))), "-2; -2");
  EXPECT_EQ(shown(matmul(matrix(2, 0, {}), matrix(0, 2, {}))), "0 0; 0 0");
  EXPECT_EQ(shown(transpose(x)), "1 4; 2 5; 3 6");
  EXPECT_EQ(messageOf([&] { matmul(x, x); }), "%*%: the inner dimensions differ: 2x3 %*% 2x3");
}

TEST(MatrixMeaning, Reorganisation) {
  Value x = matrix(2, 2, {1, 2, 3, 4});
  EXPECT_EQ(shown(diag(matrix(2, 1, {5, 6}))), "5 0; 0 6");
  EXPECT_EQ(shown(diag(x)), "1; 4");
  EXPECT_EQ(messageOf([] { diag(matrix(1, 2, {1, 2})); }),
            "diag: expected a column vector or a square matrix, got 1x2");
  EXPECT_EQ(shown(trace(x)), "5.0");
  EXPECT_EQ(shown(reverse(x)), "3 4; 1 2");
  EXPECT_EQ(shown(roll(matrix(3, 1, {1, 2, 3}), integer(1))), "3; 1; 2");
  EXPECT_EQ(shown(lowerTriangle(x, true, true)), "1 0; 3 4");
  EXPECT_EQ(shown(upperTriangle(x, false, false)), "0 1; 0 0");
}

TEST(MatrixMeaning, ReshapeReadsByRowsOrColumns) {
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(shown(reshape(x, integer(3), integer(2), true)), "1 2; 3 4; 5 6");
  EXPECT_EQ(shown(reshape(x, integer(3), integer(2), false)), "1 5; 4 3; 2 6");
  EXPECT_EQ(messageOf([&] { reshape(x, integer(2), integer(2), true); }),
            "matrix: cannot reshape 2x3 to 2x2: 6 cells are not 4");
}

TEST(MatrixMeaning, Binding) {
  Value a = matrix(2, 1, {1, 2}), b = matrix(2, 2, {3, 4, 5, 6});
  Value both[] = {a, b};
  EXPECT_EQ(shown(cbind(both)), "1 3 4; 2 5 6");
  EXPECT_EQ(messageOf([&] { rbind(both); }),
            "rbind: the matrices have different numbers of columns, 2x1 and 2x2");
  Value withEmpty[] = {matrix(0, 2, {}), b};
  EXPECT_EQ(shown(rbind(withEmpty)), "3 4; 5 6");
  Value elements[] = {nothing, a, b};
  Value pair = list(elements);
  EXPECT_EQ(shown(cbind({&pair, 1})), "1 3 4; 2 5 6");
  Value appended[] = {pair, integer(7)};
  Value three = cbind(appended);
  ASSERT_EQ(rows(three).asInteger(), 3);
  EXPECT_EQ(three.list()->elements[2].asInteger(), 7);
  Value texts[] = {"a", "b"};
  EXPECT_EQ(cbind(texts).text(), "a\nb");
}

TEST(ConstructionMeaning, Fill) {
  EXPECT_EQ(shown(fill(integer(7), integer(1), integer(2))), "7 7");
  EXPECT_EQ(shown(fill(true, integer(1), integer(1))), "1");
  EXPECT_EQ(shown(fill(0.0, integer(0), integer(0))), "0x0");
  EXPECT_EQ(messageOf([] { fill(0.0, integer(-1), integer(1)); }),
            "matrix: the number of rows is negative: -1");
}

TEST(ConstructionMeaning, ParseMatrixSplitsAtBlanks) {
  EXPECT_EQ(shown(parseMatrix(" 1 2.5  -3e1 4 ", integer(2), integer(2))), "1 2.5; -30 4");
  EXPECT_EQ(messageOf([] { parseMatrix("1 2 3", integer(2), integer(2)); }),
            "matrix: the text has 3 numbers, 2x2 needs 4");
  EXPECT_EQ(messageOf([] { parseMatrix("1,2", integer(1), integer(2)); }),
            "matrix: '1,2' in the text is not a number");
}

TEST(ConstructionMeaning, SeqEndsWithinBounds) {
  EXPECT_EQ(shown(seq(integer(1), integer(4), nothing)), "1; 2; 3; 4");
  EXPECT_EQ(shown(seq(integer(3), integer(1), nothing)), "3; 2; 1");
  EXPECT_EQ(shown(seq(1.0, 2.0, 0.4)), "1; 1.4; 1.7999999999999998");
  EXPECT_EQ(shown(seq(integer(5), integer(5), integer(-2))), "5");
  Value tenths = seq(0.0, 1.0, 0.1);
  ASSERT_EQ(tenths.array()->rows(), 11);
  EXPECT_EQ(tenths.array()->at(3, 0), 0.30000000000000004);
  EXPECT_EQ(messageOf([] { seq(1.0, 3.0, -1.0); }),
            "seq: the increment -1.0 does not lead from 1.0 to 3.0");
  EXPECT_EQ(messageOf([] { seq(1.0, 3.0, 0.0); }), "seq: the increment is zero");
  EXPECT_NE(messageOf([] { seq(notANumber, 3.0, 1.0); }), "no error");
}

TEST(ConstructionMeaning, TableCounts) {
  Value a = matrix(4, 1, {1, 2, 2, 3}), b = matrix(4, 1, {1, 1.9, 2, 1});
  EXPECT_EQ(shown(table(a, b, nothing, nothing, nothing)), "1 0; 1 1; 1 0");
  EXPECT_EQ(shown(table(a, b, matrix(4, 1, {1, 10, 100, 0.5}), nothing, nothing)),
            "1 0; 10 100; 0.5 0");
  EXPECT_EQ(shown(table(a, 1.0, 2.0, nothing, nothing)), "2; 4; 2");
  EXPECT_EQ(shown(table(a, b, nothing, integer(2), integer(3))), "1 0 0; 1 1 0");
  EXPECT_EQ(
      shown(table(matrix(2, 1, {notANumber, 2}), matrix(2, 1, {1, 1}), nothing, nothing, nothing)),
      "0; 1");
  EXPECT_EQ(messageOf([&] { table(matrix(4, 1, {1, 0.5, 1, 1}), b, nothing, nothing, nothing); }),
            "table: keys must be at least 1, got 0.5");
  EXPECT_EQ(messageOf([&] { table(a, matrix(2, 1, {1, 1}), nothing, nothing, nothing); }),
            "table: the vectors have different lengths, 4 and 2");
}

TEST(IndexMeaning, Slices) {
  Value x = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(shown(slice(x, {1, 2, 2, 3})), "2 3; 5 6");
  EXPECT_TRUE(slice(x, {1, 1, 1, 1}).isArray());
  EXPECT_EQ(messageOf([&] { slice(x, {0, 1, 1, 1}); }),
            "index out of range: rows 0:1 of a 2x3 matrix; indices begin at 1");
  EXPECT_EQ(messageOf([&] { slice(x, {1, 1, 2, 4}); }),
            "index out of range: columns 2:4 of a 2x3 matrix");
  EXPECT_EQ(messageOf([&] { slice(x, {2, 1, 1, 1}); }),
            "invalid range: rows 2:1 end before they begin");
  EXPECT_EQ(shown(slice(matrix(2, 0, {}), {1, 2, 1, 0})), "2x0");
}

TEST(IndexMeaning, InsertsIntoACopy) {
  Value x = matrix(2, 2, {1, 2, 3, 4});
  EXPECT_EQ(shown(insert(x, matrix(1, 2, {8, 9}), {2, 2, 1, 2})), "1 2; 8 9");
  EXPECT_EQ(shown(insert(x, integer(7), {1, 1, 2, 2})), "1 7; 3 4");
  EXPECT_EQ(shown(x), "1 2; 3 4");
  EXPECT_EQ(messageOf([&] { insert(x, 7.0, {1, 2, 1, 1}); }),
            "left indexing: a scalar can replace one cell, not 2x1; use matrix(value, rows, cols)");
  EXPECT_EQ(messageOf([&] { insert(x, matrix(1, 2, {8, 9}), {1, 2, 1, 1}); }),
            "left indexing: a 1x2 matrix cannot replace 2x1 cells");
}

TEST(ListMeaning, PositionsAndNames) {
  Value operands[] = {"a,b,c", integer(1), "two", matrix(1, 1, {3})};
  Value all = list(operands);
  EXPECT_EQ(rows(all).asInteger(), 3);
  EXPECT_EQ(length(all).asInteger(), 3);
  Value part = sliceList(all, integer(2), "c");
  ASSERT_EQ(part.list()->elements.size(), 2u);
  EXPECT_EQ(part.list()->names[0], "b");
  EXPECT_EQ(sliceList(all, "b", nothing).list()->elements[0].text(), "two");
  EXPECT_EQ(insertIntoList(all, true, integer(2), nothing).list()->elements[1].asText(), "TRUE");
  EXPECT_EQ(insertIntoList(all, part, integer(1), integer(2)).list()->elements[0].text(), "two");
  EXPECT_EQ(all.list()->elements[1].text(), "two");
  EXPECT_EQ(messageOf([&] { insertIntoList(all, true, integer(4), nothing); }),
            "index out of range: element 4 of a list of 3");
  EXPECT_EQ(messageOf([&] { sliceList(all, "d", nothing); }), "the list has no element \"d\"");
  EXPECT_EQ(messageOf([&] { sliceList(all, integer(3), integer(1)); }),
            "invalid range: list elements 3:1 end before they begin");
  EXPECT_EQ(messageOf([&] { insertIntoList(all, part, integer(1), integer(3)); }),
            "left indexing: 2 values cannot replace 3 elements of a list");
}

TEST(SelectionMeaning, RemoveEmpty) {
  Value x = matrix(3, 2, {1, 0, 0, 0, notANumber, 0});
  EXPECT_EQ(shown(removeEmpty(x, "rows", nothing, true)), "1 0; nan 0");
  EXPECT_EQ(shown(removeEmpty(x, "cols", nothing, true)), "1; 0; nan");
  EXPECT_EQ(shown(removeEmpty(x, "rows", matrix(3, 1, {0, 1, 0}), true)), "0 0");
  Value zeros = matrix(2, 3, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(shown(removeEmpty(zeros, "rows", nothing, true)), "0 0 0");
  EXPECT_EQ(shown(removeEmpty(zeros, "rows", nothing, false)), "0x3");
  EXPECT_EQ(shown(removeEmpty(zeros, "cols", nothing, true)), "0; 0");
  EXPECT_EQ(shown(removeEmpty(zeros, "cols", nothing, false)), "2x0");
  EXPECT_EQ(messageOf([&] { removeEmpty(x, "rows", matrix(2, 1, {1, 1}), true); }),
            "removeEmpty: select has 2 cells, the matrix 3 rows");
}

TEST(SelectionMeaning, OrderIsStableAndPutsNaNLast) {
  Value x = matrix(5, 2, {2, 1, notANumber, 2, 1, 3, 2, 4, 1, 5});
  EXPECT_EQ(shown(order(x, integer(1), false, true)), "3; 5; 1; 4; 2");
  EXPECT_EQ(shown(order(x, integer(1), true, true)), "2; 1; 4; 3; 5");
  EXPECT_EQ(shown(order(x, integer(2), true, false)), "1 5; 2 4; 1 3; nan 2; 2 1");
  EXPECT_EQ(shown(order(matrix(3, 2, {1, 9, 0, 5, 1, 2}), matrix(1, 2, {1, 2}), false, true)),
            "2; 3; 1");
  EXPECT_EQ(messageOf([&] { order(x, integer(3), false, false); }),
            "order: there is no column 3 in a 5x2 matrix");
}
