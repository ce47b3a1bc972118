// Tests t(a) %*% b with all cases of columns, rows and ranges, and both vector widths.
#include "runtime/natives/TransposedProduct.h"

#include "runtime/natives/NativeTesting.h"
#include "runtime/natives/RandomNumbers.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

// With small integers every order of summation gives the same sum, in f32 too.
ArrayReference numbers(int64_t rows, int64_t columns, uint64_t seed, ElementType type) {
  ArrayPointer array = Array::create({rows, columns});
  for (int64_t i = 0; i < array->cells(); ++i)
    array->mutableData()[i] = std::floor(uniform(randomBlock(seed, 0, i), 0) * 9 - 4);
  return Array::withElementType(array, type);
}

Cells expected(const Array &lhs, const Array &rhs) {
  Cells sums(static_cast<size_t>(lhs.columns() * rhs.columns()), 0);
  for (int64_t k = 0; k < lhs.rows(); ++k)
    for (int64_t i = 0; i < lhs.columns(); ++i)
      for (int64_t j = 0; j < rhs.columns(); ++j)
        sums[static_cast<size_t>(i * rhs.columns() + j)] += lhs.at(k, i) * rhs.at(k, j);
  return sums;
}

ArrayPointer compute(const Array &lhs, const Array &rhs, int vectorBytes, int threads = 1) {
  Scheduler scheduler(threads);
  ExecutionContext context;
  context.scheduler = &scheduler;
  ArrayPointer result = Array::filled({lhs.columns(), rhs.columns()}, -1);
  result =
      std::const_pointer_cast<Array>(Array::withElementType(result, lhs.elementType()))->copy();
  TransposedProduct(lhs, rhs, vectorBytes).compute(context, *result);
  return result;
}

Cells doubles(const ArrayPointer &array) {
  return cellsOf(Array::withElementType(array, ElementType::F64));
}

std::vector<int> vectorWidths() {
  std::vector<int> widths;
  for (int bytes : {32, 64})
    if (bytes <= TransposedProduct::widestVectorBytes())
      widths.push_back(bytes);
  return widths;
}

// The numbers of columns cover all cases at the ends of tiles and blocks.
TEST(TransposedProduct, multipliesAllSizes) {
  struct Size {
    int64_t rows, left, right;
  };
  std::vector<Size> sizes = {
      {256, 8, 16}, {300, 300, 17}, {257, 16, 300}, {256, 520, 33}, {9000, 12, 20}};
  for (int64_t columns = 16; columns < 60; ++columns)
    sizes.push_back({256 + columns, 76 - columns, columns});
  for (int bytes : vectorWidths())
    for (ElementType type : {ElementType::F64, ElementType::F32})
      for (auto [rows, left, right] : sizes) {
        ArrayReference lhs = numbers(rows, left, 1, type), rhs = numbers(rows, right, 2, type);
        ASSERT_TRUE(TransposedProduct::suits(*lhs, *rhs, bytes));
        ASSERT_EQ(doubles(compute(*lhs, *rhs, bytes)), expected(*lhs, *rhs))
            << rows << ": " << left << " x " << right << ", vectors of " << bytes << " bytes";
      }
}

// Where blocks of equal size but for the last one would leave a last one of one column. Each cell is the sum of a column.
TEST(TransposedProduct, multipliesWidthsThatBlocksOfOneSizeDontDivide) {
  constexpr int64_t rows = 64, width = 255 * 256 + 1, copies = 16;
  for (int bytes : vectorWidths())
    for (ElementType type : {ElementType::F64, ElementType::F32}) {
      ArrayReference wide = numbers(rows, width, 1, type);
      ArrayReference ones = Array::withElementType(Array::filled({rows, copies}, 1), type);
      ArrayPointer sums = Array::filled({width, 1}, 0);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < width; ++j)
          sums->mutableData()[j] += wide->at(i, j);
      Cells below = doubles(compute(*wide, *ones, bytes)),
            beside = doubles(compute(*ones, *wide, bytes));
      for (int64_t j = 0; j < width; ++j)
        for (int64_t k = 0; k < copies; ++k) {
          ASSERT_EQ(below[static_cast<size_t>(j * copies + k)], sums->data()[j]) << "row " << j;
          ASSERT_EQ(beside[static_cast<size_t>(k * width + j)], sums->data()[j]) << "column " << j;
        }
    }
}

TEST(TransposedProduct, computesAllCellsOfSymmetricProducts) {
  for (int bytes : vectorWidths())
    for (ElementType type : {ElementType::F64, ElementType::F32})
      for (int64_t columns :
           {16, 17, 20, 23, 24, 25, 31, 32, 33, 40, 41, 100, 256, 257, 300, 513}) {
        ArrayReference cells = numbers(400, columns, 3, type);
        ASSERT_EQ(doubles(compute(*cells, *cells, bytes)), expected(*cells, *cells))
            << columns << " columns, vectors of " << bytes << " bytes";
      }
}

// Cells shared by two tiles and mirrored cells have the same bits as when computed once.
TEST(TransposedProduct, isSymmetricAndTheSameOnAnyNumberOfThreads) {
  Value random =
      call("rand", {integer(20000), integer(43), 0.0, 1.0, 1.0, integer(1), "normal", 1.0});
  const Array &cells = *random.array();
  for (int bytes : vectorWidths()) {
    ArrayPointer once = compute(cells, cells, bytes);
    for (int64_t i = 0; i < once->rows(); ++i)
      for (int64_t j = 0; j < i; ++j)
        ASSERT_EQ(once->at(i, j), once->at(j, i));
    EXPECT_EQ(doubles(once), doubles(compute(cells, cells, bytes, 3)));
    // A copy hides that the operands are the same.
    EXPECT_EQ(doubles(once), doubles(compute(cells, *cells.copy(), bytes)));
  }
}

TEST(TransposedProduct, keepsNotANumberInItsColumns) {
  ArrayPointer lhs = numbers(300, 20, 1, ElementType::F64)->copy();
  lhs->mutableData()[lhs->columns() * 299 + 19] = notANumber;
  for (int bytes : vectorWidths()) {
    ArrayPointer result = compute(*lhs, *lhs, bytes);
    for (int64_t i = 0; i < 20; ++i)
      for (int64_t j = 0; j < 20; ++j)
        ASSERT_EQ(std::isnan(result->at(i, j)), i == 19 || j == 19) << i << ' ' << j;
  }
}

TEST(TransposedProduct, leavesFewRowsAndColumnsToOthers) {
  ArrayReference wide = numbers(300, 40, 1, ElementType::F64);
  for (int bytes : vectorWidths()) {
    EXPECT_TRUE(TransposedProduct::suits(*wide, *wide, bytes));
    EXPECT_FALSE(TransposedProduct::suits(*wide, *numbers(300, 3, 1, ElementType::F64), bytes));
    EXPECT_FALSE(TransposedProduct::suits(*numbers(300, 3, 1, ElementType::F64), *wide, bytes));
    EXPECT_FALSE(TransposedProduct::suits(*wide, *numbers(300, 40, 1, ElementType::F32), bytes));
    EXPECT_FALSE(TransposedProduct::suits(*wide, *Array::asSparse(wide), bytes));
  }
  ArrayReference few = numbers(63, 40, 1, ElementType::F64);
  EXPECT_FALSE(TransposedProduct::suits(*few, *few));
  EXPECT_FALSE(TransposedProduct::suits(*wide, *wide, 0));
}

} // namespace
