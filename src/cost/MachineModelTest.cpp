#include "cost/MachineModel.h"

#include "base/Error.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::cost;

static std::string messageOfParsing(const std::string &text) {
  try {
    parseMachineModel(text, "broken-model.json");
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST(MachineModel, namesWhatIsWrongWithAFile) {
  EXPECT_NE(messageOfParsing("[1]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(messageOfParsing("{}").find("\"nearestCacheBytes\""), std::string::npos);
  std::string json = toJson(MachineModel());
  std::string unknown = json;
  unknown.insert(1, "\"speed\": 3,");
  EXPECT_NE(messageOfParsing(unknown).find("unknown key \"speed\""), std::string::npos);
  MachineModel still;
  still.flopsPerNanosecond = 0;
  EXPECT_NE(messageOfParsing(toJson(still)).find("must be positive"), std::string::npos);
  MachineModel withoutLines;
  withoutLines.cacheLineBytes = 0;
  EXPECT_NE(messageOfParsing(toJson(withoutLines)).find("must be positive"), std::string::npos);
}

TEST(MachineModel, hidesOperationsBehindReading) {
  EXPECT_DOUBLE_EQ(operationsHiddenByReading(MachineModel(), 12), 8);
  MachineModel slowMemory;
  slowMemory.memoryReadBytesPerNanosecond /= 2;
  EXPECT_DOUBLE_EQ(operationsHiddenByReading(slowMemory, 12), 16);
}

TEST(MachineModel, fasterTakesTheBetterOfEachFigure) {
  MachineModel slowMemory, slowLaunch;
  slowMemory.memoryReadBytesPerNanosecond /= 2;
  slowLaunch.launchNanoseconds *= 2;
  EXPECT_EQ(fasterOf(slowMemory, slowLaunch), MachineModel());
}

// While additions were measured, something took half of the processor; everything else seems to take half as many.
TEST(MachineModel, fasterComparesTimesWhereFiguresAreInAdditions) {
  MachineModel slowAdditions;
  auto exp = static_cast<size_t>(UnaryOperator::Exp);
  slowAdditions.flopsPerNanosecond /= 2;
  slowAdditions.nativeSolveSlowness /= 2;
  slowAdditions.entryAdditions /= 2;
  slowAdditions.cells.unary[exp].f64 /= 2;
  slowAdditions.cells.unary[exp].f32 /= 2;
  EXPECT_EQ(fasterOf(slowAdditions, MachineModel()).cells.unary[exp],
            MachineModel().cells.unary[exp]);
  EXPECT_EQ(fasterOf(MachineModel(), slowAdditions).entryAdditions, MachineModel().entryAdditions);
  EXPECT_EQ(fasterOf(slowAdditions, MachineModel()).nativeSolveSlowness, 1);
  // The second one takes longer for each array, so its launches alone seem shorter.
  MachineModel launches, dearArrays;
  launches.farArrayNanoseconds = 100;
  dearArrays.farArrayNanoseconds = 900;
  dearArrays.farLaunchNanoseconds = launches.farLaunchNanoseconds - 400;
  EXPECT_EQ(fasterOf(dearArrays, launches), launches);
  MachineModel slowOnOneThread;
  slowOnOneThread.memoryReadBytesPerNanosecond /= 2;
  slowOnOneThread.memorySpeedup = 2;
  EXPECT_EQ(fasterOf(slowOnOneThread, MachineModel()).memorySpeedup, MachineModel().memorySpeedup);
}

TEST(MachineModel, hidesTheShorterPartButForAShare) {
  MachineModel machine;
  machine.unhiddenShare = 0.25;
  machine.launchNanoseconds = 0;
  auto takes = [&](double bytes, double flops) {
    return nanoseconds(machine, {.readBytes = bytes, .flops = flops});
  };
  double moving = takes(1e9, 0), computing = takes(0, 1e9);
  EXPECT_DOUBLE_EQ(takes(1e9, 1e9),
                   std::max(moving, computing) + 0.25 * std::min(moving, computing));
  Parts parts = partsOf(machine, {.readBytes = 1e9, .flops = 1e9});
  EXPECT_DOUBLE_EQ(withAllHidden(machine, parts), std::max(moving, computing));
}

// A machine whose caches and memory are all of different speeds.
static MachineModel unevenMachine() {
  MachineModel machine;
  machine.nearestReadBytesPerNanosecond = 200;
  machine.nearestWriteBytesPerNanosecond = 100;
  machine.privateReadBytesPerNanosecond = 80;
  machine.privateWriteBytesPerNanosecond = 50;
  machine.firstTouchNanosecondsPerByte = machine.firstTouchOfSmallPagesNanosecondsPerByte = 0;
  machine.unhiddenShare = 0;
  return machine;
}

TEST(MachineModel, chargesTheNearestCacheThatHoldsEverything) {
  MachineModel machine = unevenMachine();
  auto readingOf = [&](double bytes) {
    return nanoseconds(machine, {.readBytes = bytes}) - machine.launchNanoseconds;
  };
  auto expectRate = [&](double bytes, double rate) {
    EXPECT_NEAR(bytes / readingOf(bytes), rate, 1e-9 * rate);
  };
  expectRate(machine.nearestCacheBytes, machine.nearestReadBytesPerNanosecond);
  expectRate(machine.privateCacheBytes / 2, machine.privateReadBytesPerNanosecond);
  expectRate(machine.sharedCacheBytes / 2, machine.sharedReadBytesPerNanosecond);
  expectRate(machine.sharedCacheBytes * 2, machine.memoryReadBytesPerNanosecond);
  // Half of what just fills a cache has been replaced before it is read again.
  double filled = machine.privateCacheBytes;
  EXPECT_DOUBLE_EQ(readingOf(filled), filled / 2 / machine.privateReadBytesPerNanosecond +
                                          filled / 2 / machine.sharedReadBytesPerNanosecond);
  double streamed = readingOf(80e6) + machine.launchNanoseconds;
  // Computing overlaps with moving cells; only the longer of them counts.
  EXPECT_DOUBLE_EQ(nanoseconds(machine, {.readBytes = 80e6, .flops = 1}), streamed);
  EXPECT_GT(nanoseconds(machine, {.readBytes = 80e6, .flops = 1e9}), streamed);
  EXPECT_GT(nanoseconds(machine, {.readBytes = 40e6, .writtenBytes = 40e6}), streamed);
  EXPECT_DOUBLE_EQ(nanoseconds(machine, {.readBytes = 80e6, .overhead = 100}), streamed + 100);
}

TEST(MachineModel, findsArraysWhereTheBlockHasLeftThem) {
  MachineModel machine = unevenMachine();
  machine.coldLaunchNanoseconds = machine.launchNanoseconds + 500;
  auto time = [&](double touchedBytes, const Work &work) {
    return nanoseconds(inBlock(machine, touchedBytes, 10), work);
  };
  EXPECT_EQ(time(1000, {.foundBytes = 8000}), time(0, {.readBytes = 8000}));
  double far = machine.privateCacheBytes * 2;
  double launch = time(far, {});
  EXPECT_DOUBLE_EQ(time(far, {.foundBytes = 8000}),
                   launch + 8000 / machine.sharedReadBytesPerNanosecond);
  EXPECT_DOUBLE_EQ(time(far, {.readBytes = 8000}),
                   launch + 8000 / machine.nearestReadBytesPerNanosecond);
  EXPECT_DOUBLE_EQ(time(1e9, {.writtenBytes = 8000}),
                   time(1e9, {}) + 8000 / machine.memoryWriteBytesPerNanosecond);
}

TEST(MachineModel, loopsFindUsedBuffers) {
  MachineModel machine;
  auto time = [&](std::optional<int64_t> loopOperations, double bytes) {
    return firstTouchNanoseconds(inBlock(machine, 0, loopOperations), bytes);
  };
  machine.firstTouchOfSmallPagesNanosecondsPerByte = 3 * machine.firstTouchNanosecondsPerByte;
  double huge = 8 << 20, large = machine.privateCacheBytes * 2,
         small = machine.privateCacheBytes / 2;
  EXPECT_EQ(time({}, huge), huge * machine.firstTouchNanosecondsPerByte);
  EXPECT_EQ(time({}, large), large * machine.firstTouchOfSmallPagesNanosecondsPerByte);
  EXPECT_EQ(time({}, small), 0);
  EXPECT_EQ(time(5, large), 0);
  EXPECT_EQ(time(5000, large), 0);
}

TEST(MachineModel, onlyShortLoopsFindTheirCodeInTheNearestCache) {
  MachineModel machine;
  machine.coldLaunchNanoseconds = machine.launchNanoseconds + 500;
  machine.farLaunchNanoseconds = machine.coldLaunchNanoseconds + 1000;
  auto launch = [&](std::optional<int64_t> loopOperations) {
    return inBlock(machine, 1000, loopOperations).launchNanoseconds - machine.launchNanoseconds;
  };
  EXPECT_EQ(launch(10), 0);
  EXPECT_NEAR(launch(1000), 160, 1e-6) << "it is in the private cache";
  EXPECT_EQ(launch(1000), launch(2000));
  EXPECT_NEAR(launch({}), 1400, 1e-6) << "it was never executed";
}

TEST(MachineModel, launchesTakeLongerTheFartherTheirCodeIs) {
  MachineModel machine;
  machine.coldLaunchNanoseconds = machine.launchNanoseconds + 500;
  machine.farLaunchNanoseconds = machine.launchNanoseconds + 3000;
  machine.farArrayNanoseconds = 200;
  auto launch = [&](double touched) {
    return inBlock(machine, touched, 10).launchNanoseconds - machine.launchNanoseconds;
  };
  EXPECT_EQ(launch(machine.privateCacheBytes / 2), 0);
  // Operators have some of what they need in common, which the one before has just used.
  double cold = launch(machine.privateCacheBytes * 2), far = launch(machine.sharedCacheBytes * 2);
  EXPECT_NEAR(cold, 400, 1e-6);
  EXPECT_NEAR(far, 2900, 1e-6);
  EXPECT_EQ(inBlock(machine, machine.privateCacheBytes * 2, 10).arrayNanoseconds, 0);
  EXPECT_EQ(inBlock(machine, machine.sharedCacheBytes * 2, 10).arrayNanoseconds, 200);
}

TEST(MachineModel, moreWorkNeverTakesLess) {
  MachineModel machine = unevenMachine();
  double before = 0;
  for (double bytes = 1000; bytes < 1e9; bytes *= 1.1) {
    double now = nanoseconds(machine, {.readBytes = bytes, .writtenBytes = bytes / 3});
    EXPECT_GT(now, before);
    before = now;
  }
}

TEST(MachineModel, gathersCostByWhereTheArrayIs) {
  MachineModel machine;
  machine.privateGatherNanoseconds = 0.5;
  EXPECT_EQ(gatherNanoseconds(machine, machine.nearestCacheBytes), 0);
  EXPECT_EQ(gatherNanoseconds(machine, machine.privateCacheBytes / 2), 0.5);
  EXPECT_EQ(gatherNanoseconds(machine, 2 * machine.privateCacheBytes),
            0.25 * 0.5 + 0.75 * machine.gatherNanoseconds)
      << "a quarter is in half of the private cache";
}

TEST(MachineModel, gathersOfRowsCostLessForEachNextLine) {
  MachineModel machine;
  machine.nextLineNanoseconds = 0.25;
  double line = machine.cacheLineBytes, far = machine.sharedCacheBytes * 2;
  EXPECT_EQ(gatherRowNanoseconds(machine, far, line / 2), machine.gatherNanoseconds);
  EXPECT_EQ(gatherRowNanoseconds(machine, far, 5 * line), machine.gatherNanoseconds + 1);
  EXPECT_EQ(gatherRowNanoseconds(machine, machine.nearestCacheBytes, 5 * line), 0);
}

TEST(MachineModel, costsOfCellsAreReadAndWritten) {
  MachineModel machine;
  auto exp = static_cast<size_t>(UnaryOperator::Exp);
  machine.cells.unary[exp] = {17, 5};
  EXPECT_EQ(parseMachineModel(toJson(machine), "model.json"), machine);
  std::string text = toJson(MachineModel());
  text.replace(text.find("\"exp\""), 5, "\"ex\"");
  EXPECT_NE(messageOfParsing(text).find("unknown operator \"ex\""), std::string::npos);
  EXPECT_EQ(fasterOf(machine, MachineModel()).cells.unary[exp], (CellCost{12, 5}));
}

TEST(MachineModel, leastPartsAreNotThoseOfASmallerOperator) {
  MachineModel machine;
  Work part{.readBytes = machine.nearestCacheBytes / 2};
  double far = machine.sharedCacheBytes * 2;
  EXPECT_LT(leastPartsOf(machine, part, 0).moving, leastPartsOf(machine, part, far).moving);
  EXPECT_EQ(leastPartsOf(machine, part, 0).moving, partsOf(machine, part).moving);
}

TEST(MachineModel, leastPartsAreNeverMore) {
  // Also where something farther away is faster.
  MachineModel machine = unevenMachine();
  machine.sharedReadBytesPerNanosecond = 8;
  for (double bytes : {1e3, 1e5, 1e6, 1e7, 1e8})
    for (double flops : {0.0, 1e5, 1e9})
      for (double more : {0.0, 1e4, 1e6, 1e8}) {
        Work part{.readBytes = bytes, .flops = flops}, whole = part;
        whole +=
            {.readBytes = more, .writtenBytes = bytes, .flops = 1e4, .overhead = 3, .waiting = 4};
        Parts all = partsOf(machine, whole);
        for (double operatorBytes : {0.0, whole.bytes()}) {
          Parts least = leastPartsOf(machine, part, operatorBytes);
          EXPECT_LE(least.moving, all.moving);
          EXPECT_LE(least.computing, all.computing);
          EXPECT_LE(least.overhead, all.overhead);
        }
        EXPECT_DOUBLE_EQ(machine.launchNanoseconds + all.total(), nanoseconds(machine, whole));
      }
}
