#include "runtime/io/InputFile.h"

#include "base/Error.h"
#include "base/FileReason.h"
#include "base/RunInputs.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vector>

namespace tokamak::runtime {

// A mapped file, in a list for the signal handler. The list only grows, so that the handler can
// walk it at any moment; the node of an unmapped file is reused for another file.
struct FileMapping {
  std::atomic<uintptr_t> begin = 0, end = 0;
  std::atomic<bool> isBroken = false;
  FileMapping *next = nullptr;
};

namespace {

std::atomic<FileMapping *> firstMapping = nullptr;
struct sigaction otherHandler = {};

// A page of a mapped file that no longer exists raises SIGBUS. The handler maps zeros from this
// page to the end, so that the reading thread continues, and marks the file as broken.
void onBusError(int signal, siginfo_t *information, void *context) {
  static const auto pageSize = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto address = reinterpret_cast<uintptr_t>(information->si_addr);
  for (FileMapping *mapping = firstMapping; mapping; mapping = mapping->next) {
    uintptr_t end = mapping->end;
    if (address < mapping->begin || address >= end)
      continue;
    mapping->isBroken = true;
    uintptr_t page = address / pageSize * pageSize;
    void *zeros = mmap(reinterpret_cast<void *>(page), end - page, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros != MAP_FAILED)
      return;
  }
  if (otherHandler.sa_flags & SA_SIGINFO) {
    otherHandler.sa_sigaction(signal, information, context);
  } else if (otherHandler.sa_handler != SIG_DFL && otherHandler.sa_handler != SIG_IGN) {
    otherHandler.sa_handler(signal);
  } else { // the access is repeated and then ends the process
    sigaction(signal, &otherHandler, nullptr);
  }
}

// Other handlers of SIGBUS, such as the program tokamak's, must be installed before the first file
// is read; bus errors outside of mapped files are passed to them.
void catchBusErrors() {
  [[maybe_unused]] static const bool once = [] {
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGBUS, &action, &otherHandler) == 0;
  }();
}

std::mutex mutex; // guards unusedMappings and the head of the list
std::vector<FileMapping *> unusedMappings;

FileMapping *watch(const void *bytes, size_t size) {
  catchBusErrors();
  std::lock_guard lock(mutex);
  FileMapping *mapping = nullptr;
  if (unusedMappings.empty()) {
    mapping = new FileMapping();
    mapping->next = firstMapping;
    firstMapping = mapping;
  } else {
    mapping = unusedMappings.back();
    unusedMappings.pop_back();
  }
  mapping->isBroken = false;
  mapping->begin = reinterpret_cast<uintptr_t>(bytes);
  mapping->end = reinterpret_cast<uintptr_t>(bytes) + size;
  return mapping;
}

void stopWatching(FileMapping *mapping) {
  std::lock_guard lock(mutex);
  mapping->end = 0;
  unusedMappings.push_back(mapping);
}

} // namespace

// /dev/null on Linux.
static const dev_t emptyDevice = makedev(1, 3);

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  noteInputFile(path_);
  auto fail = [&](int error) {
    throw Error(fmt::format("{}: {}", path_, unreadableReason(path_, error)));
  };
  int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    fail(errno);
  struct Closed {
    int file;
    ~Closed() { close(file); }
  } closed{file};
  struct stat information{};
  if (fstat(file, &information) != 0)
    fail(errno);
  if (S_ISDIR(information.st_mode))
    fail(EISDIR);
  if (S_ISCHR(information.st_mode) && !isatty(file) && information.st_rdev != emptyDevice)
    throw Error(fmt::format("{}: it is a device, whose bytes may have no end", path_));
  try {
    // Files in /proc are regular files of size 0; those in /sys can't be mapped.
    bool hasSize = S_ISREG(information.st_mode) && information.st_size > 0;
    if (!hasSize || !map(file, static_cast<size_t>(information.st_size)))
      readToEnd(file);
  } catch (const Error &error) {
    throw Error(fmt::format("{}: {}", path_, error.message()));
  }
}

InputFile::~InputFile() {
  if (!mapping_)
    return;
  stopWatching(mapping_);
  munmap(const_cast<char *>(bytes_.data()), bytes_.size());
}

bool InputFile::map(int file, size_t size) {
  void *bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED)
    return false;
  madvise(bytes, size, MADV_WILLNEED);
  bytes_ = {static_cast<const char *>(bytes), size};
  mapping_ = watch(bytes, size);
  return true;
}

void InputFile::readToEnd(int file) {
  constexpr size_t smallest = size_t{1} << 16;
  size_t filled = 0;
  for (size_t capacity = smallest;; capacity *= 2) {
    std::shared_ptr<Buffer> buffer =
        BufferPool::instance().allocate(static_cast<int64_t>(capacity));
    auto *bytes = reinterpret_cast<char *>(buffer->bytes());
    if (filled > 0)
      std::memcpy(bytes, buffer_->bytes(), filled);
    buffer_ = std::move(buffer);
    while (filled < capacity) {
      ssize_t count = read(file, bytes + filled, capacity - filled);
      if (count < 0 && errno != EINTR)
        throw Error(fileReason(errno));
      if (count == 0) {
        bytes_ = {bytes, filled};
        return;
      }
      filled += count < 0 ? 0 : static_cast<size_t>(count);
    }
  }
}

void InputFile::checkWhole() const {
  if (mapping_ && mapping_->isBroken)
    throw Error(fmt::format("{}: its bytes vanished while it was read: the file became shorter, or "
                            "the disk failed",
                            path_));
}

} // namespace tokamak::runtime
