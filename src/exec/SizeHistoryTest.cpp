#include "exec/SizeHistory.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Array;
using runtime::Value;

namespace {

Value array(std::initializer_list<int64_t> sizes) { return Array::create(sizes, ElementType::F32); }

TEST(SizeHistory, KnowsWhatChangedOnce) {
  SizeHistory history;
  history.add(std::vector<Value>{array({1, 8, 40}), int64_t{40}, 0.5});
  EXPECT_FALSE(history.hasChanges());
  history.add(std::vector<Value>{array({1, 8, 41}), int64_t{41}, 0.5});
  history.add(std::vector<Value>{array({1, 8, 41}), int64_t{41}, 0.25}); // a double is no size
  EXPECT_TRUE(history.hasChanges());
  EXPECT_FALSE(history.varies(0));
  EXPECT_FALSE(history.varies(1));
  EXPECT_TRUE(history.varies(2));
  EXPECT_TRUE(history.varies(3));
  EXPECT_TRUE(history.hasBeenSmall(0));
  EXPECT_FALSE(history.hasBeenSmall(1));
}

TEST(SizeHistory, ExpectsThatAllChange) {
  SizeHistory history;
  history.add(std::vector<Value>{array({1, 8, 8})});
  history.expectChanges();
  EXPECT_TRUE(history.hasChanges());
  EXPECT_TRUE(history.varies(0));
  EXPECT_TRUE(history.varies(1));
  EXPECT_EQ(history.groupOf(1), history.groupOf(2));
  EXPECT_NE(history.groupOf(0), history.groupOf(1));
}

TEST(SizeHistory, ExpectsWhatItIsTold) {
  SizeHistory history;
  Size lines = Size::symbol(0, -1, {1, 8}), width = Size::symbol(1, -1, {40, 90});
  history.expect(std::vector<Size>{lines, Size::constant(8), width, lines, 8 * width, width});
  history.add(std::vector<Value>{array({8, 8, 64}), array({8, 512, 64})});
  EXPECT_TRUE(history.hasChanges());
  EXPECT_TRUE(history.varies(0));
  EXPECT_FALSE(history.varies(1));
  EXPECT_TRUE(history.varies(2));
  EXPECT_TRUE(history.hasBeenSmall(0)); // as it is going to be
  EXPECT_FALSE(history.hasBeenSmall(2));
  EXPECT_EQ(history.groupOf(0), history.groupOf(3));
  EXPECT_NE(history.groupOf(0), history.groupOf(1));
  EXPECT_EQ(history.groupOf(2), history.groupOf(5));
  // Sizes of other ranks are others.
  history.add(std::vector<Value>{array({8, 8}), array({8, 8})});
  EXPECT_FALSE(history.hasChanges());
}

TEST(SizeHistory, EqualSizesThatDiffer) {
  SizeHistory history;
  history.expect(std::vector<Size>{Size::symbol(0), Size::symbol(0)});
  history.add(std::vector<Value>{array({5, 6})});
  EXPECT_NE(history.groupOf(0), history.groupOf(1));
}

TEST(SizeHistory, SizesAreEqualThatWereEachTime) {
  SizeHistory history;
  history.add(std::vector<Value>{array({8, 8, 8}), array({8, 3})});
  EXPECT_EQ(history.groupOf(0), history.groupOf(3));
  history.add(std::vector<Value>{array({5, 8, 5}), array({5, 3})});
  EXPECT_EQ(history.groupOf(0), history.groupOf(2));
  EXPECT_EQ(history.groupOf(0), history.groupOf(3));
  EXPECT_NE(history.groupOf(0), history.groupOf(1));
  history.add(std::vector<Value>{array({5, 5, 5}), array({4, 3})});
  EXPECT_EQ(history.groupOf(0), history.groupOf(2));
  EXPECT_NE(history.groupOf(0), history.groupOf(3));
  EXPECT_NE(history.groupOf(0), history.groupOf(1)) << "they differed before";
}

TEST(SizeHistory, BeginsAgainWithOtherRanks) {
  SizeHistory history;
  history.add(std::vector<Value>{array({8, 8})});
  history.add(std::vector<Value>{array({4, 4, 4})});
  EXPECT_FALSE(history.hasChanges());
}

} // namespace
