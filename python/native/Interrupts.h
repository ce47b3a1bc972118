// Calls of programs, which Ctrl-C stops.
//
//   callUnlocked([&] {                               // other threads of Python run meanwhile
//     return tokamak_function_call(..., &results);
//   });                                              // throws what went wrong
#pragma once

#include "InterpreterLock.h"
#include "Values.h"

#include <optional>

namespace tokamak::python {

// A call that runs. While one lives, the interpreter's lock is not held.
class UnlockedCall {
public:
  UnlockedCall();
  ~UnlockedCall();
  UnlockedCall(const UnlockedCall &) = delete;
  UnlockedCall &operator=(const UnlockedCall &) = delete;

private:
  std::optional<WithoutLock> section_;
};

template <typename Call> void callUnlocked(Call call) {
  tokamak_error *error;
  {
    UnlockedCall section;
    error = call();
  }
  check(error);
}

// Called by the main thread, while Python handles interrupts itself.
void handleInterrupts();

} // namespace tokamak::python
