#include "runtime/io/ChildProcess.h"

#include "base/Error.h"
#include "base/FileReason.h"
#include "base/Interrupt.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tokamak::runtime {
namespace {

void limitSeconds(rlim_t seconds) {
  struct rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min(seconds, limit.rlim_max);
  setrlimit(RLIMIT_CPU, &limit);
}

// A crash of the child is expected: no report, no core, no message of the program's own handlers.
void expectCrashes() {
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGPIPE, SIGXCPU})
    ::signal(signal, SIG_DFL);
  if (::signal(SIGHUP, SIG_DFL) == SIG_IGN)
    ::signal(SIGHUP, SIG_IGN); // nohup
  struct rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  if (int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
    dup2(nowhere, STDERR_FILENO);
}

} // namespace

ChildProcess::ChildProcess(int64_t seconds, const std::function<bool(int pipe)> &body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("no pipe: {}", fileReason(errno)));
  pid_t parent = getpid();
  child_ = fork();
  if (child_ < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw Error(fmt::format("no child process: {}", fileReason(error)));
  }
  if (child_ == 0) {
    close(ends[0]);
    expectCrashes();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) // it has ended already
      _exit(1);
    limitSeconds(static_cast<rlim_t>(seconds));
    _exit(body(ends[1]) ? 0 : 1);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

ChildProcess::~ChildProcess() {
  close(pipe_);
  if (child_ < 0)
    return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool ChildProcess::read(void *bytes, size_t count) {
  auto *to = static_cast<char *>(bytes);
  while (count > 0) {
    checkInterrupt();
    ssize_t size = ::read(pipe_, to, count);
    if (size == 0 || (size < 0 && errno != EINTR)) {
      checkInterrupt(); // what stops this process from the keyboard ends the child, too
      return false;
    }
    to += size < 0 ? 0 : size;
    count -= size < 0 ? 0 : static_cast<size_t>(size);
  }
  return true;
}

bool ChildProcess::succeeded() {
  int status = 0;
  while (waitpid(child_, &status, 0) < 0)
    if (errno != EINTR)
      return false;
  child_ = -1;
  checkInterrupt();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool ChildProcess::writeAll(int pipe, const void *bytes, size_t count) {
  const auto *from = static_cast<const char *>(bytes);
  while (count > 0) {
    ssize_t size = ::write(pipe, from, count);
    if (size < 0 && errno != EINTR)
      return false;
    from += size < 0 ? 0 : size;
    count -= size < 0 ? 0 : static_cast<size_t>(size);
  }
  return true;
}

void ChildProcess::allowSeconds(int64_t seconds) {
  struct rusage used{};
  getrusage(RUSAGE_SELF, &used);
  limitSeconds(static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + seconds));
}

} // namespace tokamak::runtime
