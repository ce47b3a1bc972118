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

TEST(CheckedIndicesNative, countsFromTheEndAndRefusesWhatIsOutside) {
  auto indices = [](std::vector<double> cells) {
    auto count = static_cast<int64_t>(cells.size());
    return Value(Array::withElementType(matrix(1, count, cells).array(), ElementType::I64));
  };
  Value checked = call("checked_indices", {indices({2, -1, -3, 0}), integer(3), true});
  EXPECT_EQ(integersOf(checked), (Integers{2, 2, 0, 0}));
  EXPECT_EQ(errorOf("checked_indices", {indices({0, 3}), integer(3), true}),
            "the index 3 is outside of -3 to 2");
  EXPECT_EQ(errorOf("checked_indices", {indices({-4}), integer(3), true}),
            "the index -4 is outside of -3 to 2");
  EXPECT_EQ(errorOf("checked_indices", {indices({-1}), integer(3), false}),
            "the index -1 is outside of 0 to 2");
  EXPECT_EQ(errorOf("checked_indices", {indices({0}), integer(0), true}),
            "the index 0 is of a dimension without places");
  EXPECT_EQ(errorOf("checked_indices", {matrix(1, 1, {0}), integer(3), true}),
            "checked_indices: indices of f64, not i64");
}

} // namespace
