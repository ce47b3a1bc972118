#include "base/FileReason.h"

#include "base/NearestNames.h"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace tokamak {
namespace {

namespace filesystem = std::filesystem;

bool canSee(const filesystem::path &path) {
  std::error_code ignored; // a file that can't be inspected is not suggested
  return filesystem::exists(path, ignored);
}

// The first 10,000 names in the folder: a hint is not worth listing millions of files.
std::vector<std::string> someNamesIn(const filesystem::path &folder) {
  constexpr size_t most = 10000;
  std::vector<std::string> names;
  std::error_code ignored;
  filesystem::directory_iterator entry(folder.empty() ? "." : folder, ignored), end;
  for (; !ignored && entry != end && names.size() < most; entry.increment(ignored))
    names.push_back(entry->path().filename().string());
  return names;
}

// The hint appended to "no such file": suggests a path in which the first missing component is
// replaced by a similar name; otherwise names the missing folder.
std::string hint(const filesystem::path &path) {
  filesystem::path found;
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (canSee(found / *part)) {
      found /= *part;
      continue;
    }
    for (const std::string &name : nearestCandidates(part->string(), someNamesIn(found))) {
      filesystem::path meant = found / name;
      for (auto rest = std::next(part); rest != path.end(); ++rest)
        meant /= *rest;
      if (canSee(meant))
        return fmt::format("; did you mean '{}'?", meant.string());
    }
    if (std::next(part) != path.end())
      return fmt::format("; there is no folder '{}'", (found / *part).string());
    break;
  }
  return "";
}

} // namespace

std::string fileReason(int error) {
  switch (error) {
  case ENOENT:
    return "no such file";
  case EISDIR:
    return "it is a folder";
  case ENOTDIR:
    return "a file stands in its path where a folder is needed";
  case EACCES:
  case EPERM:
    return "permission denied";
  case ENOSPC:
    return "no space is left on the device";
  case EFBIG:
    return "the file would be larger than the limit on file sizes (ulimit -f) or the file system "
           "allows";
  default:
    return std::generic_category().message(error);
  }
}

std::string unreadableReason(const std::string &path, int error) {
  return fileReason(error) + (error == ENOENT ? hint(path) : "");
}

} // namespace tokamak
