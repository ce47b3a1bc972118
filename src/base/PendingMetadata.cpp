#include "base/PendingMetadata.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace tokamak {

std::string pendingMetadataPath(const std::string &path, const struct stat &data) {
  constexpr uint64_t nanoseconds = 1000000000;
  auto modified = static_cast<uint64_t>(data.st_mtim.tv_sec) * nanoseconds +
                  static_cast<uint64_t>(data.st_mtim.tv_nsec);
  std::string name = fmt::format("{}{:x}-{:x}.mtd", temporaryPrefix, data.st_ino, modified);
  return std::filesystem::path(path).replace_filename(name).string();
}

std::optional<std::string> pendingMetadata(const std::string &path) {
  struct stat data{};
  if (stat(path.c_str(), &data) != 0)
    return std::nullopt;
  std::ifstream file(pendingMetadataPath(path, data), std::ios::binary);
  if (!file)
    return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace tokamak
