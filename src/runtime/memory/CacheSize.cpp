#include "runtime/memory/CacheSize.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tokamak::runtime {

// The CPUs in a list such as 0-3,8 that share a cache; 0 if it is none.
static int64_t countCpus(const std::filesystem::path &list) {
  std::ifstream text(list);
  int64_t count = 0, first = 0, last = 0;
  while (text >> first) {
    last = first;
    if (text.peek() == '-')
      text.ignore() >> last;
    count += last - first + 1;
    text.ignore(); // the comma
  }
  return count;
}

// Files named size hold a number and its unit, as in 32768K.
int64_t lastCacheBytes(const std::string &folder) {
  // Of the caches of today's CPUs, per thread of a core that share it: more belongs to CPUs that a
  // virtual machine does not see.
  constexpr int64_t mostOfCpu = int64_t{16} << 20;
  int64_t largest = 0;
  std::filesystem::path caches(folder);
  for (int level = 0; std::filesystem::exists(caches / ("index" + std::to_string(level)));
       ++level) {
    std::filesystem::path cache = caches / ("index" + std::to_string(level));
    std::ifstream text(cache / "size");
    int64_t size = 0, cpus = countCpus(cache / "shared_cpu_list");
    char unit = 0;
    if (text >> size >> unit && (unit == 'K' || unit == 'M')) {
      size <<= unit == 'K' ? 10 : 20;
      largest = std::max(largest, cpus > 0 ? std::min(size, cpus * mostOfCpu) : size);
    }
  }
  return largest > 0 ? largest : int64_t{32} << 20;
}

int64_t lastCacheBytes() {
  static const int64_t bytes = lastCacheBytes("/sys/devices/system/cpu/cpu0/cache");
  return bytes;
}

} // namespace tokamak::runtime
