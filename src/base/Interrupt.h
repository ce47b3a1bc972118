// Whether the user asked the running program to stop. Loops over instructions, tiles and lines ask
// now and then, which costs one load; a signal handler sets it.
//
//   requestInterrupt();        // async-signal-safe
//   checkInterrupt();          // throws Error(..., ErrorKind::Interrupted)
#ifndef TOKAMAK_BASE_INTERRUPT_H
#define TOKAMAK_BASE_INTERRUPT_H

#include "base/Error.h"

#include <atomic>

namespace tokamak {

namespace detail {
inline std::atomic<bool> isInterruptRequested = false;
static_assert(std::atomic<bool>::is_always_lock_free); // as signal handlers need it
} // namespace detail

inline void requestInterrupt() { detail::isInterruptRequested.store(true); }
// The request has been answered: the next program runs.
inline void clearInterrupt() { detail::isInterruptRequested.store(false); }

inline bool isInterruptRequested() {
  return detail::isInterruptRequested.load(std::memory_order_relaxed);
}

inline void checkInterrupt() {
  if (isInterruptRequested()) [[unlikely]]
    throw Error("interrupted", ErrorKind::Interrupted);
}

} // namespace tokamak
#endif
