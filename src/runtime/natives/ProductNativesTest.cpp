#include "runtime/natives/Blas.h"
#include "runtime/natives/NativeTesting.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static Value numbers(int64_t rows, int64_t columns) {
  ArrayPointer array = Array::create({rows, columns});
  for (int64_t i = 0; i < array->cells(); ++i)
    array->mutableData()[i] = static_cast<double>(i * 7919 % 23 - 11);
  return array;
}

static Value single(const Value &value) {
  return Array::withElementType(value.array(), ElementType::F32);
}

// With small integers every order of summation gives the same sum.
static void expectProduct(const Value &a, const Value &b, const Value &product) {
  const Array &x = *a.array(), &y = *b.array(), &z = *product.array();
  ASSERT_EQ(z.rows(), x.rows());
  ASSERT_EQ(z.columns(), y.columns());
  for (int64_t i = 0; i < x.rows(); i += 1 + x.rows() / 50)
    for (int64_t j = 0; j < y.columns(); j += 1 + y.columns() / 50) {
      double sum = 0;
      for (int64_t k = 0; k < x.columns(); ++k)
        sum += x.at(i, k) * y.at(k, j);
      ASSERT_EQ(z.at(i, j), sum) << i << ' ' << j;
    }
}

TEST(ProductNatives, multiplies) {
  struct Size {
    int64_t rows, inner, columns;
  };
  for (Size size : {Size{1, 1, 1},
                    {3, 4, 5},
                    {700, 300, 20},
                    {20, 300, 700},
                    {5, 200000, 3},
                    {100000, 30, 1},
                    {1, 300000, 1},
                    {1, 30, 100000},
                    {2, 200, 900}, // as vectors
                    {900, 200, 4},
                    {600, 600, 600},
                    {100, 5000, 30},
                    {9, 1000, 8}}) {
    Value a = numbers(size.rows, size.inner), b = numbers(size.inner, size.columns);
    expectProduct(a, b, call("matmul", {a, b}));
    expectProduct(a, b, call("matmul_transposed_left", {call("transpose", {a}), b}));
    expectProduct(a, b, call("matmul_transposed_right", {a, call("transpose", {b})}));
    // Products of f32 arrays are computed in f32.
    Value x = single(a), y = single(b);
    for (const Value &product :
         {call("matmul", {x, y}), call("matmul_transposed_left", {call("transpose", {x}), y}),
          call("matmul_transposed_right", {x, call("transpose", {y})})}) {
      EXPECT_EQ(product.array()->elementType(), ElementType::F32);
      expectProduct(a, b, product);
    }
  }
}

// 2^25 + 1 is not an f32: the sum of 2^25, 1 and -2^25, from the left, is 0 in f32 and 1 in f64.
TEST(ProductNatives, addsUpSinglesInSinglePrecision) {
  Value terms = matrix(3, 2, {0x1p25, 0x1p25, 1, 1, -0x1p25, -0x1p25});
  Value ones = matrix(3, 3, Cells(9, 1));
  EXPECT_EQ(cellsOf(call("matmul_transposed_left", {terms, ones})), Cells(6, 1));
  Value product = call("matmul_transposed_left", {single(terms), single(ones)});
  EXPECT_EQ(cellsOf(Array::withElementType(product.array(), ElementType::F64)), Cells(6, 0));
}

// The executor must not convert f32 operands.
TEST(ProductNatives, takesSingles) {
  for (const char *name : {"matmul", "matmul_transposed_left", "matmul_transposed_right"})
    EXPECT_EQ(findNativeRow(name)->access, NativeAccess::Products) << name;
}

TEST(ProductNatives, isTheSameOnAnyNumberOfThreads) {
  Value a = call("rand", {integer(3000), integer(200), 0.0, 1.0, 1.0, integer(1), "normal", 1.0});
  Value b = call("rand", {integer(3000), integer(50), 0.0, 1.0, 1.0, integer(2), "normal", 1.0});
  Cells once = cellsOf(call("matmul_transposed_left", {a, b}, 1));
  EXPECT_EQ(once, cellsOf(call("matmul_transposed_left", {a, b}, 3)));
  auto inSinglePrecision = [&](int threads) {
    Value product = call("matmul_transposed_left", {single(a), single(b)}, threads);
    return cellsOf(Array::withElementType(product.array(), ElementType::F64));
  };
  EXPECT_EQ(inSinglePrecision(1), inSinglePrecision(3));
}

TEST(ProductNatives, handlesEmptyMatrices) {
  EXPECT_EQ(cellsOf(call("matmul", {matrix(2, 0, {}), matrix(0, 2, {})})), (Cells{0, 0, 0, 0}));
  EXPECT_EQ(sizeOf(call("matmul", {matrix(0, 2, {}), matrix(2, 3, {0, 0, 0, 0, 0, 0})})), "0x3");
}

TEST(ProductNatives, carriesNan) {
  EXPECT_TRUE(std::isnan(
      cellsOf(call("matmul", {matrix(1, 2, {0, 1}), matrix(2, 1, {notANumber, 1})}))[0]));
}

TEST(ProductNatives, checksSizes) {
  EXPECT_EQ(errorOf("matmul", {numbers(3, 4), numbers(5, 2)}),
            "%*%: the inner dimensions differ: 3x4 %*% 5x2");
}

TEST(Blas, describesItself) { EXPECT_STRNE(blasDescription(), ""); }
