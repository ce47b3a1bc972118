// Natives that take CSR operands give the same matrix as for dense operands, in the best layout,
// and the same bits for any number of threads.
#include "runtime/natives/NativeTesting.h"
#include "runtime/natives/RandomNumbers.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

struct Extent {
  int64_t rows, columns;
  double density;
};
// Empty matrices, single cells, vectors, empty rows, more rows than in a
// range, and too dense for CSR.
const Extent sizes[] = {{0, 5, 1},      {5, 0, 1},        {1, 1, 1},        {1, 300, 0.1},
                        {40, 30, 0.1},  {40, 30, 0},      {40, 30, 0.9},    {300, 7, 0.02},
                        {7, 300, 0.02}, {3000, 60, 0.01}, {60, 3000, 0.01}, {900, 800, 0.001},
                        {30000, 3, 0.1}};

Value sparse(const Extent &size, uint64_t seed = 1) {
  ArrayPointer dense = Array::filled({size.rows, size.columns}, 0);
  for (int64_t i = 0; i < dense->cells(); ++i) {
    RandomBlock block = randomBlock(seed, 0, i);
    if (uniform(block, 0) < size.density)
      dense->mutableData()[i] = std::floor(uniform(block, 1) * 200 - 100) / 8;
  }
  return Array::asSparse(dense);
}

std::vector<Value> denseOperands(std::vector<Value> operands) {
  for (Value &operand : operands)
    if (operand.isArray())
      operand = Array::asDense(operand.array());
  return operands;
}

void expectSameCells(const Value &expected, const Value &actual, const std::string &what) {
  ASSERT_EQ(sizeOf(expected), sizeOf(actual)) << what;
  Cells a = cellsOf(expected), b = cellsOf(actual);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-9 * std::max(1.0, std::fabs(a[i]))) << what << ", cell " << i;
}

// Checks that the columns of a CSR result ascend within each row.
void expectWellFormed(const Value &value, const std::string &what) {
  const Array &array = *value.array();
  if (!array.isSparse())
    return;
  for (int64_t i = 0; i < array.rows(); ++i) {
    ASSERT_LE(array.rowOffsets()[i], array.rowOffsets()[i + 1]) << what;
    for (int64_t p = array.rowOffsets()[i]; p < array.rowOffsets()[i + 1]; ++p) {
      ASSERT_LT(array.columnIndices()[p], array.columns()) << what;
      if (p > array.rowOffsets()[i]) {
        ASSERT_LT(array.columnIndices()[p - 1], array.columnIndices()[p]) << what;
      }
    }
  }
}

void check(std::string_view native, const std::vector<Value> &operands) {
  std::string what(native);
  for (const Value &operand : operands)
    what += operand.isArray()     ? " " + sizeOf(operand)
            : operand.isNothing() ? " -"
                                  : " " + operand.asText();
  Value expected = call(native, denseOperands(operands)), actual = call(native, operands, 2);
  expectSameCells(expected, actual, what);
  expectWellFormed(actual, what);
  Value alone = call(native, operands, 1);
  Cells a = cellsOf(actual), b = cellsOf(alone);
  EXPECT_EQ(actual.array()->isSparse(), alone.array()->isSparse()) << what;
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(a[i], b[i]) << what << ", cell " << i << " depends on the threads";
}

bool isLarge(const Extent &size) { return size.rows * size.columns > 1000000; }

} // namespace

TEST(SparseNatives, moveCells) {
  for (const Extent &size : sizes) {
    Value x = sparse(size);
    check("transpose", {x});
    check("rev", {x});
    check("roll", {x, integer(3)});
    check("reshape", {x, size.columns, size.rows, true});
    check("reshape", {x, size.columns, size.rows, false});
    if (size.columns == 1 || size.rows == size.columns)
      check("diag", {x});
  }
}

TEST(SparseNatives, selectRowsAndColumns) {
  for (const Extent &size : sizes) {
    Value x = sparse(size);
    for (const char *margin : {"rows", "cols"}) {
      check("remove_empty", {x, margin, Value(), true});
      Extent other =
          std::string(margin) == "rows" ? Extent{size.rows, 1, 0.5} : Extent{1, size.columns, 0.5};
      check("remove_empty", {x, margin, sparse(other, 7), true});
    }
  }
}

TEST(SparseNatives, replaceCells) {
  for (const Extent &size : sizes) {
    Value x = sparse(size);
    check("replace", {x, 2.5, 7.0});
    check("replace", {x, 2.5, 0.0});
    check("replace", {x, 0.0, 1.0});
  }
}

TEST(SparseNatives, sliceAndInsert) {
  for (const Extent &size : sizes) {
    if (size.rows < 2 || size.columns < 2)
      continue;
    Value x = sparse(size);
    int64_t lastRow = size.rows - 1, lastColumn = size.columns - 1;
    for (auto [r0, r1, c0, c1] : {std::array{int64_t{2}, lastRow, int64_t{2}, lastColumn},
                                  std::array{int64_t{1}, lastRow, int64_t{1}, size.columns},
                                  std::array{int64_t{2}, int64_t{2}, int64_t{2}, int64_t{2}}}) {
      check("slice", {x, r0, r1, c0, c1});
      Value cells = sparse({r1 - r0 + 1, c1 - c0 + 1, 0.3}, 5);
      check("insert", {x, cells, r0, r1, c0, c1});
      check("insert", {x, Array::asDense(cells.array()), r0, r1, c0, c1});
      check("insert", {Array::asDense(x.array()), cells, r0, r1, c0, c1});
    }
    check("insert", {x, 4.5, int64_t{2}, int64_t{2}, int64_t{1}, int64_t{1}});
  }
}

// A loop that fills a matrix row by row would copy all of it for each row.
TEST(SparseNatives, insertingOftenMakesADenseMatrix) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(90000, 100), {400, 300}}) {
    Value matrix = Value(Array::asSparse(Array::filled({rows, columns}, 0)));
    ASSERT_TRUE(matrix.array()->isSparse());
    int64_t inserts = 0;
    for (; matrix.array()->isSparse() && inserts < 2 * columns; ++inserts)
      matrix = call("insert",
                    {std::move(matrix), Value(Array::filled({1, columns}, 1)), Value(inserts + 1),
                     Value(inserts + 1), Value(int64_t{1}), Value(columns)});
    EXPECT_GT(inserts, 5) << "a few cells don't make it dense";
    EXPECT_LT(inserts, 2 * columns);
    EXPECT_EQ(matrix.array()->at(inserts - 1, columns - 1), 1);
    EXPECT_EQ(matrix.array()->at(inserts, 0), 0);
  }
}

TEST(SparseNatives, bind) {
  for (const Extent &size : sizes) {
    Value x = sparse(size), y = sparse(size, 2);
    for (const char *native : {"cbind", "rbind"}) {
      check(native, {x, y, x});
      check(native, {x, Array::asDense(y.array())});
    }
  }
}

TEST(SparseNatives, multiply) {
  for (const Extent &size : sizes) {
    if (isLarge(size))
      continue;
    Value x = sparse(size);
    for (int64_t width : {1, 3, 40}) {
      for (double density : {0.05, 1.0}) {
        Value right = sparse({size.columns, width, density}, 3),
              left = sparse({width, size.rows, density}, 4);
        for (bool isDense : {false, true}) {
          Value r = isDense ? Value(Array::asDense(right.array())) : right;
          Value l = isDense ? Value(Array::asDense(left.array())) : left;
          check("matmul", {x, r});
          check("matmul", {l, x});
          Value rt = call("transpose", denseOperands({r})),
                lt = call("transpose", denseOperands({l}));
          check("matmul_transposed_right", {x, isDense ? rt : Value(Array::asSparse(rt.array()))});
          check("matmul_transposed_left", {x, isDense ? lt : Value(Array::asSparse(lt.array()))});
          check("matmul_transposed_left", {isDense ? lt : Value(Array::asSparse(lt.array())), x});
        }
      }
    }
  }
}

// Sums of few columns stay in registers; they are those of the same columns among many, to the bit.
TEST(SparseNatives, narrowProductsHaveTheBitsOfWideOnes) {
  Value x = sparse({300, 70, 0.1});
  Value wide = Array::asDense(sparse({70, 12, 1}, 3).array());
  Value expected = call("matmul", {x, wide});
  for (int64_t columns = 2; columns <= 9; ++columns) {
    Value narrow = call(
        "slice", {wide, Value(int64_t{1}), Value(int64_t{70}), Value(int64_t{1}), Value(columns)});
    Value product = call("matmul", {x, narrow});
    for (int64_t i = 0; i < 300; ++i)
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(product.array()->data()[i * columns + j], expected.array()->data()[i * 12 + j])
            << columns << " columns, cell " << i << ", " << j;
  }
}

// Dense matrices of more rows than are multiplied at once, by sparse ones from the right.
TEST(SparseNatives, denseRowsAreMultipliedInParts) {
  Value x = sparse({70, 90, 0.1}), turned = call("transpose", {x});
  for (int64_t rows : {1, 2, 256, 257, 600}) {
    Value left = Array::asDense(sparse({rows, 70, 0.9}, 5).array());
    check("matmul", {left, x});
    check("matmul_transposed_right", {left, turned});
    check("matmul_transposed_left", {call("transpose", {left}), x});
  }
}

// The columns of a row are found by bits where it has many products, and by the words that have some where it has few.
TEST(SparseNatives, sparseProductsHaveManyColumns) {
  Value few = sparse({50, 30, 0.02});
  check("matmul", {few, sparse({30, 40'000, 0.0005}, 2)});
  Value left = sparse({50, 300, 0.02}), right = sparse({300, 20'000, 0.001}, 2);
  check("matmul", {left, right});
  EXPECT_TRUE(call("matmul", {left, right}).array()->isSparse());
  check("matmul", {few, sparse({30, 1'200'000, 0.00001}, 2)});
  // Sums that cancel are no entries.
  ArrayPointer negative = right.array()->copy();
  std::transform(negative->data(), negative->data() + negative->entries(), negative->mutableData(),
                 std::negate<>());
  Value both = call("cbind", {left, left}), opposite = call("rbind", {right, negative});
  EXPECT_EQ(call("matmul", {both, opposite}).array()->entries(), 0);
  int64_t entries = call("matmul", {left, right}).array()->entries();
  negative->mutableData()[5] = 0.5;
  opposite = call("rbind", {right, negative});
  check("matmul", {both, opposite});
  EXPECT_LT(call("matmul", {both, opposite}).array()->entries(), entries / 2);
}

TEST(SparseNatives, multiplyByItself) {
  for (const Extent &size : sizes) {
    if (isLarge(size) || size.rows > 5000)
      continue;
    Value x = sparse(size);
    check("matmul_transposed_left", {x, x});
    if (size.rows <= 1000)
      check("matmul_transposed_right", {x, x});
  }
}

TEST(SparseNatives, productsOfManyPartials) {
  // The first has enough entries for several partial results; the result of the
  // second is too large for any.
  Value narrow = sparse({60000, 20, 0.2}), wide = sparse({1000, 30000, 0.03});
  check("matmul_transposed_left", {narrow, Array::asDense(sparse({60000, 4, 1}).array())});
  check("matmul_transposed_left", {wide, Array::asDense(sparse({1000, 2, 1}).array())});
  // A result that is larger than a core's caches has no partial ones.
  Value many = sparse({2000, 700, 0.01});
  check("matmul_transposed_left", {many, Array::asDense(sparse({2000, 130, 1}).array())});
  check("matmul_transposed_left", {Array::asDense(sparse({2000, 130, 1}).array()), many});
}

TEST(SparseNatives, resultsHaveTheBestLayout) {
  Value x = sparse({400, 300, 0.01});
  EXPECT_TRUE(call("transpose", {x}).array()->isSparse());
  EXPECT_TRUE(call("cbind", {x, x}).array()->isSparse());
  EXPECT_FALSE(call("cbind", {x, Array::filled({400, 300}, 1)}).array()->isSparse());
  EXPECT_TRUE(call("matmul", {call("transpose", {x}), x}).array()->isSparse());
  EXPECT_FALSE(call("matmul", {x, Array::filled({300, 4}, 1)}).array()->isSparse());
  EXPECT_TRUE(call("diag", {Array::filled({50, 1}, 1)}).array()->isSparse());
  EXPECT_TRUE(call("fill", {0.0, integer(2000), integer(2000)}).array()->isSparse());
  EXPECT_FALSE(call("fill", {0.0, integer(20), integer(20)}).array()->isSparse());
  // Writing a single cell doesn't make the matrix dense.
  EXPECT_TRUE(
      call("insert", {x, 1.0, integer(1), integer(1), integer(1), integer(1)}).array()->isSparse());
}

TEST(SparseNatives, tableIsSparse) {
  int64_t count = 5000;
  ArrayPointer rows = Array::create({count, 1}), columns = Array::create({count, 1}),
               weights = Array::create({count, 1});
  for (int64_t i = 0; i < count; ++i) {
    RandomBlock block = randomBlock(3, 0, i);
    rows->mutableData()[i] = 1 + std::floor(uniform(block, 0) * 300);
    columns->mutableData()[i] = 1 + std::floor(uniform(block, 1) * 200);
    weights->mutableData()[i] = uniform(block, 0) - 0.5;
  }
  Value table = call("table", {rows, columns, weights, integer(280), integer(250)});
  EXPECT_TRUE(table.array()->isSparse());
  expectWellFormed(table, "table");
  Cells expected(280 * 250);
  for (int64_t i = 0; i < count; ++i)
    if (rows->data()[i] <= 280)
      expected[static_cast<size_t>((rows->data()[i] - 1) * 250 + columns->data()[i] - 1)] +=
          weights->data()[i];
  EXPECT_EQ(cellsOf(table), expected);
}

TEST(SparseNatives, drawnCellsDoNotDependOnTheLayout) {
  // The densities are just above and below the limit for dense matrices.
  auto draw = [](double sparsity, const char *pdf) {
    return call("rand", {integer(300), integer(200), 0.0, 1.0, sparsity, integer(11), pdf, 4.0});
  };
  for (const char *pdf : {"uniform", "normal", "poisson"}) {
    Value dense = draw(1, pdf), some = draw(0.2, pdf);
    EXPECT_TRUE(some.array()->isSparse());
    Cells all = cellsOf(dense), kept = cellsOf(some);
    int64_t count = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      count += kept[i] != 0;
      if (kept[i] != 0) {
        ASSERT_EQ(kept[i], all[i]) << pdf << ", cell " << i;
      }
    }
    EXPECT_NEAR(static_cast<double>(count), 0.2 * 60000, 500);
    EXPECT_EQ(draw(0, pdf).array()->entries(), 0);
    expectWellFormed(some, pdf);
  }
  EXPECT_NEAR(static_cast<double>(draw(0.9, "uniform").array()->countNonZeros()), 54000, 400);
}
