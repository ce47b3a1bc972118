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
