#include "runtime/TileScheduler.h"

#include "base/Interrupt.h"
#include "base/SignalStack.h"
#include "runtime/DeepStack.h"
#include "runtime/parallel/ParallelLibrary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <sched.h>
#include <sys/mman.h>
#include <vector>

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

// The library beside the program; unit tests stand one folder deeper.
void *openParallelLibrary() {
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::filesystem::path &place : {folder, folder.parent_path()})
    if (void *library = dlopen((place / "libtokamak-parallel.so").c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
  throw Error(std::string("running in parallel needs libtokamak-parallel.so beside the program: ") +
              dlerror());
}

// How many of the threads find room for their stacks; under `ulimit -v` it may be none.
int workersWithRoom(int wanted) {
  std::vector<void *> stacks;
  while (stacks.size() < static_cast<size_t>(wanted)) {
    void *stack = mmap(nullptr, deepStackBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
      break;
    stacks.push_back(stack);
  }
  for (void *stack : stacks)
    munmap(stack, deepStackBytes);
  return static_cast<int>(stacks.size());
}

struct ParallelFunctions {
  decltype(&tokamakArenaCreate) create;
  decltype(&tokamakArenaDestroy) destroy;
  decltype(&tokamakArenaForEach) forEach;
};

const ParallelFunctions &parallelFunctions() {
  static const ParallelFunctions functions = [] {
    void *library = openParallelLibrary();
    return ParallelFunctions{
        reinterpret_cast<decltype(&tokamakArenaCreate)>(dlsym(library, "tokamakArenaCreate")),
        reinterpret_cast<decltype(&tokamakArenaDestroy)>(dlsym(library, "tokamakArenaDestroy")),
        reinterpret_cast<decltype(&tokamakArenaForEach)>(dlsym(library, "tokamakArenaForEach"))};
  }();
  return functions;
}

} // namespace

struct Scheduler::Arena {
  explicit Arena(int threads) : threads(threads) {}
  ~Arena() {
    if (arena)
      parallelFunctions().destroy(arena);
  }
  int threads;
  std::once_flag started;
  void *arena = nullptr;

  // Null where there is no memory for another thread.
  void *get() {
    std::call_once(started, [this] {
      if (int workers = workersWithRoom(threads - 1); workers > 0)
        arena = parallelFunctions().create(workers + 1, deepStackBytes);
    });
    return arena;
  }
};

Scheduler::Scheduler(int threads)
    : threads_(threads > 0 ? threads : usableThreads()), arena_(std::make_unique<Arena>(threads_)) {
}
Scheduler::~Scheduler() = default;

void Scheduler::forEach(int64_t count, const std::function<void(int64_t)> &body) {
  void *arena = count > 1 && threads_ > 1 ? arena_->get() : nullptr;
  if (!arena) {
    for (int64_t i = 0; i < count; ++i) {
      checkInterrupt();
      body(i);
    }
    return;
  }
  auto call = [](void *context, int64_t i) {
    provideSignalStack();
    if (!isInterruptRequested())
      (*static_cast<const std::function<void(int64_t)> *>(context))(i);
  };
  void *context = const_cast<std::function<void(int64_t)> *>(&body);
  parallelFunctions().forEach(arena, count, call, context);
  checkInterrupt();
}

} // namespace tokamak::runtime
