#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

Value tensor(Shape shape, const Cells &cells) {
  ArrayPointer array = Array::create(shape);
  EXPECT_EQ(static_cast<int64_t>(cells.size()), array->cells());
  std::copy(cells.begin(), cells.end(), array->mutableData());
  return array;
}

// An array of this shape with the cells 0, 1, 2, ...
Value numbered(Shape shape) {
  Cells cells(static_cast<size_t>(shape.cells()));
  for (size_t i = 0; i < cells.size(); ++i)
    cells[i] = static_cast<double>(i);
  return tensor(shape, cells);
}

Value single(const Value &value) { return Array::withElementType(value.array(), ElementType::F32); }

TEST(ViewNative, sharesTheCells) {
  Value x = numbered({2, 6});
  Value y = call("view", {x, integer(2), integer(3), integer(2)});
  EXPECT_EQ(sizeOf(y), "2x3x2");
  EXPECT_EQ(y.array()->rawBytes(), x.array()->rawBytes());
  EXPECT_EQ(errorOf("view", {x, integer(5), integer(2)}),
            "an array of 2x6 has not as many cells as one of 5x2");
  EXPECT_EQ(errorOf("view", {x, integer(-12), integer(-1)}),
            "view: the number of cells along dimension 1 is negative: -12");
  int64_t large = int64_t{1} << 40;
  EXPECT_EQ(errorOf("view", {numbered({0, 3}), integer(large), integer(large)}),
            "an array of 0x3 has not as many cells as one of 1099511627776x1099511627776");
}

TEST(ExpandNative, repeatsDimensionsOfSizeOne) {
  Value x = tensor({1, 2, 1}, {5, 6});
  Value y = call("expand", {x, integer(2), integer(2), integer(3)});
  EXPECT_EQ(sizeOf(y), "2x2x3");
  EXPECT_EQ(cellsOf(y), (Cells{5, 5, 5, 6, 6, 6, 5, 5, 5, 6, 6, 6}));
  Value z = call("expand", {tensor({2, 1, 2}, {1, 2, 3, 4}), integer(2), integer(2), integer(2)});
  EXPECT_EQ(cellsOf(z), (Cells{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(sizeOf(call("expand", {x, integer(0), integer(2), integer(3)})), "0x2x3");
  EXPECT_EQ(errorOf("expand", {x, integer(1), integer(3), integer(1)}),
            "expand: only dimensions of size 1 can be repeated, not 1x2x1 to 1x3x1");
}

TEST(ExpandNative, repeatsCellsAndRowsOfAnyNumberOfDimensions) {
  // Of every way in which the dimensions of an array of four are repeated.
  constexpr int64_t sizes[] = {2, 3, 2, 2};
  for (unsigned repeated = 0; repeated < 16; ++repeated) {
    int64_t own[4];
    for (int i = 0; i < 4; ++i)
      own[i] = repeated >> i & 1 ? 1 : sizes[i];
    Value x = numbered(Shape(own));
    std::vector<Value> operands = {x};
    for (int64_t size : sizes)
      operands.push_back(integer(size));
    Cells expected;
    for (int64_t cell = 0; cell < 24; ++cell) {
      int64_t rest = cell, stride = 1, from = 0;
      for (int i = 3; i >= 0; --i) {
        from += own[i] == 1 ? 0 : rest % sizes[i] * stride;
        rest /= sizes[i];
        stride *= own[i];
      }
      expected.push_back(static_cast<double>(from));
    }
    EXPECT_EQ(cellsOf(call("expand", operands)), expected) << repeated;
  }
}

TEST(ExpandNative, keepsTheElementType) {
  Value y = call("expand", {single(tensor({1, 1}, {0.5})), integer(2), integer(2)});
  EXPECT_EQ(y.array()->elementType(), ElementType::F32);
  EXPECT_EQ(y.array()->floats()[3], 0.5f);
}

TEST(TransposeNative, exchangesTheLastTwoDimensions) {
  Value y = call("transpose", {numbered({2, 2, 3})});
  EXPECT_EQ(sizeOf(y), "2x3x2");
  EXPECT_EQ(cellsOf(y), (Cells{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  Value f = call("transpose", {single(numbered({2, 3}))});
  EXPECT_EQ(f.array()->elementType(), ElementType::F32);
  EXPECT_EQ(f.array()->floats()[1], 3.0f);
}

TEST(MatmulNative, multipliesTheMatricesInTheLastTwoDimensions) {
  Value x = numbered({2, 1, 2});                   // (0 1), (2 3)
  Value y = tensor({1, 2, 2}, {1, 10, 100, 1000}); // broadcast to both matrices
  Value z = call("matmul", {x, y});
  EXPECT_EQ(sizeOf(z), "2x1x2");
  EXPECT_EQ(cellsOf(z), (Cells{100, 1000, 302, 3020}));
  EXPECT_EQ(cellsOf(call("matmul_transposed_right", {x, y})), (Cells{10, 1000, 32, 3200}));
  EXPECT_EQ(sizeOf(call("matmul_transposed_left", {numbered({3, 4, 2}), numbered({3, 4, 5})})),
            "3x2x5");
  EXPECT_EQ(errorOf("matmul", {x, x}), "%*%: the inner dimensions differ: 2x1x2 %*% 2x1x2");
  EXPECT_EQ(errorOf("matmul", {numbered({2, 1, 2}), numbered({3, 2, 1})}),
            "%*%: the leading dimensions differ: 2x1x2 %*% 3x2x1");
}

TEST(MatmulNative, givesTheSameBitsOnAnyNumberOfThreads) {
  Value x = numbered({7, 40, 30}), y = numbered({1, 30, 50});
  EXPECT_EQ(cellsOf(callAll("matmul", {x, y}, 1, 1)[0]),
            cellsOf(callAll("matmul", {x, y}, 1, 4)[0]));
}

TEST(MatmulNative, givesEachPartOfLargeMatrices) {
  constexpr int64_t rows = 300, inner = 300, columns = 501; // two tasks for each matrix
  Value x = numbered({2, rows, inner}),
        ones = call("matmul", {tensor({1, inner, 1}, Cells(inner, 1)),
                               tensor({1, 1, columns}, Cells(columns, 1))});
  for (int threads : {1, 3}) {
    Cells left = cellsOf(call("matmul", {x, ones}, threads));
    Cells turned =
        cellsOf(call("matmul_transposed_left", {numbered({2, inner, rows}), ones}, threads));
    for (int64_t i = 0; i < 2 * rows; ++i) {
      // The sum of inner * i, inner * i + 1, ...; and of every rows-th number.
      double sum = static_cast<double>(inner * inner * i + inner * (inner - 1) / 2);
      double ofColumn = static_cast<double>(inner * (i / rows * inner * rows + i % rows) +
                                            rows * inner * (inner - 1) / 2);
      for (int64_t j : {int64_t{0}, columns - 1}) {
        ASSERT_EQ(left[i * columns + j], sum) << i;
        ASSERT_EQ(turned[i * columns + j], ofColumn) << i;
      }
    }
  }
}

TEST(PrintNative, showsMatricesBelowTheirPlaces) {
  EXPECT_EQ(printed({numbered({2, 1, 1, 2})}), "[1,1,,]\n0.000 1.000\n[2,1,,]\n2.000 3.000\n\n");
  EXPECT_EQ(printed({numbered({3})}), "0.000 1.000 2.000\n\n");
}

TEST(BitcastNative, keepsTheBits) {
  Value y = call("bitcast", {single(tensor({2}, {1.0, -0.0})), "f32", "i32"});
  EXPECT_EQ(y.array()->elementType(), ElementType::I32);
  EXPECT_EQ(y.array()->cellsAs<int32_t>()[0], 0x3f800000);
  EXPECT_EQ(y.array()->cellsAs<int32_t>()[1], std::numeric_limits<int32_t>::min());
  Value back = call("bitcast", {y, "i32", "f32"});
  EXPECT_EQ(back.array()->floats()[0], 1.0F);
  EXPECT_TRUE(std::signbit(back.array()->floats()[1]));
  EXPECT_EQ(errorOf("bitcast", {numbered({2}), "f64", "i32"}),
            "bitcast: cells of f64 as f64 for i32");
}

} // namespace
