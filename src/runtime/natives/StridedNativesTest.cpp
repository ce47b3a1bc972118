// Natives that move the cells of arrays of any rank.
#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

// An array of this shape with the cells 0, 1, 2, ...
Value numbered(Shape shape) {
  ArrayPointer array = Array::create(shape);
  for (int64_t i = 0; i < array->cells(); ++i)
    array->mutableData()[i] = static_cast<double>(i);
  return array;
}

std::vector<Value> withNumbers(Value array, std::initializer_list<int64_t> numbers) {
  std::vector<Value> operands = {std::move(array)};
  for (int64_t number : numbers)
    operands.push_back(integer(number));
  return operands;
}

TEST(PermuteNative, movesDimensions) {
  Value y = call("permute", withNumbers(numbered({2, 3, 2}), {3, 1, 2}));
  EXPECT_EQ(sizeOf(y), "2x2x3");
  EXPECT_EQ(cellsOf(y), (Cells{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(errorOf("permute", withNumbers(numbered({2, 3}), {1, 1})),
            "permute: dimension 1 stands twice in the order");
  EXPECT_EQ(errorOf("permute", withNumbers(numbered({2, 3}), {1, 3})),
            "permute: there is no dimension 3 in an array of 2x3");
  EXPECT_EQ(errorOf("permute", withNumbers(numbered({2, 3, 2}), {2, 1})),
            "permute: an order of 2 dimensions for an array of 2x3x2");
}

// Where cells follow each other as they did, the result is the same memory.
TEST(PermuteNative, movesNoCellsForDimensionsOfSizeOne) {
  Value x = numbered({2, 1, 3, 1});
  Value y = call("permute", withNumbers(x, {4, 1, 3, 2}));
  EXPECT_EQ(sizeOf(y), "1x2x3x1");
  EXPECT_EQ(y.array()->rawBytes(), x.array()->rawBytes());
  EXPECT_NE(call("permute", withNumbers(x, {3, 1, 2, 4})).array()->rawBytes(),
            x.array()->rawBytes());
}

TEST(StridedSliceNative, movesNoCellsThatFollowEachOther) {
  Value x = numbered({4, 3, 2}),
        second = call("strided_slice", withNumbers(x, {2, 1, 1, 2, 2, 1, 1, 2, 1}));
  EXPECT_EQ(sizeOf(second), "1x2x2");
  EXPECT_EQ(cellsOf(second), (Cells{8, 9, 10, 11}));
  EXPECT_EQ(second.array()->rawBytes(), x.array()->rawBytes() + 8 * sizeof(double));
  // In steps, and not to the end of the inner dimensions.
  EXPECT_EQ(cellsOf(call("strided_slice", withNumbers(x, {4, 2, -3, 1, 3, 1, 1, 2, 1}))),
            (Cells{18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(cellsOf(call("strided_slice", withNumbers(x, {1, 2, 1, 1, 3, 1, 2, 1, 1}))),
            (Cells{1, 3, 5, 7, 9, 11}));
}

TEST(TakeNative, takesNothingForAResultWithoutCells) {
  EXPECT_EQ(sizeOf(call("take", {numbered({0, 2}), matrix(1, 1, {7}), integer(2)})), "0x1x1");
  EXPECT_EQ(errorOf("take", {numbered({0, 2}), matrix(1, 1, {1}), integer(1)}),
            "take: there is no place 1 among the 0 along dimension 1");
}

TEST(TakeNative, movesNoCellsOfOnePart) {
  Value x = numbered({3, 2});
  Value y = call("take", {x, matrix(1, 1, {3}), integer(1)});
  EXPECT_EQ(sizeOf(y), "1x1x2");
  EXPECT_EQ(cellsOf(y), (Cells{4, 5}));
  EXPECT_EQ(y.array()->rawBytes(), x.array()->rawBytes() + 4 * sizeof(double));
}

TEST(PermuteNative, givesTheSameOnAnyNumberOfThreads) {
  std::vector<Value> operands = withNumbers(numbered({70, 90, 40}), {3, 2, 1});
  EXPECT_EQ(cellsOf(callAll("permute", operands, 1, 1)[0]),
            cellsOf(callAll("permute", operands, 1, 4)[0]));
}

TEST(StridedSliceNative, takesEveryNthPlace) {
  Value y = call("strided_slice", withNumbers(numbered({4, 5}), {4, 2, -2, 2, 2, 3}));
  EXPECT_EQ(cellsOf(y), (Cells{16, 19, 6, 9}));
  EXPECT_EQ(sizeOf(call("strided_slice", withNumbers(numbered({4}), {9, 0, 1}))), "0");
  EXPECT_EQ(errorOf("strided_slice", withNumbers(numbered({4}), {2, 3, 2})),
            "strided_slice: 3 places from 2 on, in steps of 2, of the 4 along dimension 1");
  EXPECT_EQ(errorOf("strided_slice", withNumbers(numbered({4}), {2, 3, int64_t{1} << 62})),
            "strided_slice: 3 places from 2 on, in steps of 4611686018427387904, of the 4 along "
            "dimension 1");
}

TEST(TakeNative, takesPlacesByNumber) {
  Value x = numbered({2, 3, 2});
  Value y = call("take", {x, matrix(1, 2, {3, 1}), integer(2)});
  EXPECT_EQ(sizeOf(y), "2x1x2x2");
  EXPECT_EQ(cellsOf(y), (Cells{4, 5, 0, 1, 10, 11, 6, 7}));
  EXPECT_EQ(errorOf("take", {x, matrix(1, 2, {3, 4}), integer(2)}),
            "take: there is no place 4 among the 3 along dimension 2");
}

TEST(WindowsNative, overlapAndReachOutside) {
  // Three windows of two places, the first one before the array.
  Value y = call("windows", {numbered({2, 4}), 9.0, integer(3), integer(2), integer(0), integer(2),
                             integer(1), integer(1)});
  EXPECT_EQ(sizeOf(y), "2x3x2");
  EXPECT_EQ(cellsOf(y), (Cells{9, 0, 1, 2, 3, 9, 9, 4, 5, 6, 7, 9}));
  // Cells that are two places apart, places that go backwards.
  Value z = call("windows", {numbered({3}), -1.0, integer(3), integer(2), integer(2), integer(1),
                             integer(-1), integer(2)});
  EXPECT_EQ(cellsOf(z), (Cells{-1, 0, 1, -1, -1, 1}));
}

TEST(JoinNative, putsArraysBehindEachOther) {
  Value y = call("join", {integer(2), numbered({2, 1, 2}), numbered({2, 2, 2})});
  EXPECT_EQ(sizeOf(y), "2x3x2");
  EXPECT_EQ(cellsOf(y), (Cells{0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(errorOf("join", {integer(1), numbered({2, 3}), numbered({2, 2})}),
            "join: 2x3 and 2x2 differ in more than dimension 1");
}

} // namespace
