// Runs the tiles of a kernel on the machine's cores. Tile boundaries come from the extents alone
// and partial results merge in a fixed tree, so results do not depend on the number of threads.
//
//   Scheduler scheduler(2);
//   // Tiles run in any order, one at a time on each worker.
//   scheduler.forEach(tileCount, [&](int64_t tile) { ... });
#ifndef TOKAMAK_RUNTIME_TILESCHEDULER_H
#define TOKAMAK_RUNTIME_TILESCHEDULER_H

#include <cstdint>
#include <functional>
#include <memory>

namespace tokamak::runtime {

class Scheduler {
public:
  // threads <= 0: as many as the process may use (CPU affinity and cgroup limits honoured).
  explicit Scheduler(int threads);
  ~Scheduler();
  int threads() const { return threads_; }
  // Calls body(i) for each i in [0, count). Runs inline when count is 1 or there is one thread. The
  // body must not throw. Throws Error(Interrupted) if the user interrupted the program: then some
  // calls were left out.
  void forEach(int64_t count, const std::function<void(int64_t)> &body);

private:
  struct Arena; // oneTBB's, started on first parallel use
  int threads_;
  std::unique_ptr<Arena> arena_;
};

} // namespace tokamak::runtime
#endif
