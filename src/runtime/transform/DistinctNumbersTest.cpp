#include "runtime/transform/DistinctNumbers.h"

#include <gtest/gtest.h>
#include <unordered_map>

namespace tokamak::runtime {
namespace {

TEST(DistinctNumbers, CountsOffInTheOrderInWhichTheyCome) {
  DistinctNumbers distinct;
  std::unordered_map<uint64_t, int64_t> places;
  for (uint64_t i = 0; i < 20'000; ++i) {
    uint64_t number = i * i % 7919 << (i % 3 * 20); // some differ in upper bits only
    auto expected = places.emplace(number, static_cast<int64_t>(places.size())).first->second;
    ASSERT_EQ(distinct.placeOf(number), expected) << i;
  }
  EXPECT_EQ(distinct.count(), static_cast<int64_t>(places.size()));
}

} // namespace
} // namespace tokamak::runtime
