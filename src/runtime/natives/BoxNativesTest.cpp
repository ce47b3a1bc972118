// The native that chooses among boxes.
#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

Value shapedAs(Shape shape, const Value &cells) { return Value(cells.array()->reshaped(shape)); }

TEST(SeparateBoxesNative, dropsWhatOverlapsABetterBox) {
  // By centre and size: the second one shares a third of the area of both with the first.
  Value boxes = shapedAs({1, 3, 4}, matrix(3, 4, {1, 1, 2, 2, 2, 1, 2, 2, 9, 9, 1, 1}));
  Value scores = shapedAs({1, 1, 3}, matrix(1, 3, {0.5, 0.6, 0.5}));
  auto chosen = [&](int64_t most, double overlap, double score) {
    return cellsOf(
        call("separate_boxes", {boxes, scores, integer(most), overlap, score, Value(true)}));
  };
  EXPECT_EQ(chosen(9, 0.3, -infinity), (Cells{1, 1, 2, 1, 1, 3}));
  EXPECT_EQ(chosen(9, 0.4, -infinity), (Cells{1, 1, 2, 1, 1, 1, 1, 1, 3}));
  EXPECT_EQ(chosen(1, 0.4, -infinity), (Cells{1, 1, 2}));
  EXPECT_EQ(chosen(9, 0.4, 0.5), (Cells{1, 1, 2}));
  EXPECT_EQ(chosen(0, 0.4, -infinity), Cells());
  EXPECT_EQ(errorOf("separate_boxes",
                    {boxes, matrix(1, 3, {1, 2, 3}), integer(1), 0.5, 0.5, Value(true)}),
            "separate_boxes: boxes of 1x3x4 and scores of 1x3");
}

} // namespace
