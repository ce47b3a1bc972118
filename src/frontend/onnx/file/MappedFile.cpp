#include "frontend/onnx/file/MappedFile.h"

#include "base/Error.h"
#include "base/FileReason.h"
#include "base/RunInputs.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tokamak::onnx {

MappedFile::MappedFile(const std::string &path) {
  noteInputFile(path);
  // O_NONBLOCK: opening a pipe would wait for someone to write to it.
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0)
    throw Error(fmt::format("{}: {}", path, unreadableReason(path, errno)));
  struct Closed {
    int descriptor;
    ~Closed() { close(descriptor); }
  } closed{descriptor};
  map(descriptor, path);
}

MappedFile::MappedFile(int descriptor, const std::string &path) { map(descriptor, path); }

void MappedFile::map(int descriptor, const std::string &path) {
  struct stat information{};
  if (fstat(descriptor, &information) != 0)
    throw Error(fmt::format("{}: {}", path, fileReason(errno)));
  if (S_ISDIR(information.st_mode))
    throw Error(fmt::format("{}: {}", path, fileReason(EISDIR)));
  if (!S_ISREG(information.st_mode))
    throw Error(fmt::format("{}: it is no regular file", path));
  auto size = static_cast<size_t>(information.st_size);
  if (size == 0)
    return;
  void *bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (bytes == MAP_FAILED)
    throw Error(fmt::format("{}: {}", path, fileReason(errno)));
  bytes_ = {static_cast<const char *>(bytes), size};
}

MappedFile::MappedFile(MappedFile &&other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    munmap(const_cast<char *>(bytes_.data()), bytes_.size());
}

} // namespace tokamak::onnx
