#include "runtime/io/FileWriter.h"

#include "base/Error.h"
#include "base/FileReason.h"
#include "base/Interrupt.h"
#include "base/PendingMetadata.h"
#include "runtime/io/Gzip.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tokamak::runtime {
namespace {

constexpr mode_t everyone = 0666, everyoneEnters = 0777; // restricted by the user's umask
constexpr mode_t permissions = 07777;

std::string folderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A name that no other process (by the process id) and no other thread (by the counter) uses. Files
// of a dead process with the same id may still exist: callers retry.
std::string newTemporary(const std::string &folder) {
  static std::atomic<uint64_t> count = 0;
  return fmt::format("{}/{}{}-{}", folder, temporaryPrefix, getpid(), ++count);
}

bool isSame(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether the open file still has this name.
bool hasName(int file, const std::string &name) {
  struct stat opened{}, named{};
  return fstat(file, &opened) == 0 && lstat(name.c_str(), &named) == 0 && isSame(opened, named);
}

// The lock on a temporary file shows that its owner is alive: the system releases it when the
// process ends. On file systems without locks no temporary counts as abandoned.
bool lockAtOnce(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

void syncFolder(const std::string &folder) {
  int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return; // the folder may be writable, but not readable
  fsync(file);
  close(file);
}

// While this object exists, no other process renames data and metadata in the folder.
// The owner removes the lock file before unlocking it; a process that then locks the
// removed file tries again.
class FolderLock {
public:
  explicit FolderLock(const std::string &folder)
      : name_(fmt::format("{}/{}lock", folder, temporaryPrefix)) {
    for (;;) {
      file_ = open(name_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, everyone);
      if (file_ < 0) // belongs to another user, in a folder with restricted deletion
        return;
      while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
      if (hasName(file_, name_))
        return;
      close(file_);
    }
  }
  ~FolderLock() {
    if (file_ < 0)
      return;
    unlink(name_.c_str());
    close(file_);
  }
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  std::string name_;
  int file_ = -1;
};

// Completes or removes abandoned metadata: if their data have been renamed to their path, renames
// the metadata to .mtd; otherwise they will never be needed.
void finishMetadata(const std::string &folder, const std::string &pending) {
  FolderLock lock(folder);
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string path = entry.path().string();
    struct stat data{};
    bool tookPlace = !entry.path().filename().string().starts_with(temporaryPrefix);
    if (!tookPlace || stat(path.c_str(), &data) != 0 || pendingMetadataPath(path, data) != pending)
      continue;
    std::string metadata = path + ".mtd";
    if (std::filesystem::file_size(pending, ignored) > 0)
      ::rename(pending.c_str(), metadata.c_str());
    else
      unlink(metadata.c_str());
    break;
  }
  unlink(pending.c_str());
}

void tidyOnce(const std::string &folder) {
  static std::mutex mutex;
  static std::set<std::pair<dev_t, ino_t>> tidied;
  struct stat status{};
  if (stat(folder.c_str(), &status) != 0)
    return;
  std::lock_guard lock(mutex);
  if (tidied.emplace(status.st_dev, status.st_ino).second)
    tidyFolder(folder);
}

} // namespace

void tidyFolder(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(temporaryPrefix))
      names.push_back(entry.path().string());
  for (const std::string &name : names) {
    int file = open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
      continue;
    bool isAbandoned = lockAtOnce(file) && hasName(file, name);
    if (isAbandoned && name.ends_with(".mtd"))
      finishMetadata(folder, name);
    else if (isAbandoned)
      std::filesystem::remove_all(name, ignored);
    close(file);
  }
}

Replacement::Replacement(std::string path, Kind kind)
    : path_(std::move(path)), kind_(kind), target_(path_) {
  findTarget();
  if (isStream_) {
    file_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0)
      fail(errno);
    return;
  }
  std::string folder = folderOf(target_);
  std::error_code ignored; // opening the file reports the error
  std::filesystem::create_directories(folder, ignored);
  tidyOnce(folder);
  if (kind == Kind::File)
    openTemporary();
  else
    makeFolder();
}

Replacement::~Replacement() {
  std::error_code ignored;
  if (!temporary_.empty())
    std::filesystem::remove_all(temporary_, ignored);
  if (file_ >= 0)
    close(file_);
}

void Replacement::fail(int error) const { fail(fileReason(error)); }

void Replacement::fail(const std::string &reason) const {
  throw Error(fmt::format("{}: cannot be written: {}", path_, reason));
}

void Replacement::findTarget() {
  struct stat status{}, link{}, output{};
  if (stat(path_.c_str(), &status) != 0) {
    if (errno != ENOENT)
      fail(errno);
    if (lstat(path_.c_str(), &link) == 0)
      fail("it is a symbolic link to something that does not exist");
    return;
  }
  bool isFolder = S_ISDIR(status.st_mode);
  isStream_ = !isFolder && !S_ISREG(status.st_mode);
  if (isFolder && kind_ == Kind::File)
    fail(EISDIR);
  if (!isFolder && kind_ == Kind::Folder)
    fail("it exists and is no folder, as which a list is written");
  if (isStream_)
    return;
  // A new file of this name would lack what is printed later.
  if (fstat(STDOUT_FILENO, &output) == 0 && isSame(status, output))
    fail("the standard output goes there");
  std::error_code error;
  if (lstat(path_.c_str(), &link) == 0 && S_ISLNK(link.st_mode))
    target_ = std::filesystem::canonical(path_, error).string();
  if (error)
    fail(error.value());
  if (faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)
    fail(errno);
  isOld_ = true;
  owner_ = status.st_uid;
  group_ = status.st_gid;
  mode_ = status.st_mode & permissions;
}

// An unnamed file vanishes with the process, however it ends. File systems that don't support it
// get a temporary name from the beginning.
void Replacement::openTemporary() {
  std::string folder = folderOf(target_);
  file_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, everyone);
  if (file_ >= 0) {
    lockAtOnce(file_);
    return;
  }
  for (;;) {
    std::string name = newTemporary(folder);
    file_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everyone);
    if (file_ < 0 && errno == EEXIST)
      continue;
    if (file_ < 0)
      fail(errno);
    // tidyFolder may have removed the file before it was locked.
    lockAtOnce(file_);
    if (hasName(file_, name)) {
      temporary_ = name;
      return;
    }
    close(file_);
  }
}

void Replacement::makeFolder() {
  for (;;) {
    std::string name = newTemporary(folderOf(target_));
    if (mkdir(name.c_str(), everyoneEnters) != 0) {
      if (errno == EEXIST)
        continue;
      fail(errno);
    }
    file_ = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_ < 0) {
      int error = errno;
      rmdir(name.c_str());
      fail(error);
    }
    lockAtOnce(file_);
    if (hasName(file_, name)) {
      temporary_ = name;
      return;
    }
    close(file_);
  }
}

void Replacement::keepOwner() const {
  struct stat status{};
  if (!isOld_ || fstat(file_, &status) != 0)
    return;
  if ((status.st_uid != owner_ || status.st_gid != group_) && fchown(file_, owner_, group_) != 0)
    fail("it belongs to another user or group, which it would not keep; remove it first");
  if (fchmod(file_, mode_) != 0)
    fail(errno);
}

// Gives the temporary file this name; false if the name exists.
bool Replacement::tryName(const std::string &name) {
  std::string descriptor = fmt::format("/proc/self/fd/{}", file_);
  int status = temporary_.empty()
                   ? linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW)
                   : ::rename(temporary_.c_str(), name.c_str());
  if (status != 0 && errno == EEXIST)
    return false;
  if (status != 0)
    fail(errno);
  temporary_ = name;
  return true;
}

void Replacement::sync() const {
  keepOwner();
  if (fsync(file_) != 0)
    fail(errno);
}

// Writes everything to the disk and gives it a temporary name: all steps that can fail happen
// before the path is touched.
void Replacement::finish() {
  sync();
  nameTemporary();
}

void Replacement::nameTemporary() {
  while (temporary_.empty())
    tryName(newTemporary(folderOf(target_)));
}

void Replacement::rename() {
  // The exchange is atomic: both folders always exist, and then the old one has the temporary name.
  // On file systems without exchange the path is missing for a moment.
  if (kind_ == Kind::Folder && isOld_) {
    if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0)
      return;
    std::string old = newTemporary(folderOf(target_));
    if (::rename(target_.c_str(), old.c_str()) != 0 ||
        ::rename(temporary_.c_str(), target_.c_str()) != 0)
      fail(errno);
    temporary_ = old;
    return;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail(errno);
  temporary_.clear();
}

void Replacement::commit() {
  if (isStream_)
    return;
  finish();
  rename();
  syncFolder(folderOf(target_));
}

void Replacement::commit(std::string_view metadata) {
  std::string path = path_ + ".mtd", folder = folderOf(path_);
  struct stat old{}, data{};
  bool hadMetadata = lstat(path.c_str(), &old) == 0;
  if (isStream_ || (metadata.empty() && !hadMetadata)) {
    commit();
    return;
  }
  if (hadMetadata && !S_ISREG(old.st_mode))
    fail(fmt::format("'{}' is no file", path));
  finish();
  FileWriter pending(path);
  pending.write(metadata);
  pending.sync();
  FolderLock lock(folder);
  if (fstat(file_, &data) != 0)
    fail(errno);
  std::string name = pendingMetadataPath(path_, data);
  while (!pending.tryName(name)) // left from former data with the same inode
    unlink(name.c_str());
  syncFolder(folder);
  rename();
  // From here on the new metadata are in effect; keep them even if an error occurs below.
  pending.temporary_.clear();
  int status = metadata.empty() ? unlink(path.c_str()) : ::rename(name.c_str(), path.c_str());
  if (status != 0)
    pending.fail(errno);
  if (metadata.empty())
    unlink(name.c_str());
  syncFolder(folder);
  if (std::string dataFolder = folderOf(target_); dataFolder != folder)
    syncFolder(dataFolder);
}

const std::string &FileWriter::temporaryPath() {
  nameTemporary();
  return temporary_;
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

void FileWriter::writeText(std::string_view text) {
  if (isCompressed() && !text.empty())
    write(gzipMember(text));
  else
    write(text);
}

} // namespace tokamak::runtime
