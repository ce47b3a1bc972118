#include "runtime/memory/UsableMemory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unistd.h>

namespace tokamak::runtime {
namespace {

// The limit in the file. Without a limit, version 2 has "max" and version 1 a huge number.
std::optional<int64_t> limitIn(const std::filesystem::path &file) {
  std::ifstream text(file);
  int64_t limit = 0;
  if (text >> limit && limit > 0)
    return limit;
  return std::nullopt;
}

// The smallest limit of the group and all its ancestors. In a container the group's own path may
// not be mounted: only folders that exist count.
std::optional<int64_t> smallestLimit(const std::filesystem::path &mount, std::string_view group,
                                     const char *file) {
  std::optional<int64_t> smallest;
  std::filesystem::path folder = mount;
  auto note = [&] {
    if (std::optional<int64_t> limit = limitIn(folder / file))
      smallest = std::min(smallest.value_or(*limit), *limit);
  };
  note();
  for (const std::filesystem::path &part : std::filesystem::path(group).relative_path()) {
    if (part == "..") // the group is outside of the container's view
      break;
    folder /= part;
    note();
  }
  return smallest;
}

bool hasController(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    size_t end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == wanted)
      return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

} // namespace

std::optional<int64_t> groupMemoryLimit(const std::string &membership, const std::string &root) {
  std::optional<int64_t> smallest;
  auto note = [&](std::optional<int64_t> limit) {
    if (limit)
      smallest = std::min(smallest.value_or(*limit), *limit);
  };
  std::filesystem::path mounts(root);
  // Lines are "0::/group" (version 2) or "5:cpu,memory:/group" (version 1).
  std::ifstream groups(membership);
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos)
      continue;
    std::string_view text = line;
    std::string_view controllers = text.substr(first + 1, second - first - 1);
    std::string_view group = text.substr(second + 1);
    if (controllers.empty()) {
      note(smallestLimit(mounts, group, "memory.max"));
      note(smallestLimit(mounts / "unified", group, "memory.max"));
    } else if (hasController(controllers, "memory")) {
      note(smallestLimit(mounts / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

int64_t usableMemory() {
  int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::optional<int64_t> limit = groupMemoryLimit("/proc/self/cgroup", "/sys/fs/cgroup");
  return std::min(memory, limit.value_or(memory));
}

} // namespace tokamak::runtime
