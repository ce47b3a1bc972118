// Natives that find places; on several element types: test/scripts/tensors/places.mlir.
#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

std::vector<int64_t> integersOf(const Value &value) {
  const auto *cells = value.array()->cellsAs<int64_t>();
  return {cells, cells + value.array()->cells()};
}
using Integers = std::vector<int64_t>;

TEST(TopPlacesNative, ordersEqualCellsByTheirPlaces) {
  Value x = matrix(2, 4, {1, 3, 3, 2, 0, 0, notANumber, 0});
  EXPECT_EQ(integersOf(call("top_places", {x, integer(3), true})), (Integers{2, 3, 4, 3, 1, 2}));
  EXPECT_EQ(integersOf(call("top_places", {x, integer(2), false})), (Integers{1, 4, 1, 2}));
  EXPECT_EQ(sizeOf(call("top_places", {x, integer(0), false})), "2x0");
  EXPECT_EQ(errorOf("top_places", {x, integer(5), true}),
            "top_places: 5 places of an array of 2x4");
}

TEST(NonzeroPlacesNative, countsThroughAllDimensions) {
  Value found = call("nonzero_places", {matrix(2, 3, {0, 1, notANumber, 0, 0, -0.5})});
  EXPECT_EQ(integersOf(found), (Integers{2, 3, 6}));
  EXPECT_EQ(sizeOf(call("nonzero_places", {matrix(1, 2, {0, -0.0})})), "0");
}

TEST(RowRanksNative, givesEqualRowsTheSameNumber) {
  Value x = matrix(5, 2, {2, 1, 1, 5, 2, 1, 1, notANumber, 1, 5});
  EXPECT_EQ(integersOf(call("row_ranks", {x})), (Integers{3, 1, 3, 2, 1}));
}

TEST(SortedPlacesNative, standsBeforeOrBehindEqualCells) {
  Value sorted = matrix(4, 1, {-1, 0, 0, 3}).array()->reshaped({4});
  Value x = matrix(2, 3, {-2, -0.0, 1, 3, 4, notANumber});
  EXPECT_EQ(integersOf(call("sorted_places", {x, sorted, false})), (Integers{1, 2, 4, 4, 5, 5}));
  EXPECT_EQ(integersOf(call("sorted_places", {x, sorted, true})), (Integers{1, 4, 4, 5, 5, 5}));
  EXPECT_EQ(errorOf("sorted_places", {x, x, true}),
            "sorted_places: expected a vector, got an array of 2x3");
}

} // namespace
