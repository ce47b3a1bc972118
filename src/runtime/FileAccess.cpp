#include "runtime/FileAccess.h"

#include "base/Error.h"
#include "base/Interrupt.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tokamak::runtime {

static std::string reason(int error) {
  return error == ENOENT ? "no such file" : std::generic_category().message(error);
}

MappedFile::MappedFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat information{};
  int error = file < 0 || fstat(file, &information) != 0 ? errno : 0;
  if (error == 0 && !S_ISREG(information.st_mode))
    error = S_ISDIR(information.st_mode) ? EISDIR : EINVAL;
  void *mapping = nullptr;
  auto size = static_cast<size_t>(information.st_size);
  if (error == 0 && size > 0) {
    mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    error = mapping == MAP_FAILED ? errno : 0;
  }
  if (file >= 0)
    close(file);
  if (error != 0)
    throw Error(fmt::format("{}: {}", path, reason(error)));
  if (mapping) {
    madvise(mapping, size, MADV_WILLNEED);
    bytes_ = {static_cast<const char *>(mapping), size};
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    munmap(const_cast<char *>(bytes_.data()), bytes_.size());
}

// A file without a name vanishes with the process, however that ends. Where the file system has no
// such files, the temporary name is there from the beginning.
FileWriter::FileWriter(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.part-{}", path_, getpid())) {
  std::error_code ignored; // opening the file tells what is wrong
  std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (folder.empty())
    folder = ".";
  std::filesystem::create_directories(folder, ignored);
  constexpr mode_t everyone = 0666; // less the user's umask
  file_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, everyone);
  if (file_ < 0) {
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone);
    if (file_ < 0)
      fail(errno);
    isNamed_ = true;
  }
}

FileWriter::~FileWriter() {
  if (file_ >= 0)
    close(file_);
  if (isNamed_)
    unlink(temporary_.c_str());
}

void FileWriter::fail(int error) const {
  throw Error(fmt::format("{}: cannot be written: {}", path_, reason(error)));
}

void FileWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    checkInterrupt();
    ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      fail(errno);
    bytes.remove_prefix(count < 0 ? 0 : static_cast<size_t>(count));
  }
}

void FileWriter::prepare() {
  if (file_ < 0)
    return;
  if (!isNamed_) {
    unlink(temporary_.c_str()); // of a process of the same number that was killed
    std::string descriptor = fmt::format("/proc/self/fd/{}", file_);
    if (linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
      fail(errno);
    isNamed_ = true;
  }
  int file = std::exchange(file_, -1);
  if (close(file) != 0)
    fail(errno);
}

void FileWriter::commit() {
  prepare();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(errno);
  isNamed_ = false;
}

void replaceFolder(const std::string &temporary, const std::string &path) {
  // Exchanged, both are whole at any moment; the old one then has the temporary name.
  if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
    std::filesystem::remove_all(temporary);
    return;
  }
  std::filesystem::remove_all(path);
  std::filesystem::rename(temporary, path);
}

} // namespace tokamak::runtime
