#include "support/SourceText.h"

#include "base/Error.h"
#include "base/FileReason.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tokamak::support {

std::optional<std::string> readSourceText(const std::string &path, std::string &reason) {
  auto fail = [&](int error) {
    reason = unreadableReason(path, error);
    return std::nullopt;
  };
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail(errno);
  auto closed = llvm::make_scope_exit([file] { close(file); });
  struct stat information{};
  if (fstat(file, &information) != 0)
    return fail(errno);
  // Pipes and devices have no size, so read until end of file. The extra byte lets the first read
  // of a plain file detect its end.
  constexpr size_t smallestStep = size_t{64} << 10;
  auto size = static_cast<size_t>(std::max<off_t>(information.st_size, 0));
  size_t step = std::clamp(size + 1, smallestStep, largestSourceText + 1);
  std::string text;
  size_t used = 0;
  for (;;) {
    text.resize(used + step);
    ssize_t count = read(file, text.data() + used, step);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(errno);
    used += static_cast<size_t>(count);
    if (used > largestSourceText) {
      reason = "it is larger than 256 MiB, more than a script may have";
      return std::nullopt;
    }
    if (count == 0)
      break;
    step = std::max(smallestStep, used);
  }
  text.resize(used);
  return text;
}

std::string readSourceText(const std::string &path) {
  std::string reason;
  std::optional<std::string> text = readSourceText(path, reason);
  if (!text)
    throw Error(fmt::format("can't read '{}': {}", path, reason));
  return std::move(*text);
}

} // namespace tokamak::support
