#include "Interrupts.h"

#include <tokamak.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <unistd.h>

using namespace tokamak;

namespace {

// While functions run in the main thread, Ctrl-C stops them, too; then Python's own handler has its turn.
std::atomic<int> runningInMain = 0;
struct sigaction formerAction;

void onInterrupt(int signal, siginfo_t *info, void *context) {
  if (runningInMain.load() > 0)
    tokamak_interrupt();
  if (formerAction.sa_flags & SA_SIGINFO)
    formerAction.sa_sigaction(signal, info, context);
  else if (formerAction.sa_handler != SIG_DFL && formerAction.sa_handler != SIG_IGN)
    formerAction.sa_handler(signal);
}

bool handlesInterrupts = false;

bool pythonHandlesInterrupts() {
  nb::module_ signals = nb::module_::import_("signal");
  return signals.attr("getsignal")(SIGINT).is(signals.attr("default_int_handler"));
}

// Whoever sets a handler in Python replaces ours: notebooks do it for each cell, and set Python's default. A handler of the user's
// own decides alone what Ctrl-C does. Asking takes as long as a tenth of a small call, and is done only now and then in a loop of calls.
void handleInterruptsAgain() {
  constexpr int64_t pause = 20'000'000; // ns
  static int64_t asked = 0;             // of the main thread
  timespec clock;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &clock);
  int64_t time = clock.tv_sec * 1'000'000'000 + clock.tv_nsec;
  if (!handlesInterrupts || time - asked < pause)
    return;
  asked = time;
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
      now.sa_handler == formerAction.sa_handler && pythonHandlesInterrupts())
    python::handleInterrupts();
}

bool isMainThread() {
  static thread_local const bool isMain = gettid() == getpid();
  return isMain;
}

} // namespace

void python::handleInterrupts() {
  struct sigaction action = {};
  action.sa_sigaction = onInterrupt;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGINT, &action, &formerAction);
  handlesInterrupts = true;
}

python::UnlockedCall::UnlockedCall() {
  if (isMainThread()) {
    handleInterruptsAgain();
    ++runningInMain;
  }
  section_.emplace();
}

python::UnlockedCall::~UnlockedCall() { runningInMain -= isMainThread(); }
