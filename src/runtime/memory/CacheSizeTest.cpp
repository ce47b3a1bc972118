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

// A virtual machine with two of a host's many CPUs tells the size of the host's cache.
TEST(CacheSizeTest, ACacheIsSharedWithCpusThatAreNotSeen) {
  std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "shared-caches";
  std::filesystem::remove_all(folder);
  auto describe = [&](const char *size, const char *cpus) {
    std::filesystem::create_directories(folder / "index0");
    std::ofstream(folder / "index0" / "size") << size << "\n";
    std::ofstream(folder / "index0" / "shared_cpu_list") << cpus << "\n";
    return lastCacheBytes(folder) >> 20;
  };
  EXPECT_EQ(describe("491520K", "0-1"), 32);
  EXPECT_EQ(describe("491520K", "0"), 16);
  EXPECT_EQ(describe("98304K", "0-15"), 96);
  EXPECT_EQ(describe("98304K", "0-2,8,10-11"), 96);
  EXPECT_EQ(describe("98304K", "0,8-9"), 48);
}

TEST(CacheSizeTest, ThisMachineHasACache) { EXPECT_GE(lastCacheBytes(), 32 << 10); }
