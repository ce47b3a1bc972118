#include "runtime/memory/CacheSize.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace tokamak::runtime;

TEST(CacheSizeTest, TheLargestCacheIsTheLast) {
  std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "cache-sizes";
  std::filesystem::remove_all(folder);
  EXPECT_EQ(lastCacheBytes(folder), int64_t{32} << 20) << "nothing is said";
  auto describe = [&](const char *index, const char *size) {
    std::filesystem::create_directories(folder / index);
    std::ofstream(folder / index / "size") << size << "\n";
  };
  describe("index0", "48K");
  describe("index1", "32K");
  EXPECT_EQ(lastCacheBytes(folder), 48 << 10);
  describe("index2", "2M");
  EXPECT_EQ(lastCacheBytes(folder), 2 << 20);
  describe("index3", "unknown");
  EXPECT_EQ(lastCacheBytes(folder), 2 << 20);
}

TEST(CacheSizeTest, ThisMachineHasACache) { EXPECT_GE(lastCacheBytes(), 32 << 10); }
