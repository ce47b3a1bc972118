// Holding the interpreter's lock, and not holding it, for a while.
//
//   {
//     WithoutLock section;                    // other threads of Python run meanwhile
//     error = tokamak_program_counts(...);
//   }
//
// Where Python is ending, whoever else asks for the lock waits for ever, as threads do from Python 3.14 on. Before, it unwinds their
// stacks instead (pthread_exit), which aborts the process in the first destructor.
#pragma once

#include <nanobind/nanobind.h>

#include <cxxabi.h>
#include <unistd.h>

namespace tokamak::python {

namespace nb = nanobind;

template <typename Take> auto takeLock(Take take) {
  try {
    return take();
  } catch (const abi::__forced_unwind &) {
    nb::set_leak_warnings(false); // of what this thread holds
    while (true)
      pause();
  }
}

class WithoutLock {
public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() {
    takeLock([&] { PyEval_RestoreThread(state_); });
  }
  WithoutLock(const WithoutLock &) = delete;
  WithoutLock &operator=(const WithoutLock &) = delete;

private:
  PyThreadState *state_;
};

// In any thread.
class WithLock {
public:
  WithLock() : state_(takeLock([] { return PyGILState_Ensure(); })) {}
  ~WithLock() { PyGILState_Release(state_); }
  WithLock(const WithLock &) = delete;
  WithLock &operator=(const WithLock &) = delete;

private:
  PyGILState_STATE state_;
};

} // namespace tokamak::python
