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

namespace {

// What other files begin with, where no script begins with it.
struct Beginning {
  std::string_view bytes, what;
};
using namespace std::string_view_literals;
constexpr Beginning beginnings[] = {
    {"\x7f"
     "ELF"sv,
     "it looks like a program (ELF)"},
    {"\x1f\x8b"sv, "it looks like a gzip archive"},
    {"PK\3\4"sv, "it looks like a zip archive"},
    {"%PDF-"sv, "it looks like a PDF document"},
    {"\x89PNG"sv, "it looks like a PNG image"},
    {"\xff\xd8\xff"sv, "it looks like a JPEG image"},
    {"\x93NUMPY"sv, "it looks like an array of NumPy"},
    {"\x89HDF"sv, "it looks like an HDF5 file"},
    {"SEQ\6"sv, "it looks like a matrix in the binary format"},
    {"SQLite format 3\0"sv, "it looks like a database of SQLite"},
    {"\xff\xfe"sv, "it looks like text in UTF-16; save it in UTF-8"},
    {"\xfe\xff"sv, "it looks like text in UTF-16; save it in UTF-8"},
};

// How many bytes at the beginning are no characters, or control characters that no text has.
size_t countStrayBytes(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size();) {
    auto first = static_cast<unsigned char>(text[i]);
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    bool isControl = (first < 0x20 && !(first >= '\t' && first <= '\r')) || first == 0x7f;
    bool isCharacter =
        first < 0x80 ? !isControl : length > 1 && first < 0xf5 && i + length <= text.size();
    for (size_t j = 1; isCharacter && j < length; ++j)
      isCharacter = continuesCharacter(text[i + j]);
    count += isCharacter ? 0 : 1;
    i += isCharacter ? length : 1;
  }
  return count;
}

} // namespace

std::optional<std::string> whatIsNoText(std::string_view contents) {
  for (const auto &[bytes, what] : beginnings)
    if (contents.starts_with(bytes))
      return std::string(what);
  constexpr size_t examined = 4096, leastStray = 16, shareOfText = 4;
  std::string_view head = contents.substr(0, examined);
  size_t stray = countStrayBytes(head);
  if (stray >= leastStray && stray * shareOfText > head.size())
    return fmt::format("{} of its first {} bytes are no characters", stray, head.size());
  return std::nullopt;
}

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
