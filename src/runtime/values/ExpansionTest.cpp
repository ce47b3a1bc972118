#include "runtime/values/Expansion.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace tokamak;
using namespace tokamak::runtime;

static ArrayReference numbered(const Shape &shape) {
  ArrayPointer array = Array::create(shape, ElementType::F64);
  std::iota(array->mutableData(), array->mutableData() + array->cells(), 0.0);
  return array;
}

static std::vector<double> cellsOf(const ArrayReference &array) {
  return {array->data(), array->data() + array->cells()};
}

TEST(Expansion, repeatsCellsAndRows) {
  ArrayReference column = numbered({2, 1}), row = numbered({1, 2});
  EXPECT_EQ(cellsOf(expanded(column, {2, 3})), (std::vector<double>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(cellsOf(expanded(row, {3, 2})), (std::vector<double>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(expanded(row, {1, 2}), row);
  EXPECT_EQ(expanded(row, {0, 2})->cells(), 0);
}

TEST(Expansion, copiesRowsOneByOne) {
  ArrayReference row = numbered({1, 2});
  Expansion expansion(row->shape(), {3, 2});
  EXPECT_EQ(expansion.rows(), 3);
  EXPECT_EQ(expansion.columns(), 2);
  ArrayPointer to = Array::create({3, 2}, ElementType::F64);
  std::fill_n(to->mutableData(), 6, 9.0);
  expansion.copyRows(*row, *to, 1, 2);
  EXPECT_EQ(cellsOf(to), (std::vector<double>{9, 9, 0, 1, 9, 9}));
}
