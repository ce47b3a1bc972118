// Whether a running program is to stop: all of the process, as the user asked, or one call alone, as what it
// calls asked. Loops over instructions, tiles and lines check it regularly, at the cost of two loads.
//
//   requestInterrupt();        // async-signal-safe; for all
//   InterruptibleCall call;    // of this thread, until the end of the block
//   InterruptibleCall::current()->stop(nullptr); // on this thread, or on one with a WorkFor of the call
//   checkInterrupt();          // throws Error(..., ErrorKind::Interrupted)
#ifndef TOKAMAK_BASE_INTERRUPT_H
#define TOKAMAK_BASE_INTERRUPT_H

#include "base/Error.h"

#include <atomic>
#include <utility>

namespace tokamak {

class InterruptibleCall;

namespace detail {
inline std::atomic<bool> isInterruptRequested = false;
static_assert(std::atomic<bool>::is_always_lock_free); // required in signal handlers
inline constinit thread_local InterruptibleCall *currentCall = nullptr;
} // namespace detail

// This thread works for a call, which may be null, that another one has made.
class WorkFor {
public:
  explicit WorkFor(InterruptibleCall *call) : outer_(std::exchange(detail::currentCall, call)) {}
  ~WorkFor() { detail::currentCall = outer_; }
  WorkFor(const WorkFor &) = delete;
  WorkFor &operator=(const WorkFor &) = delete;

private:
  InterruptibleCall *outer_;
};

inline void requestInterrupt() { detail::isInterruptRequested.store(true); }
// Call when the interrupted program has stopped, before the next one runs.
inline void clearInterrupt() { detail::isInterruptRequested.store(false); }

// A call that can be stopped alone. Until it ends the thread works for no other one. What the user asked ends with the calls
// that have seen it.
class InterruptibleCall {
public:
  InterruptibleCall() : work_(this) { running_.fetch_add(1); }
  ~InterruptibleCall() {
    if (running_.fetch_sub(1) == 1)
      clearInterrupt();
  }
  InterruptibleCall(const InterruptibleCall &) = delete;
  InterruptibleCall &operator=(const InterruptibleCall &) = delete;
  // That which this thread works for, or null.
  static InterruptibleCall *current() { return detail::currentCall; }

  // Any thread, while the call runs. False if it is stopped already.
  bool stop(void *cause) {
    if (isClaimed_.exchange(true))
      return false;
    cause_ = cause;
    isStopped_.store(true, std::memory_order_release);
    return true;
  }
  bool isStopped() const { return isStopped_.load(std::memory_order_acquire); }
  void *cause() const { return isStopped() ? cause_ : nullptr; }

private:
  static inline std::atomic<int> running_ = 0;
  std::atomic<bool> isClaimed_ = false, isStopped_ = false;
  void *cause_ = nullptr;
  WorkFor work_;
};

inline bool isInterruptRequested() {
  const InterruptibleCall *call = InterruptibleCall::current();
  return detail::isInterruptRequested.load(std::memory_order_relaxed) ||
         (call && call->isStopped());
}

inline void checkInterrupt() {
  if (isInterruptRequested()) [[unlikely]]
    throw Error("interrupted", ErrorKind::Interrupted);
}

} // namespace tokamak
#endif
