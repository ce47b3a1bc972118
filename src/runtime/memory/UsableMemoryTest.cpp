#include "runtime/memory/UsableMemory.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tokamak::runtime;

namespace {

// Imitates the kernel's files in a folder of the test.
class Groups {
public:
  Groups() {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~Groups() { std::filesystem::remove_all(root_); }

  void put(const std::string &path, const std::string &text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  std::optional<int64_t> limit() {
    return groupMemoryLimit((root_ / "membership").string(), (root_ / "fs").string());
  }

private:
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("tokamak-groups-" + std::to_string(getpid()));
};

} // namespace

TEST(UsableMemory, theSmallestLimitOfNestedGroupsCounts) {
  Groups groups;
  groups.put("membership", "0::/user.slice/session/job");
  EXPECT_EQ(groups.limit(), std::nullopt);
  groups.put("fs/user.slice/session/job/memory.max", "8000");
  EXPECT_EQ(groups.limit(), 8000);
  groups.put("fs/user.slice/session/memory.max", "max");
  groups.put("fs/user.slice/memory.max", "5000");
  EXPECT_EQ(groups.limit(), 5000);
  groups.put("fs/memory.max", "9000");
  EXPECT_EQ(groups.limit(), 5000);
}

TEST(UsableMemory, containersSeeTheirGroupAtTheRoot) {
  Groups groups;
  groups.put("membership", "0::/../../elsewhere");
  groups.put("fs/memory.max", "7000");
  EXPECT_EQ(groups.limit(), 7000);
}

TEST(UsableMemory, readsTheFirstVersion) {
  Groups groups;
  groups.put("membership", "9:cpu,cpuacct:/a\n5:memory:/a/b\n0::/c");
  groups.put("fs/memory/memory.limit_in_bytes", "9223372036854771712");
  groups.put("fs/memory/a/memory.limit_in_bytes", "3000");
  groups.put("fs/memory/a/b/memory.limit_in_bytes", "4000");
  groups.put("fs/cpu,cpuacct/a/memory.limit_in_bytes", "10");
  EXPECT_EQ(groups.limit(), 3000);
  groups.put("fs/unified/c/memory.max", "2000");
  EXPECT_EQ(groups.limit(), 2000);
}

TEST(UsableMemory, isPositive) { EXPECT_GT(usableMemory(), 0); }
