#include "runtime/parallel/ParallelLibrary.h"

#include <memory>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace {

struct Arena {
  Arena(int threads, size_t stackBytes)
      : stacks(tbb::global_control::thread_stack_size, stackBytes) {
    // By default oneTBB has at most as many workers as CPUs.
    constexpr auto limit = tbb::global_control::max_allowed_parallelism;
    if (static_cast<size_t>(threads) > tbb::global_control::active_value(limit))
      allowance = std::make_unique<tbb::global_control>(limit, threads);
    arena = std::make_unique<tbb::task_arena>(threads);
  }
  tbb::global_control stacks;
  std::unique_ptr<tbb::global_control> allowance;
  std::unique_ptr<tbb::task_arena> arena;
};

} // namespace

void *tokamakArenaCreate(int threads, size_t stackBytes) { return new Arena(threads, stackBytes); }

void tokamakArenaDestroy(void *arena) { delete static_cast<Arena *>(arena); }

void tokamakArenaForEach(void *arena, int64_t count, void (*body)(void *, int64_t), void *context) {
  // Isolated: a worker that waits here must not run a task of an outer loop, which might wait for
  // this one in turn.
  static_cast<Arena *>(arena)->arena->execute([&] {
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
