// Calls of programs, and what stops them: Ctrl-C, and exceptions of what they call, such as the write() of sys.stdout.
//
//   callUnlocked([&] {                               // other threads of Python run meanwhile
//     return tokamak_function_call(..., &results);
//   });                                              // throws what went wrong
#pragma once

#include "InterpreterLock.h"
#include "Values.h"

#include <nanobind/nanobind.h>

#include <memory>

namespace tokamak::python {

// A call that runs.
class RunningCall {
public:
  RunningCall();
  ~RunningCall();
  RunningCall(const RunningCall &) = delete;
  RunningCall &operator=(const RunningCall &) = delete;

  // That of this thread, or the only one there is, as its own threads may print; else null. The interpreter's lock is held.
  static RunningCall *current();

  // Takes Python's exception, which the call ends with. Ended at once it is if no other call runs: those would stop, too.
  void stop();
  bool isStopped() const { return exception_ != nullptr; }

  // While one lives, the interpreter's lock is not held.
  class Unlocked {
  public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

  private:
    WithoutLock section_;
  };

  // Throws the exception that was taken, or what `error` is, and frees it.
  void check(tokamak_error *error);

private:
  PyThreadState *thread_;
  std::unique_ptr<nb::python_error> exception_;
};

template <typename Call> void callUnlocked(Call call) {
  RunningCall running;
  tokamak_error *error;
  {
    RunningCall::Unlocked section;
    error = call();
  }
  running.check(error);
}

// Called by the main thread, while Python handles interrupts itself.
void handleInterrupts();

} // namespace tokamak::python
