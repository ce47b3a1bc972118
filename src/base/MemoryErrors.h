// Reports failed allocations as user errors, like allocations beyond the memory budget: a program
// may need more memory than the machine has.
//
//   std::vector<double> cells;
//   withMemoryErrors([&] { cells.resize(int64_t{1} << 50); });   // throws Error
#ifndef TOKAMAK_BASE_MEMORYERRORS_H
#define TOKAMAK_BASE_MEMORYERRORS_H

#include "base/Error.h"

#include <new>
#include <stdexcept>

namespace tokamak {

inline Error refusedMemory() { return Error("out of memory: the system has no more"); }

// Calls action() and returns its result. Throws Error in place of std::bad_alloc, and of
// std::length_error for containers longer than their maximum size.
template <typename Action> decltype(auto) withMemoryErrors(const Action &action) {
  try {
    return action();
  } catch (const std::bad_alloc &) {
    throw refusedMemory();
  } catch (const std::length_error &) {
    throw Error("out of memory: more would be needed than any machine has");
  }
}

} // namespace tokamak
#endif
