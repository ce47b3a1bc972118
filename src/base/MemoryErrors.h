// What the system refuses is the user's error, as what the memory budget refuses is: a program may
// ask for more than there is.
//
//   withMemoryErrors([&] { native.function(context, operands, results); });
#ifndef TOKAMAK_BASE_MEMORYERRORS_H
#define TOKAMAK_BASE_MEMORYERRORS_H

#include "base/Error.h"

#include <new>
#include <stdexcept>

namespace tokamak {

inline Error refusedMemory() { return Error("out of memory: the system has no more"); }

// Calls action() and gives back what it gives. Throws Error in place of the standard library's
// exceptions for memory that there is not, and for containers that could never be so long.
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
