#include "runtime/TileScheduler.h"

#include <atomic>
#include <gtest/gtest.h>
#include <new>
#include <vector>

using namespace tokamak::runtime;

TEST(Scheduler, runsEachTileOnce) {
  for (int threads : {1, 2, 4}) {
    Scheduler scheduler(threads);
    EXPECT_EQ(scheduler.threads(), threads);
    std::vector<std::atomic<int>> calls(1000);
    scheduler.forEach(1000, [&](int64_t i) { ++calls[i]; });
    for (auto &count : calls)
      EXPECT_EQ(count.load(), 1);
  }
}

TEST(Scheduler, nests) {
  Scheduler scheduler(2);
  std::atomic<int64_t> sum = 0;
  scheduler.forEach(10,
                    [&](int64_t i) { scheduler.forEach(10, [&](int64_t j) { sum += i * j; }); });
  EXPECT_EQ(sum.load(), 45 * 45);
}

TEST(Scheduler, passesOnWhatTheBodyThrows) {
  for (int threads : {1, 2, 4}) {
    Scheduler scheduler(threads);
    auto body = [](int64_t i) {
      if (i >= 10)
        throw std::bad_alloc();
    };
    EXPECT_THROW(scheduler.forEach(1000, body), std::bad_alloc);
    scheduler.forEach(10, body);
  }
}

TEST(Scheduler, doesNothingForNoTiles) {
  Scheduler scheduler(0);
  EXPECT_GE(scheduler.threads(), 1);
  scheduler.forEach(0, [](int64_t) { FAIL(); });
}
