#include "runtime/parallel/ParallelLibrary.h"

#include "runtime/parallel/library/WaitingWorkers.h"

#include <memory>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace {

struct Arena {
  Arena(int threads, size_t stackBytes, int64_t patience)
      : stacks(tbb::global_control::thread_stack_size, stackBytes) {
    // By default oneTBB has at most as many workers as CPUs.
    constexpr auto limit = tbb::global_control::max_allowed_parallelism;
    if (static_cast<size_t>(threads) > tbb::global_control::active_value(limit))
      allowance = std::make_unique<tbb::global_control>(limit, threads);
    arena = std::make_unique<tbb::task_arena>(threads);
    if (patience > 0)
      workers = std::make_shared<tokamak::runtime::WaitingWorkers>(
          *arena, threads - 1, std::chrono::nanoseconds(patience));
  }
  ~Arena() {
    if (workers)
      workers->end();
  }
  tbb::global_control stacks;
  std::unique_ptr<tbb::global_control> allowance;
  std::unique_ptr<tbb::task_arena> arena;
  std::shared_ptr<tokamak::runtime::WaitingWorkers> workers; // null: they don't wait
};

} // namespace

void *tokamakArenaCreate(int threads, size_t stackBytes, int64_t patience) {
  return new Arena(threads, stackBytes, patience);
}

void tokamakArenaDestroy(void *arena) { delete static_cast<Arena *>(arena); }

void tokamakArenaForEach(void *arena, int64_t count, void (*body)(void *, int64_t), void *context) {
  Arena &all = *static_cast<Arena *>(arena);
  if (all.workers && all.workers->forEach(count, body, context))
    return;
  // Isolated: a worker that waits here must not run a task of an outer loop, which might wait for
  // this one in turn.
  all.arena->execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          tbb::blocked_range<int64_t>(0, count, 1),
          [&](const tbb::blocked_range<int64_t> &range) {
            for (int64_t i = range.begin(); i < range.end(); ++i)
              body(context, i);
          },
          tbb::simple_partitioner());
    });
  });
}
