// Runs the tiles of a kernel on the machine's cores. Tile boundaries do not depend on threads and
// partial results merge in a fixed tree, so results do not depend on the number of threads.
//
//   Scheduler scheduler(2);
//   // Tiles run in any order, one at a time on each worker.
//   scheduler.forEach(tileCount, [&](int64_t tile) { ... });
#ifndef TOKAMAK_RUNTIME_PARALLEL_TILESCHEDULER_H
#define TOKAMAK_RUNTIME_PARALLEL_TILESCHEDULER_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tokamak::runtime {

class Scheduler {
public:
  using Warning = std::function<void(const std::string &)>;
  // threads <= 0: usableThreads(). If oneTBB can't be loaded, everything runs on the calling thread and `warn` is called once; without
  // `warn` the message goes to stderr.
  explicit Scheduler(int threads, Warning warn = {});
  ~Scheduler();
  int threads() const { return threads_; } // 1 if oneTBB or stacks turned out to be unavailable
  // Calls body(i) for each i in [0, count); on the calling thread if count is 1 or there is one
  // thread. If several calls throw, rethrows the exception of the lowest i. Throws
  // Error(Interrupted) if the program is to stop (base/Interrupt.h); then some calls were skipped.
  void forEach(int64_t count, const std::function<void(int64_t)> &body);

private:
  struct Arena; // oneTBB's, started on first parallel use
  std::atomic<int> threads_;
  Warning warn_;
  std::unique_ptr<Arena> arena_;
};

// How many threads the process may use, by CPU affinity and cgroup limits.
int usableThreads();

// Why programs can't run on several threads here: what to install, and each message of the loader.
// Empty if they can. Loads oneTBB.
std::string parallelLibraryProblem();

} // namespace tokamak::runtime
#endif
