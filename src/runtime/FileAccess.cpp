#include "runtime/FileAccess.h"

#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tokamak::runtime {

static std::string reason() {
  return errno == ENOENT ? "no such file" : std::generic_category().message(errno);
}

FileContents::FileContents(const std::string &path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    joinParts(path);
  else
    map(path);
}

FileContents::~FileContents() {
  if (mapping_)
    munmap(mapping_, text_.size());
}

void FileContents::map(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat information{};
  if (file < 0 || fstat(file, &information) != 0) {
    std::string why = reason();
    if (file >= 0)
      ::close(file);
    throw Error(fmt::format("{}: {}", path, why));
  }
  auto size = static_cast<size_t>(information.st_size);
  if (size > 0) {
    void *mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    std::string why = reason();
    ::close(file);
    if (mapping == MAP_FAILED)
      throw Error(fmt::format("{}: {}", path, why));
    mapping_ = mapping;
    text_ = {static_cast<const char *>(mapping), size};
    return;
  }
  ::close(file);
}

void FileContents::joinParts(const std::string &folder) {
  std::vector<std::string> parts;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    bool isHidden = name.starts_with(".") || name.starts_with("_") || name.ends_with(".crc");
    if (entry.is_regular_file() && !isHidden)
      parts.push_back(entry.path().string());
  }
  std::sort(parts.begin(), parts.end());
  for (const std::string &part : parts) {
    owned_ += FileContents(part).text();
    if (!owned_.empty() && owned_.back() != '\n')
      owned_ += '\n';
  }
  text_ = owned_;
}

FileWriter::FileWriter(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.part-{}", path_, getpid())) {
  std::error_code ignored; // opening the file tells what is wrong
  if (std::filesystem::path folder = std::filesystem::path(path_).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (!file_)
    fail();
}

FileWriter::~FileWriter() {
  if (file_)
    std::fclose(file_);
  if (!committed_)
    unlink(temporary_.c_str());
}

void FileWriter::fail() const {
  throw Error(fmt::format("{}: cannot be written: {}", path_, reason()));
}

void FileWriter::write(std::string_view text) {
  if (!text.empty() && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
    fail();
}

void FileWriter::close() {
  if (!file_)
    return;
  std::FILE *file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0)
    fail();
}

void FileWriter::commit() {
  close();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail();
  committed_ = true;
}

} // namespace tokamak::runtime
