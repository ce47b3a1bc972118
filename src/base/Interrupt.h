// Whether the user asked the running program to stop. A signal handler sets the flag; loops over
// instructions, tiles and lines check it regularly, at the cost of one load.
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
static_assert(std::atomic<bool>::is_always_lock_free); // required in signal handlers
} // namespace detail

inline void requestInterrupt() { detail::isInterruptRequested.store(true); }
// Call when the interrupted program has stopped, before the next one runs.
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
