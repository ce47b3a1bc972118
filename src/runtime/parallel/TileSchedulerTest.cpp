#include "runtime/parallel/TileScheduler.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
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

// Loops follow each other at once, and after workers have gone to sleep.
TEST(Scheduler, runsLoopAfterLoop) {
  Scheduler scheduler(2);
  for (int loop = 0; loop < 5000; ++loop) {
    int64_t count = loop % 7;
    std::atomic<int64_t> sum = 0;
    scheduler.forEach(count, [&](int64_t i) { sum += i + 1; });
    ASSERT_EQ(sum.load(), count * (count + 1) / 2);
    if (loop % 500 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(Scheduler, servesSeveralThreadsAtOnce) {
  Scheduler scheduler(2);
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum = 0;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      for (int loop = 0; loop < 100; ++loop)
        scheduler.forEach(
            10, [&](int64_t i) { scheduler.forEach(2, [&](int64_t j) { sum += i + j; }); });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sum.load(), 3 * 100 * (2 * 45 + 10));
}

TEST(Scheduler, passesOnWhatTheFirstFailingCallThrows) {
  for (int threads : {1, 2, 4}) {
    Scheduler scheduler(threads);
    try {
      scheduler.forEach(1000, [&](int64_t i) {
        std::vector<int> needsCleanUp(10);
        if (i % 7 == 3)
          throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error &error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
}

TEST(Scheduler, doesNothingForNoTiles) {
  Scheduler scheduler(0);
  EXPECT_GE(scheduler.threads(), 1);
  scheduler.forEach(0, [](int64_t) { FAIL(); });
}
