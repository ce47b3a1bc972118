#include "tokamak/InterruptSignals.h"

#include "base/Interrupt.h"
#include "tokamak/Commands.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace {

// An eventfd to which each signal adds one; the watcher thread waits for it.
int signals = -1;
std::atomic<int> received = 0;

void onInterrupt(int) {
  int error = errno;
  tokamak::requestInterrupt();
  if (received.fetch_add(1) >= 2)
    _exit(tokamak::Interrupted);
  uint64_t one = 1;
  if (write(signals, &one, sizeof one) < 0)
    _exit(tokamak::Interrupted);
  errno = error;
}

// Waits for a signal; false after the time limit, -1 for no limit.
bool waitForSignal(int milliseconds) {
  pollfd event = {signals, POLLIN, 0};
  while (true) {
    int ready = poll(&event, 1, milliseconds);
    if (ready < 0 && errno == EINTR)
      continue;
    uint64_t count;
    return ready > 0 && read(signals, &count, sizeof count) == sizeof count;
  }
}

// Flushes stdout if that does not block: if nobody reads the pipe, the output is lost.
void flushOutputThatIsRead() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  if (poll(&output, 1, 0) > 0)
    std::cout.flush();
}

void abandonAfterGrace() {
  waitForSignal(-1);
  waitForSignal(tokamak::graceMilliseconds);
  flushOutputThatIsRead();
  constexpr const char *message = "tokamak: interrupted\n";
  if (write(STDERR_FILENO, message, std::strlen(message)) < 0)
    _exit(tokamak::Interrupted); // stderr is closed
  _exit(tokamak::Interrupted);
}

} // namespace

void tokamak::stopOnInterrupt() {
  signals = eventfd(0, EFD_CLOEXEC);
  if (signals < 0)
    return; // keep the default handling of signals
  // Block all signals in the watcher thread, so that they are delivered to the threads that run the
  // script.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool isWatched = true;
  try {
    std::thread(abandonAfterGrace).detach();
  } catch (const std::system_error &) {
    isWatched = false; // no memory for the thread's stack
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!isWatched)
    return;
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART; // interrupted reads and writes resume and check soon after
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction earlier = {};
    // nohup lets a program go on where its terminal is gone.
    if (signal == SIGHUP && sigaction(signal, nullptr, &earlier) == 0 &&
        earlier.sa_handler == SIG_IGN)
      continue;
    sigaction(signal, &action, nullptr);
  }
}
