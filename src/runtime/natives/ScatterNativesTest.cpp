// Natives that write parts to places; on several element types: test/scripts/tensors/places.mlir.
#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

TEST(ScatterNative, keepsTheLastUpdateOfAPlace) {
  Value x = matrix(3, 2, {1, 2, 3, 4, 5, 6});
  Value y = call("scatter", {x, matrix(2, 2, {7, 8, 9, 10}), matrix(1, 2, {3, 3})});
  EXPECT_EQ(cellsOf(y), (Cells{1, 2, 3, 4, 9, 10}));
  EXPECT_EQ(cellsOf(x), (Cells{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(errorOf("scatter", {x, matrix(1, 2, {7, 8}), matrix(1, 1, {4})}),
            "scatter: there is no place 4 among 3");
  EXPECT_EQ(errorOf("scatter", {x, matrix(1, 2, {7, 8}), matrix(1, 2, {1, 2})}),
            "scatter: 2 updates of 3x2 do not have 2 cells");
}

TEST(ScatterReduceNative, combinesAllUpdatesOfAPlace) {
  Value x = matrix(2, 1, {1, 2}), updates = matrix(3, 1, {3, 5, 4}), at = matrix(3, 1, {2, 2, 2});
  auto reduced = [&](const char *how) {
    return cellsOf(call("scatter_reduce", {x, updates, at, how}));
  };
  EXPECT_EQ(reduced("add"), (Cells{1, 14}));
  EXPECT_EQ(reduced("mul"), (Cells{1, 120}));
  EXPECT_EQ(reduced("max"), (Cells{1, 5}));
  EXPECT_EQ(reduced("min"), (Cells{1, 2}));
  EXPECT_EQ(errorOf("scatter_reduce", {x, updates, at, "mean"}),
            "scatter_reduce: unknown reduction \"mean\": expected add, mul, min or max");
}

// 1 + 2^-11 + 2^-11 in f16: 1 if it is rounded after each step.
TEST(ScatterReduceNative, roundsOnce) {
  auto half = [](Value value) {
    return Value(Array::withElementType(value.array(), ElementType::F16));
  };
  Value x = half(matrix(1, 1, {1})), updates = half(matrix(2, 1, {0x1p-11, 0x1p-11}));
  Value y = call("scatter_reduce", {x, updates, matrix(2, 1, {1, 1}), "add"});
  EXPECT_EQ(cellsOf(Value(Array::withElementType(y.array(), ElementType::F64))),
            (Cells{1 + 0x1p-10}));
}

} // namespace
