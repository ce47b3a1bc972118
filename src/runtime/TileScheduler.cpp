#include "runtime/TileScheduler.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <sched.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace tokamak::runtime {
namespace {

// CPUs' worth of time that the cgroup grants; 0: no limit.
double cgroupLimit() {
  double quota = 0, period = 0;
  if (FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    int read = std::fscanf(file, "%lf %lf", &quota, &period); // "max 100000" reads nothing
    std::fclose(file);
    return read == 2 && period > 0 ? quota / period : 0;
  }
  auto readNumber = [](const char *path) {
    double number = 0;
    if (FILE *file = std::fopen(path, "r")) {
      if (std::fscanf(file, "%lf", &number) != 1)
        number = 0;
      std::fclose(file);
    }
    return number;
  };
  quota = readNumber("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  period = readNumber("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return quota > 0 && period > 0 ? quota / period : 0;
}

int usableThreads() {
  cpu_set_t set;
  int threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (double limit = cgroupLimit(); limit > 0)
    threads = std::min(threads, static_cast<int>(std::ceil(limit)));
  return std::max(threads, 1);
}

} // namespace

struct Scheduler::Arena {
  explicit Arena(int threads) : threads(threads) {}
  int threads;
  std::once_flag started;
  // oneTBB has no more workers than CPUs unless told so.
  std::unique_ptr<tbb::global_control> allowance;
  std::unique_ptr<tbb::task_arena> arena;

  tbb::task_arena &get() {
    std::call_once(started, [this] {
      constexpr auto limit = tbb::global_control::max_allowed_parallelism;
      if (static_cast<size_t>(threads) > tbb::global_control::active_value(limit))
        allowance = std::make_unique<tbb::global_control>(limit, threads);
      arena = std::make_unique<tbb::task_arena>(threads);
    });
    return *arena;
  }
};

Scheduler::Scheduler(int threads)
    : threads_(threads > 0 ? threads : usableThreads()), arena_(std::make_unique<Arena>(threads_)) {
}
Scheduler::~Scheduler() = default;

void Scheduler::forEach(int64_t count, const std::function<void(int64_t)> &body) {
  if (count <= 1 || threads_ == 1) {
    for (int64_t i = 0; i < count; ++i)
      body(i);
    return;
  }
  // Isolated: a worker that waits here must not pick up an outer task, which might wait for this
  // one in turn.
  arena_->get().execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          tbb::blocked_range<int64_t>(0, count, 1),
          [&](const tbb::blocked_range<int64_t> &range) {
            for (int64_t i = range.begin(); i < range.end(); ++i)
              body(i);
          },
          tbb::simple_partitioner());
    });
  });
}

} // namespace tokamak::runtime
