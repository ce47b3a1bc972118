#include "cost/Calibration.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <sched.h>
#include <thread>
#include <vector>

using namespace tokamak;
using namespace tokamak::cost;

TEST(Samples, knowTheirQuantiles) {
  Samples samples, others;
  for (double time : {8, 1, 7, 2})
    samples.add(time);
  for (double time : {6, 3, 5, 4})
    others.add(time);
  samples.add(others);
  EXPECT_EQ(samples.best(), 1);
  EXPECT_EQ(samples.lowerQuartile(), 3);
  EXPECT_EQ(samples.median(), 5);
}

TEST(Calibration, measuresSoon) {
  auto begin = std::chrono::steady_clock::now();
  int launches = 0;
  auto launch = [&] { return 100.0 + ++launches % 3; };
  MachineModel machine =
      calibrate({.plain = launch, .withArrays = launch, .inParallel = launch, .threads = 2}).model;
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(launches, 0);
  EXPECT_EQ(machine.launchNanoseconds, 100);
  EXPECT_EQ(machine.coldLaunchNanoseconds, 101) << "the median";
  // Which of them is higher depends on what else the machine does.
  for (double speed : {machine.nearestReadBytesPerNanosecond, machine.privateReadBytesPerNanosecond,
                       machine.sharedReadBytesPerNanosecond, machine.memoryReadBytesPerNanosecond})
    EXPECT_TRUE(std::isfinite(speed) && speed > 0.1) << speed;
  EXPECT_EQ(machine.threads, 2);
  EXPECT_GE(machine.computeSpeedup, 1);
  EXPECT_LE(machine.memorySpeedup, 2);
  EXPECT_GT(machine.flopsPerNanosecond, 0.5);
  EXPECT_GE(machine.firstTouchNanosecondsPerByte, 0);
  // The operating system takes much longer for a page than caches do for its cells.
  EXPECT_GT(machine.firstTouchOfSmallPagesNanosecondsPerByte, 0);
  // It takes about 0.1 s on an idle machine.
  EXPECT_LT(seconds.count(), 10);
}

// Three other threads on the same core leave a quarter of its time.
TEST(Calibration, noticesThatOthersUseTheProcessor) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0); // new threads inherit it
  std::atomic<bool> done = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!done)
        ;
    });
  bool isDisturbed = calibrate().isDisturbed;
  done = true;
  for (std::thread &other : others)
    other.join();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_TRUE(isDisturbed);
}
