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
  EXPECT_NE(messageOfParsing("{}").find("\"cacheReadBytesPerNanosecond\""), std::string::npos);
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

TEST(MachineModel, chargesMemoryBeyondTheCache) {
  MachineModel machine;
  double cached = nanoseconds(machine, {.readBytes = 8e6}),
         streamed = nanoseconds(machine, {.readBytes = 80e6});
  EXPECT_DOUBLE_EQ(cached, machine.launchNanoseconds + 8e6 / machine.cacheReadBytesPerNanosecond);
  EXPECT_DOUBLE_EQ(streamed,
                   machine.launchNanoseconds + 80e6 / machine.memoryReadBytesPerNanosecond);
  // Computing overlaps with reading; only the longer of them counts.
  EXPECT_DOUBLE_EQ(nanoseconds(machine, {.readBytes = 80e6, .flops = 1}), streamed);
  EXPECT_GT(nanoseconds(machine, {.readBytes = 80e6, .flops = 1e9}), streamed);
}

TEST(MachineModel, leastPartsAreNeverMore) {
  MachineModel machine;
  for (double bytes : {1e3, 1e6, 1e8})
    for (double flops : {0.0, 1e5, 1e9}) {
      Work part{.readBytes = bytes, .flops = flops}, whole = part;
      whole += {.readBytes = 1e7, .writtenBytes = bytes, .flops = 1e4};
      Parts least = leastPartsOf(machine, part), all = partsOf(machine, whole);
      EXPECT_LE(least.reading, all.reading);
      EXPECT_LE(least.computing, all.computing);
      EXPECT_LE(least.writing, all.writing);
      EXPECT_DOUBLE_EQ(machine.launchNanoseconds + all.total(), nanoseconds(machine, whole));
    }
}
