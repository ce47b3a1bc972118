#include "runtime/parallel/TileScheduler.h"

#include "base/BundledLibrary.h"
#include "base/Interrupt.h"
#include "base/SignalStack.h"
#include "runtime/image/DeepStack.h"
#include "runtime/parallel/ParallelLibrary.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <vector>

// Programs that call compiled models have threads of their own (model/WorkerThreads.cpp).
#pragma weak tokamakArenaCreate
#pragma weak tokamakArenaDestroy
#pragma weak tokamakArenaForEach

namespace tokamak::runtime {
namespace {

// The number of CPUs whose time the cgroup grants; 0: no limit.
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

} // namespace

int usableThreads() {
  cpu_set_t set;
  int threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (double limit = cgroupLimit(); limit > 0)
    threads = std::min(threads, static_cast<int>(std::ceil(limit)));
  return std::max(threads, 1);
}

namespace {

bool hasAddressSpace(size_t bytes) {
  void *space = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return space != MAP_FAILED && munmap(space, bytes) == 0;
}

// How many threads can be started beside this one: oneTBB aborts the program where it can start fewer than it wants. Limits of
// address space (`ulimit -v`), of processes and of a container are found by starting so many for a moment, about 20 us each.
int workersThatStart(int wanted) {
  constexpr size_t leftForOthers = size_t{256} << 20; // bytes of addresses
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, deepStackBytes);
  std::mutex areCounted;
  areCounted.lock();
  auto wait = [](void *mutex) -> void * {
    std::lock_guard lock(*static_cast<std::mutex *>(mutex));
    return nullptr;
  };
  std::vector<pthread_t> started;
  pthread_t thread;
  while (started.size() < static_cast<size_t>(wanted) && hasAddressSpace(leftForOthers) &&
         pthread_create(&thread, &attributes, wait, &areCounted) == 0)
    started.push_back(thread);
  int count = static_cast<int>(started.size());
  if (count > 0 && !hasAddressSpace(leftForOthers))
    --count;
  areCounted.unlock();
  for (pthread_t each : started)
    pthread_join(each, nullptr);
  pthread_attr_destroy(&attributes);
  return count;
}

struct ParallelLibrary {
  decltype(&tokamakArenaCreate) create = nullptr;
  decltype(&tokamakArenaDestroy) destroy = nullptr;
  decltype(&tokamakArenaForEach) forEach = nullptr;
  std::string problem; // why the functions are null
};

ParallelLibrary openParallelLibrary() {
  BundledLibrary bundled = openBundledLibrary("libtokamak-parallel.so");
  ParallelLibrary library;
  if (bundled.bind("tokamakArenaCreate", library.create) &&
      bundled.bind("tokamakArenaDestroy", library.destroy) &&
      bundled.bind("tokamakArenaForEach", library.forEach))
    return library;
  if (&tokamakArenaCreate)
    return {&tokamakArenaCreate, &tokamakArenaDestroy, &tokamakArenaForEach, ""};
  ParallelLibrary missing;
  missing.problem =
      (bundled.isThere
           ? "oneTBB can't be loaded; install the Debian package libtbb12 (apt-get install "
             "libtbb12)"
           : "libtokamak-parallel.so is not beside the program, where ./dev build leaves it") +
      bundled.problem;
  return missing;
}

const ParallelLibrary &parallelLibrary() {
  static const ParallelLibrary library = openParallelLibrary();
  return library;
}

// Between loops of a model or a script there are operators that run on one thread.
constexpr int64_t patience = 100'000; // ns

// Exceptions can't pass through the library, which has its own C++ runtime. After a call has
// thrown, later calls are skipped but earlier ones are not, so that the exception reported does not
// depend on timing.
class ThrowingLoop {
public:
  explicit ThrowingLoop(const std::function<void(int64_t)> &body) : body_(body) {}

  void run(int64_t i) {
    WorkFor work(call_);
    if (i > firstFailed_.load() || isInterruptRequested())
      return;
    try {
      body_(i);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (i < firstFailed_.load()) {
        firstFailed_ = i;
        failure_ = std::current_exception();
      }
    }
  }
  void rethrow() {
    if (failure_)
      std::rethrow_exception(failure_);
  }

private:
  const std::function<void(int64_t)> &body_;
  InterruptibleCall *call_ = InterruptibleCall::current();
  std::mutex mutex_;
  std::atomic<int64_t> firstFailed_ = INT64_MAX;
  std::exception_ptr failure_;
};

void warnOnStandardError(const std::string &message) {
  std::fprintf(stderr, "warning: %s\n", message.c_str());
}

} // namespace

std::string parallelLibraryProblem() { return parallelLibrary().problem; }

struct Scheduler::Arena {
  ~Arena() {
    if (arena)
      parallelLibrary().destroy(arena);
  }
  std::once_flag started;
  void *arena = nullptr;
};

Scheduler::Scheduler(int threads, Warning warn)
    : threads_(threads > 0 ? threads : usableThreads()),
      warn_(warn ? std::move(warn) : warnOnStandardError), arena_(std::make_unique<Arena>()) {}
Scheduler::~Scheduler() = default;

void Scheduler::forEach(int64_t count, const std::function<void(int64_t)> &body) {
  if (count > 1 && threads_ > 1)
    std::call_once(arena_->started, [this] {
      const ParallelLibrary &library = parallelLibrary();
      int workers = workersThatStart(threads_ - 1);
      if (!library.problem.empty())
        warn_(fmt::format("one thread instead of {}: {}", threads_.exchange(1), library.problem));
      else if (workers > 0)
        arena_->arena =
            library.create(workers + 1, deepStackBytes, threads_ <= usableThreads() ? patience : 0);
      else
        threads_ = 1;
    });
  if (count <= 1 || threads_ == 1) {
    for (int64_t i = 0; i < count; ++i) {
      checkInterrupt();
      body(i);
    }
    return;
  }
  ThrowingLoop loop(body);
  auto call = [](void *context, int64_t i) {
    provideSignalStack();
    static_cast<ThrowingLoop *>(context)->run(i);
  };
  parallelLibrary().forEach(arena_->arena, count, call, &loop);
  checkInterrupt();
  loop.rethrow();
}

} // namespace tokamak::runtime
