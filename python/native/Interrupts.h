// Ctrl-C while a program runs.
//
//   {
//     Unlocked section;                       // other threads of Python run meanwhile; Ctrl-C stops the call
//     error = tokamak_function_call(...);     // TOKAMAK_INTERRUPTED then
//   }
#pragma once

#include <nanobind/nanobind.h>

namespace tokamak::python {

// While one lives, the interpreter's lock is not held.
class Unlocked {
public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;

private:
  PyThreadState *state_;
};

// Called by the main thread, while Python handles interrupts itself.
void handleInterrupts();

} // namespace tokamak::python
