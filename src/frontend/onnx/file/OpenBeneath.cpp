#include "frontend/onnx/file/OpenBeneath.h"

#include "base/Error.h"
#include "base/FileReason.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace tokamak::onnx {
namespace {

// O_NONBLOCK: opening a pipe would wait for someone to write to it.
constexpr int readFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;

// Throws Error if the text alone says that the file is elsewhere.
std::vector<std::string> componentsOf(const std::string &location) {
  if (location.empty())
    throw Error("its location is empty");
  if (location.find('\0') != std::string::npos)
    throw Error("its location has a zero byte");
  if (location.front() == '/')
    throw Error("its location is an absolute path, but must lie beneath the model's folder");
  std::vector<std::string> components;
  for (size_t begin = 0; begin <= location.size();) {
    size_t end = std::min(location.find('/', begin), location.size());
    std::string component = location.substr(begin, end - begin);
    if (component == "..")
      throw Error("its location has a '..', but must lie beneath the model's folder");
    if (!component.empty() && component != ".")
      components.push_back(std::move(component));
    begin = end + 1;
  }
  if (components.empty())
    throw Error("its location is a folder");
  return components;
}

int openByKernel(int folder, const std::string &location) {
  open_how how{};
  how.flags = readFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, folder, location.c_str(), &how, sizeof(how)));
}

int openByFolders(int folder, const std::vector<std::string> &components) {
  int current = folder;
  for (size_t i = 0; i < components.size(); ++i) {
    bool isLast = i + 1 == components.size();
    int next = openat(current, components[i].c_str(),
                      isLast ? readFlags : O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int error = errno;
    // Of a link to a folder O_DIRECTORY says that it is none.
    struct stat information{};
    if (next < 0 && error == ENOTDIR &&
        fstatat(current, components[i].c_str(), &information, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(information.st_mode))
      error = ELOOP;
    if (current != folder)
      close(current);
    errno = error;
    if (next < 0)
      return -1;
    current = next;
  }
  return current;
}

} // namespace

int openBeneath(int folder, const std::string &location, PathWalk walk) {
  std::vector<std::string> components = componentsOf(location);
  int descriptor = -1;
  if (walk == PathWalk::Kernel)
    descriptor = openByKernel(folder, location);
  // Older kernels say ENOSYS, sandboxes that don't know the call EPERM.
  if (walk == PathWalk::Folders || (descriptor < 0 && (errno == ENOSYS || errno == EPERM)))
    descriptor = openByFolders(folder, components);
  if (descriptor < 0)
    throw Error(errno == ELOOP ? "a symbolic link leads to it" : fileReason(errno));
  struct stat information{};
  std::string problem;
  if (fstat(descriptor, &information) != 0)
    problem = fileReason(errno);
  else if (S_ISDIR(information.st_mode))
    problem = fileReason(EISDIR);
  else if (!S_ISREG(information.st_mode))
    problem = "it is no regular file";
  else if (information.st_nlink != 1)
    problem = fmt::format("it has {} names (hard links), but must have one",
                          static_cast<uint64_t>(information.st_nlink));
  if (!problem.empty()) {
    close(descriptor);
    throw Error(problem);
  }
  return descriptor;
}

} // namespace tokamak::onnx
