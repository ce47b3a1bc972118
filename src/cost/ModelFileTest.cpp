#include "cost/ModelFile.h"

#include "base/Error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

using namespace tokamak;
using namespace tokamak::cost;

static std::string temporaryPath(const char *name) { return testing::TempDir() + "/" + name; }

TEST(ModelFile, isWrittenAndRead) {
  MachineModel machine;
  machine.memoryReadBytesPerNanosecond = 17.25;
  std::string path = temporaryPath("new-folder/machine-model.json");
  writeModelFile({machine}, path);
  EXPECT_EQ(readModelFile(path).model, machine);
  EXPECT_FALSE(readModelFile(path).measured);
  Measurement measured{.date = "2026-01-31T14:03:11Z",
                       .processor = "a processor",
                       .threads = 4,
                       .version = 2,
                       .reason = "of a test",
                       .isDisturbed = true,
                       .attempts = 3};
  writeModelFile({machine, measured}, path);
  EXPECT_EQ(readModelFile(path).model, machine);
  EXPECT_EQ(readModelFile(path).measured, measured);
}

TEST(ModelFile, throwsWhereThereIsNone) {
  EXPECT_THROW(readModelFile(temporaryPath("no-such-model.json")), Error);
  EXPECT_THROW(readModelFile(testing::TempDir()), Error);
  std::string pipe = temporaryPath("pipe");
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(readModelFile(pipe), Error); // without blocking
}

TEST(ModelFile, pathFollowsTheEnvironment) {
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(machineModelPath(), "/cache/tokamak/machine-model.json");
  setenv("HOME", "/home/somebody", 1);
  setenv("XDG_CACHE_HOME", "cache", 1); // the folders of a script get no files
  EXPECT_EQ(machineModelPath(), "/home/somebody/.cache/tokamak/machine-model.json");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(machineModelPath(), "/home/somebody/.cache/tokamak/machine-model.json");
}

TEST(ModelFile, processorHasAName) { EXPECT_FALSE(processorName().empty()); }
