#include "tokamak/CrashSignals.h"

#include "base/SignalStack.h"
#include "tokamak/Commands.h"
#include "tokamak/Reproducer.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ucontext.h>
#include <unistd.h>

namespace tokamak {
namespace {

uintptr_t stackPointerOf(const ucontext_t &context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.sp;
#else
#error "which register of this processor points at the stack?"
#endif
}

// A stack overflow accesses unmapped memory near the stack pointer, or some distance away for a
// large frame.
bool isStackOverflow(int signal, const siginfo_t &information, const ucontext_t &context) {
  constexpr uintptr_t largestFrame = uintptr_t{1} << 20;
  auto address = reinterpret_cast<uintptr_t>(information.si_addr);
  uintptr_t top = stackPointerOf(context);
  return signal == SIGSEGV && information.si_code > 0 && address + largestFrame > top &&
         address < top + largestFrame;
}

const char *describe(int signal, const siginfo_t &information, const ucontext_t &context) {
  if (isStackOverflow(signal, information, context))
    return "the stack has overflowed";
  switch (signal) {
  case SIGSEGV:
    return "invalid access to memory (SIGSEGV)";
  case SIGBUS:
    return "invalid access to memory (SIGBUS)";
  case SIGILL:
    return "invalid instruction (SIGILL)";
  case SIGFPE:
    return "invalid arithmetic (SIGFPE)";
  default:
    return "the program gave up (SIGABRT)";
  }
}

void say(const char *text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0)
    return; // stderr is closed
}

// Uses only async-signal-safe functions: the thread may hold any lock, and the heap may be damaged.
void onCrash(int signal, siginfo_t *information, void *context) {
  // A thread that crashes while another one reports a crash waits for the process to end.
  static std::atomic<pid_t> reporter = 0;
  static_assert(std::atomic<pid_t>::is_always_lock_free);
  pid_t none = 0;
  if (!reporter.compare_exchange_strong(none, gettid())) {
    if (reporter == gettid())
      _exit(InternalFailure);
    for (;;)
      pause();
  }
  const char *failure = describe(signal, *information, *static_cast<ucontext_t *>(context));
  say("tokamak: internal error: ");
  say(failure);
  say("\n");
  writeReproducer(failure);
  _exit(InternalFailure);
}

} // namespace

void reportCrashes() {
  provideSignalStack();
  struct sigaction action = {};
  action.sa_sigaction = onCrash;
  // Handle each signal once: a crash in the handler ends the process.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE})
    sigaction(signal, &action, nullptr);
}

} // namespace tokamak
