#include "frontend/onnx/file/ExternalData.h"

#include "base/Error.h"
#include "base/FileReason.h"
#include "frontend/onnx/file/OpenBeneath.h"
#include "frontend/onnx/file/QuotedName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA1.h"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace tokamak::onnx {
namespace {

struct Entries {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  std::string checksum; // in small letters
};

uint64_t numberIn(const KeyAndValue &entry) {
  uint64_t number = 0;
  const char *end = entry.value.data() + entry.value.size();
  auto [stopped, error] = std::from_chars(entry.value.data(), end, number);
  if (error != std::errc() || stopped != end)
    throw Error(fmt::format("the {} of its external data is {}, but must be a number of bytes",
                            entry.key, quotedName(entry.value)));
  return number;
}

Entries entriesOf(const Tensor &tensor) {
  Entries entries;
  unsigned seen = 0;
  for (const KeyAndValue &entry : tensor.external) {
    constexpr std::string_view keys[] = {"location", "offset", "length", "checksum"};
    auto key = static_cast<unsigned>(std::find(std::begin(keys), std::end(keys), entry.key) - keys);
    if (key < std::size(keys) && (seen & 1U << key) != 0)
      throw Error(fmt::format("its external data has two entries '{}'", entry.key));
    seen |= 1U << key;
    if (entry.key == "location")
      entries.location = entry.value;
    else if (entry.key == "offset")
      entries.offset = numberIn(entry);
    else if (entry.key == "length")
      entries.length = numberIn(entry);
    else if (entry.key == "checksum")
      entries.checksum = llvm::StringRef(entry.value).lower();
  }
  if ((seen & 1U) == 0)
    throw Error("its external data has no entry 'location'");
  return entries;
}

std::string sha1Of(std::string_view bytes) {
  llvm::SHA1 digest;
  digest.update(llvm::StringRef(bytes));
  return llvm::toHex(digest.final(), /*LowerCase=*/true);
}

} // namespace

ExternalData::~ExternalData() {
  if (folder_ >= 0)
    close(folder_);
}

ExternalData::ExternalData(ExternalData &&other) noexcept
    : modelPath_(std::move(other.modelPath_)), folder_(std::exchange(other.folder_, -1)),
      files_(std::move(other.files_)) {}

ExternalData::File &ExternalData::fileAt(const std::string &location) {
  auto found = files_.find(location);
  if (found != files_.end())
    return found->second;
  std::string folder = std::filesystem::path(modelPath_).parent_path().string();
  if (folder_ < 0)
    folder_ = open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0)
    throw Error(fileReason(errno));
  struct Opened {
    int descriptor;
    ~Opened() { close(descriptor); }
  } opened{openBeneath(folder_, location)};
  std::string path = (std::filesystem::path(folder) / location).string();
  return files_.emplace(location, File{MappedFile(opened.descriptor, path), ""}).first->second;
}

std::vector<std::string> ExternalData::paths() const {
  std::vector<std::string> paths;
  for (const auto &[location, file] : files_)
    paths.push_back((std::filesystem::path(modelPath_).parent_path() / location).string());
  return paths;
}

std::string_view ExternalData::bytesOf(const Tensor &tensor) {
  Entries entries = entriesOf(tensor);
  try {
    File &file = fileAt(entries.location);
    std::string_view bytes = file.mapped.bytes();
    if (entries.offset > bytes.size())
      throw Error(fmt::format("its cells begin at byte {}, but the file has {} bytes",
                              entries.offset, bytes.size()));
    uint64_t length = entries.length.value_or(bytes.size() - entries.offset);
    if (length > bytes.size() - entries.offset)
      throw Error(fmt::format("its cells are {} bytes from byte {} on, but the file has {} bytes",
                              length, entries.offset, bytes.size()));
    if (!entries.checksum.empty()) {
      if (file.checksum.empty())
        file.checksum = sha1Of(bytes);
      if (file.checksum != entries.checksum)
        throw Error(fmt::format("its SHA-1 checksum is {}, but the model says {}", file.checksum,
                                quotedName(entries.checksum)));
    }
    return bytes.substr(entries.offset, length);
  } catch (const Error &error) {
    throw Error(fmt::format("external data {}: {}", quotedName(entries.location), error.message()));
  }
}

} // namespace tokamak::onnx
