#include "cost/MachineModel.h"

#include "base/Error.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace tokamak;
using namespace tokamak::cost;

static std::string temporaryPath(const char *name) { return testing::TempDir() + "/" + name; }

static std::string messageOfLoading(const std::string &text) {
  std::string path = temporaryPath("broken-model.json");
  std::ofstream(path) << text;
  try {
    loadMachineModel(path);
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST(MachineModel, savesAndLoads) {
  MachineModel machine;
  machine.memoryReadBytesPerNanosecond = 17.25;
  std::string path = temporaryPath("new-folder/machine-model.json");
  saveMachineModel(machine, path);
  EXPECT_EQ(loadMachineModel(path), machine);
}

TEST(MachineModel, namesWhatIsWrongWithAFile) {
  EXPECT_NE(messageOfLoading("[1]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(messageOfLoading("{}").find("\"cacheReadBytesPerNanosecond\""), std::string::npos);
  std::string json = toJson(MachineModel());
  std::string unknown = json;
  unknown.insert(1, "\"speed\": 3,");
  EXPECT_NE(messageOfLoading(unknown).find("unknown key \"speed\""), std::string::npos);
  MachineModel still;
  still.flopsPerNanosecond = 0;
  EXPECT_NE(messageOfLoading(toJson(still)).find("must be positive"), std::string::npos);
  EXPECT_THROW(loadMachineModel(temporaryPath("no-such-model.json")), Error);
}

TEST(MachineModel, chargesMemoryBeyondTheCache) {
  MachineModel machine;
  double cached = nanoseconds(machine, {.readBytes = 8e6}),
         streamed = nanoseconds(machine, {.readBytes = 80e6});
  EXPECT_DOUBLE_EQ(cached, machine.launchNanoseconds + 8e6 / machine.cacheReadBytesPerNanosecond);
  EXPECT_DOUBLE_EQ(streamed,
                   machine.launchNanoseconds + 80e6 / machine.memoryReadBytesPerNanosecond);
  // Computing hides behind reading until it takes longer.
  EXPECT_DOUBLE_EQ(nanoseconds(machine, {.readBytes = 80e6, .flops = 1}), streamed);
  EXPECT_GT(nanoseconds(machine, {.readBytes = 80e6, .flops = 1e9}), streamed);
}

TEST(MachineModel, leastTimeIsNeverMore) {
  MachineModel machine;
  for (double bytes : {1e3, 1e6, 1e8})
    for (double flops : {0.0, 1e5, 1e9})
      EXPECT_LE(leastNanoseconds(machine, {.writtenBytes = bytes, .flops = flops}, bytes),
                nanoseconds(machine, {.readBytes = bytes, .writtenBytes = bytes, .flops = flops}));
}

TEST(MachineModel, pathFollowsTheEnvironment) {
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(machineModelPath(), "/cache/tokamak/machine-model.json");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(machineModelPath(), "/home/somebody/.cache/tokamak/machine-model.json");
}

TEST(Calibration, measuresInATenthOfASecond) {
  auto begin = std::chrono::steady_clock::now();
  int launches = 0;
  MachineModel machine = calibrate([&] { ++launches; });
  double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GT(launches, 0);
  EXPECT_GT(machine.cacheReadBytesPerNanosecond, machine.memoryReadBytesPerNanosecond * 0.8);
  EXPECT_GT(machine.flopsPerNanosecond, 0.5);
  EXPECT_GE(machine.firstTouchNanosecondsPerByte, 0);
  // The bound is 100 ms on a machine that does nothing else; a loaded test machine gets more.
  EXPECT_LT(milliseconds, 1000);
  std::printf("%.1f ms\n%s", milliseconds, toJson(machine).c_str());
}
