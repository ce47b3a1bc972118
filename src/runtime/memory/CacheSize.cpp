#include "runtime/memory/CacheSize.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tokamak::runtime {

// Files named size hold a number and its unit, as in 32768K.
int64_t lastCacheBytes(const std::string &folder) {
  int64_t largest = 0;
  std::filesystem::path caches(folder);
  for (int level = 0; std::filesystem::exists(caches / ("index" + std::to_string(level)));
       ++level) {
    std::ifstream text(caches / ("index" + std::to_string(level)) / "size");
    int64_t size = 0;
    char unit = 0;
    if (text >> size >> unit && (unit == 'K' || unit == 'M'))
      largest = std::max(largest, size << (unit == 'K' ? 10 : 20));
  }
  return largest > 0 ? largest : int64_t{32} << 20;
}

int64_t lastCacheBytes() {
  static const int64_t bytes = lastCacheBytes("/sys/devices/system/cpu/cpu0/cache");
  return bytes;
}

} // namespace tokamak::runtime
