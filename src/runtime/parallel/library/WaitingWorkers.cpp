#include "runtime/parallel/library/WaitingWorkers.h"

#include <thread>

namespace tokamak::runtime {
namespace {

thread_local bool isInLoop = false; // the thread is calling the body of a loop

// Lets the processor's other hardware thread, if it has one, go on meanwhile.
void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace

bool WaitingWorkers::forEach(int64_t count, Body body, void *context) {
  if (isInLoop || isInUse_.exchange(true))
    return false;
  body_ = body, context_ = context;
  auto shares = static_cast<int64_t>(shares_.size());
  for (int64_t i = 0; i < shares; ++i) {
    shares_[i].next = count * i / shares;
    shares_[i].end = count * (i + 1) / shares;
  }
  isOpen_ = true;
  ++loops_;
  wake();
  work(0);
  isOpen_ = false;
  // Where it takes long, the processor is left to others.
  constexpr int stepsUntilYield = 2000;
  for (int step = 0; inside_ > 0; ++step)
    step < stepsUntilYield ? pauseBriefly() : std::this_thread::yield();
  isInUse_ = false;
  return true;
}

// First its own share, then what others have not begun.
void WaitingWorkers::work(size_t worker) {
  isInLoop = true;
  for (size_t i = 0; i < shares_.size(); ++i) {
    Share &share = shares_[(worker + i) % shares_.size()];
    for (int64_t next; share.next < share.end && (next = share.next++) < share.end;)
      body_(context_, next);
  }
  isInLoop = false;
}

void WaitingWorkers::wake() {
  for (size_t worker = 1; worker < shares_.size(); ++worker)
    if (!shares_[worker].hasWorker.exchange(true))
      arena_.enqueue([self = shared_from_this(), worker] { self->wait(worker); });
}

void WaitingWorkers::wait(size_t worker) {
  uint64_t seen = 0;
  auto last = std::chrono::steady_clock::now();
  for (int step = 1; !isOver_; ++step) {
    if (isOpen_ && loops_ != seen) {
      ++inside_;
      if (isOpen_) {
        seen = loops_;
        work(worker);
      }
      --inside_;
      last = std::chrono::steady_clock::now();
    }
    pauseBriefly();
    constexpr int stepsUntilLook = 16; // at the clock
    if (step % stepsUntilLook == 0 && std::chrono::steady_clock::now() - last > patience_)
      break;
  }
  shares_[worker].hasWorker = false;
}

} // namespace tokamak::runtime
