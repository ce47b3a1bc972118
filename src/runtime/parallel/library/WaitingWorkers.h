// Workers that wait a while for the next loop before they sleep: waking one takes longer than a small
// operator runs. They are tasks of a oneTBB arena, which end when nothing came.
//
//   auto workers = std::make_shared<WaitingWorkers>(arena, 1, std::chrono::microseconds(100));
//   if (!workers->forEach(count, body, context))
//     ...                                    // in use, or called from one of its own loops
//   workers->end();                          // tasks that have not begun keep it alive
#ifndef TOKAMAK_RUNTIME_PARALLEL_WAITINGWORKERS_H
#define TOKAMAK_RUNTIME_PARALLEL_WAITINGWORKERS_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <tbb/task_arena.h>
#include <vector>

namespace tokamak::runtime {

class WaitingWorkers : public std::enable_shared_from_this<WaitingWorkers> {
public:
  using Body = void (*)(void *context, int64_t i);

  // `arena` must live until end() is called.
  WaitingWorkers(tbb::task_arena &arena, int workers, std::chrono::nanoseconds patience)
      : arena_(arena), patience_(patience), shares_(workers + 1) {}
  void end() { isOver_ = true; }

  // Calls body(context, i) for each i in [0, count), on the calling thread and on the workers. Each begins
  // with its own share of neighbouring numbers, the same in each loop, so that it finds in its caches
  // what it wrote in the loop before. False if another loop is running: then nothing was called.
  bool forEach(int64_t count, Body body, void *context);

private:
  // A loop is open from its publication until its caller has found no more to do. Those that enter it
  // count themselves first, so that either the caller sees them or they see that it is closed.
  void work(size_t worker);
  void wait(size_t worker);
  void wake();

  tbb::task_arena &arena_;
  const std::chrono::nanoseconds patience_;
  std::atomic<bool> isInUse_ = false, isOver_ = false;
  std::atomic<int> inside_ = 0;
  std::atomic<uint64_t> loops_ = 0; // that were published
  std::atomic<bool> isOpen_ = false;
  // Of the open loop.
  struct alignas(64) Share {
    std::atomic<int64_t> next = 0;
    int64_t end = 0;
    std::atomic<bool> hasWorker = false;
  };
  std::vector<Share> shares_; // the first one is the caller's
  Body body_ = nullptr;
  void *context_ = nullptr;
};

} // namespace tokamak::runtime
#endif
