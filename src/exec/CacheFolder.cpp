#include "exec/CacheFolder.h"

#include "base/LoadedModule.h"
#include "codegen/target/Target.h"
#include "cost/ModelFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace tokamak;
using namespace tokamak::exec;
namespace fs = std::filesystem;

//===- files ---------------------------------------------------------------------------------===//

namespace {

// Of a file: these numbers, the key, the bytes.
struct Header {
  char magic[8] = {'t', 'o', 'k', 'c', 'a', 'c', 'h', '1'};
  uint64_t keySize = 0, byteCount = 0;
  uint64_t checkSum = 0; // of key and bytes
};

uint64_t checkSumOf(std::string_view text) {
  return llvm::xxh3_64bits(llvm::StringRef(text.data(), text.size()));
}

class OpenFile {
public:
  // Doesn't wait for the other end of what may be a pipe.
  OpenFile(const std::string &path, int flags)
      : file_(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0600)) {}
  ~OpenFile() {
    if (file_ >= 0)
      close(file_);
  }
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;

  explicit operator bool() const { return file_ >= 0; }
  int number() const { return file_; }

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR)
        return false;
      bytes.remove_prefix(std::max<ssize_t>(written, 0));
    }
    return true;
  }

  std::optional<std::string> readAll() const {
    struct stat status{};
    if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode))
      return {};
    std::string text(status.st_size, '\0');
    size_t size = 0;
    while (size < text.size()) {
      ssize_t count = ::read(file_, text.data() + size, text.size() - size);
      if (count == 0 || (count < 0 && errno != EINTR))
        return {};
      size += std::max<ssize_t>(count, 0);
    }
    return text;
  }

private:
  int file_;
};

constexpr std::string_view temporaryEnding = ".new";

} // namespace

CacheFolder::CacheFolder(std::string folder, int64_t capacity)
    : folder_(std::move(folder)), capacity_(capacity) {
  if (folder_.empty())
    return;
  std::error_code error;
  if (fs::path parent = fs::path(folder_).parent_path(); !parent.empty())
    fs::create_directories(parent, error);
  mkdir(folder_.c_str(), 0700);
  struct stat status{};
  isUsable_ = stat(folder_.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
              status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string CacheFolder::pathOf(std::string_view key) const {
  return folder_ + "/" + llvm::utohexstr(checkSumOf(key), /*LowerCase=*/true, /*Width=*/16);
}

std::optional<std::string> CacheFolder::find(std::string_view key) const {
  if (!isUsable_)
    return {};
  OpenFile file(pathOf(key), O_RDONLY);
  std::optional<std::string> text = file ? file.readAll() : std::nullopt;
  Header header, expected;
  if (!text || text->size() < sizeof header)
    return {};
  std::memcpy(&header, text->data(), sizeof header);
  std::string_view rest = std::string_view(*text).substr(sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.keySize != key.size() || header.byteCount != rest.size() - key.size() ||
      !rest.starts_with(key) || header.checkSum != checkSumOf(rest))
    return {};
  futimens(file.number(), nullptr);           // used now
  text->erase(0, sizeof header + key.size()); // in place: a large record is not copied
  return text;
}

void CacheFolder::keep(std::string_view key, std::string_view bytes) const {
  if (!isUsable_)
    return;
  static std::atomic<int> serial = 0;
  std::string path = pathOf(key);
  std::string temporary = path + "." + std::to_string(getpid()) + "-" + std::to_string(++serial) +
                          std::string(temporaryEnding);
  std::string text = std::string(key) + std::string(bytes);
  Header header;
  header.keySize = key.size();
  header.byteCount = bytes.size();
  header.checkSum = checkSumOf(text);
  bool isWritten = false;
  if (OpenFile file(temporary, O_WRONLY | O_CREAT | O_EXCL); file)
    isWritten =
        file.write({reinterpret_cast<const char *>(&header), sizeof header}) && file.write(text);
  if (!isWritten || rename(temporary.c_str(), path.c_str()) != 0)
    unlink(temporary.c_str());
  constexpr uint64_t recordsPerShrinking = 64;
  if (header.checkSum % recordsPerShrinking == 0)
    shrink();
}

void CacheFolder::shrink() const {
  struct Record {
    fs::file_time_type used;
    int64_t size;
    fs::path path;
  };
  std::vector<Record> records;
  int64_t total = 0;
  std::error_code error;
  auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone; // another process may remove files, too
    Record record{entry->last_write_time(gone), static_cast<int64_t>(entry->file_size(gone)),
                  entry->path()};
    if (gone)
      continue;
    // Left by a process that was killed.
    if (record.path.extension() == temporaryEnding && now - record.used > std::chrono::hours(1))
      fs::remove(record.path, gone);
    total += record.size;
    records.push_back(std::move(record));
  }
  if (total <= capacity_)
    return;
  std::sort(records.begin(), records.end(),
            [](const Record &a, const Record &b) { return a.used < b.used; });
  // Some room, so that not every record makes room for the next one.
  for (const Record &record : records) {
    if (total <= capacity_ / 4 * 3)
      return;
    fs::remove(record.path, error);
    total -= record.size;
  }
}

//===- where, and by which compiler ----------------------------------------------------------===//

std::string exec::userCacheFolder() {
  std::optional<std::string> model = cost::machineModelPath();
  return model ? fs::path(*model).parent_path() / "compiled" : "";
}

// The build identification that the linker wrote into the program or library that has this function:
// the note NT_GNU_BUILD_ID of ELF. Empty if there is none.
static std::string buildIdentification() {
  std::string found;
  visitModuleOf(
      reinterpret_cast<const void *>(&buildIdentification), [&](const dl_phdr_info &module) {
        for (const auto &segment : llvm::ArrayRef(module.dlpi_phdr, module.dlpi_phnum)) {
          if (segment.p_type != PT_NOTE)
            continue;
          const char *next = reinterpret_cast<const char *>(module.dlpi_addr + segment.p_vaddr);
          const char *end = next + segment.p_memsz;
          while (next + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            std::memcpy(&note, next, sizeof note);
            const char *name = next + sizeof note;
            const char *bytes = name + llvm::alignTo(note.n_namesz, 4);
            if (note.n_type == NT_GNU_BUILD_ID &&
                std::string_view(name, note.n_namesz) == std::string_view("GNU\0", 4))
              found = llvm::toHex(llvm::StringRef(bytes, note.n_descsz));
            next = bytes + llvm::alignTo(note.n_descsz, 4);
          }
        }
      });
  return found;
}

const std::string &exec::compilerVersion() {
  static const std::string version = [] {
    std::string build = buildIdentification();
    const codegen::Target &target = codegen::hostTarget();
    return build.empty() ? "" : build + " " + target.cpu + " " + target.features + "\n";
  }();
  return version;
}
