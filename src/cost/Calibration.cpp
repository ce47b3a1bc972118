// Measures bandwidths, arithmetic and launches for the machine model, in several rounds. Usually
// the best time counts, because disturbances only make code slower. The loops use the machine's
// widest vectors, as generated kernels do.
#include "cost/Calibration.h"

#include "base/WidestVectors.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tokamak::cost {
namespace {

constexpr int64_t largeCells =
    6 << 20; // 48 MiB: more than one core's share of most last-level caches
constexpr int64_t smallCells = 16 << 10; // 128 KiB: fits the second-level cache

using Lanes = double __attribute__((vector_size(64), aligned(64)));

TOKAMAK_WIDEST_VECTORS double readAll(const double *cells, int64_t count) {
  Lanes sums[4] = {};
  const Lanes *lanes = reinterpret_cast<const Lanes *>(cells);
  for (int64_t i = 0; i < count / 8; i += 4)
    for (int k = 0; k < 4; ++k)
      sums[k] += lanes[i + k];
  Lanes sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

TOKAMAK_WIDEST_VECTORS void writeAll(double *cells, int64_t count, double value) {
  Lanes *lanes = reinterpret_cast<Lanes *>(cells);
  Lanes filled = {value, value, value, value, value, value, value, value};
  for (int64_t i = 0; i < count / 8; ++i)
    lanes[i] = filled;
}

// 128 operations a step: a multiplication and an addition for each of 8
// independent vectors of 8 lanes.
TOKAMAK_WIDEST_VECTORS double compute(int64_t steps) {
  Lanes values[8] = {};
  Lanes factor = {}, offset = {};
  factor += 0.999999;
  offset += 1e-6;
  for (int64_t i = 0; i < steps; ++i)
    for (Lanes &value : values)
      value = value * factor + offset;
  Lanes sum = {};
  for (Lanes &value : values)
    sum += value;
  return sum[0];
}

// Reads `count` of 2^bits cells in a pseudo-random order. As in a kernel that reads cells by a list
// of indices, positions are cheap to compute and the reads don't depend on each other.
double readScattered(const double *cells, int bits, int64_t count) {
  double sums[4] = {};
  for (int64_t i = 0; i < count; i += 4)
    for (int k = 0; k < 4; ++k) {
      uint64_t mixed = static_cast<uint64_t>(i + k) * 0x9e3779b97f4a7c15u;
      mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
      sums[k] += cells[mixed >> (64 - bits)];
    }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

volatile double keepAlive;

template <typename Function> double timeOf(Function function) {
  auto begin = std::chrono::steady_clock::now();
  function();
  std::chrono::duration<double, std::nano> duration = std::chrono::steady_clock::now() - begin;
  return std::max(duration.count(), 1.0);
}

// The times of one measurement in all rounds.
class Samples {
public:
  template <typename Function> void measure(int repetitions, Function function) {
    for (int i = 0; i < repetitions; ++i)
      times_.push_back(timeOf(function));
  }
  double best() const { return *std::min_element(times_.begin(), times_.end()); }
  double median() const {
    std::vector<double> sorted = times_;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    return sorted[sorted.size() / 2];
  }
  // The ratio of the median time to the best.
  double spread() const { return median() / best(); }

private:
  std::vector<double> times_;
};

double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

struct Free {
  void operator()(double *cells) const { std::free(cells); }
};
using Buffer = std::unique_ptr<double, Free>;

// Allocates huge pages, like the runtime for large arrays: their first touch costs a fraction of
// that of small pages.
Buffer allocate(int64_t cells) {
  constexpr int64_t hugePage = 2 << 20;
  int64_t bytes = (cells * 8 + hugePage - 1) / hugePage * hugePage;
  Buffer buffer(static_cast<double *>(std::aligned_alloc(hugePage, bytes)));
  if (buffer)
    madvise(buffer.get(), bytes, MADV_HUGEPAGE);
  return buffer;
}

// Flushes cells from all caches. Just reading other memory is not enough: a virtual machine may use
// more cache than it reports.
void flush([[maybe_unused]] const double *cells, [[maybe_unused]] int64_t count) {
#if defined(__x86_64__)
  constexpr int64_t cellsPerLine = 8;
  for (int64_t i = 0; i < count; i += cellsPerLine)
    __builtin_ia32_clflush(cells + i);
  __builtin_ia32_mfence();
#endif
}

double cacheCapacity(double fallback) {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  // Other cores use the cache, too, and virtual machines report that of the whole
  // socket: take half of it, and at most half of `largeCells`, which the streaming
  // measurements assume to exceed caches.
  for (int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (long bytes = sysconf(level); bytes > 0)
      return std::min(bytes / 2.0, largeCells * 4.0);
#endif
  return fallback;
}

// What the operating system says of the machine, `fallback` where it says nothing.
double systemFigure(int name, double fallback) {
  long figure = sysconf(name);
  return figure > 0 ? static_cast<double>(figure) : fallback;
}

// All measurements; each round takes samples of each.
class Rounds {
public:
  // New memory in every round, because the first use of memory may be slow: a virtual machine has
  // to request it from its host.
  bool allocateBuffers() {
    large_.reset();
    large_ = allocate(largeCells);
    small_ = allocate(smallCells);
    return large_ && small_;
  }

  void run(const std::function<void()> &launch) {
    auto begin = std::chrono::steady_clock::now();
    double processorBefore = threadSeconds();
    streaming();
    inCache();
    gathering_.measure(1, [&] { keepAlive = readScattered(large_.get(), gatheredBits, gathers); });
    computing_.measure(2, [] { keepAlive = compute(steps); });
    if (launch)
      launching(launch);
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    processorSeconds_ += threadSeconds() - processorBefore;
    wallSeconds_ += wall.count();
  }

  Calibration result() const {
    MachineModel machine;
    machine.cacheBytes = cacheCapacity(machine.cacheBytes);
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    machine.nearestCacheBytes = systemFigure(_SC_LEVEL1_DCACHE_SIZE, machine.nearestCacheBytes);
    machine.cacheLineBytes = systemFigure(_SC_LEVEL1_DCACHE_LINESIZE, machine.cacheLineBytes);
#endif
#if defined(__aarch64__)
    machine.addressRegisters = 31;
#endif
    const double largeBytes = largeCells * 8.0, smallBytes = smallCells * 8.0;
    machine.memoryWriteBytesPerNanosecond = largeBytes / writing_.best();
    machine.memoryReadBytesPerNanosecond = coldCells * 8.0 / reading_.best();
    machine.firstTouchNanosecondsPerByte =
        std::max(0.0, touching_.best() - writing_.best()) / largeBytes;
    machine.cacheWriteBytesPerNanosecond = cacheSweeps * smallBytes / writingInCache_.best();
    machine.cacheReadBytesPerNanosecond = cacheSweeps * smallBytes / readingInCache_.best();
    machine.gatherNanoseconds = gathering_.best() / gathers;
    // Real cell operators are dependent chains with loads and stores: they
    // reach about half the peak.
    machine.flopsPerNanosecond = 0.5 * steps * 128 / computing_.best();
    if (hasLaunches_)
      machine.launchNanoseconds = launching_.median();
    // Without disturbance a thread's processor time equals wall time, and times of arithmetic
    // hardly vary. Memory is shared with other cores, so its times vary more.
    bool isDisturbed = processorSeconds_ < 0.95 * wallSeconds_ || computing_.spread() > 1.25 ||
                       reading_.spread() > 1.6;
    return {machine, isDisturbed};
  }

private:
  static constexpr int64_t coldCells = largeCells / 4;
  static constexpr int gatheredBits = 19; // 4 MiB
  static constexpr int64_t gathers = 1 << 17;
  static constexpr int64_t steps = 20000;
  // One sweep over a small buffer is too short for the clock.
  static constexpr int cacheSweeps = 16;

  void streaming() {
    double *cells = large_.get();
    touching_.measure(1, [&] { writeAll(cells, largeCells, 1); });
    writing_.measure(1, [&] { writeAll(cells, largeCells, 2); });
    // On machines without an instruction to flush, the cells behind these have replaced them in
    // caches that are smaller than `largeCells`.
    flush(cells, coldCells);
    reading_.measure(1, [&] { keepAlive = readAll(cells, coldCells); });
  }

  void inCache() {
    double *cells = small_.get();
    writingInCache_.measure(3, [&] {
      for (int i = 0; i < cacheSweeps; ++i)
        writeAll(cells, smallCells, i);
    });
    readingInCache_.measure(3, [&] {
      for (int i = 0; i < cacheSweeps; ++i)
        keepAlive = readAll(cells, smallCells);
    });
  }

  // A program works on arrays between launches, so a launch doesn't find its data in the
  // first-level cache. The median counts here, not the best time.
  void launching(const std::function<void()> &launch) {
    constexpr int launches = 32;
    launch();
    for (int i = 0; i < launches; ++i) {
      writeAll(small_.get(), smallCells, i);
      launching_.measure(1, launch);
    }
    hasLaunches_ = true;
  }

  Buffer large_, small_;
  Samples touching_, writing_, reading_, writingInCache_, readingInCache_, gathering_, computing_,
      launching_;
  bool hasLaunches_ = false;
  double processorSeconds_ = 0, wallSeconds_ = 0;
};

} // namespace

Calibration calibrate(const std::function<void()> &launch, int rounds) {
  constexpr auto pause = std::chrono::milliseconds(8);
  Rounds measured;
  for (int round = 0; round < rounds; ++round) {
    if (round > 0)
      std::this_thread::sleep_for(pause);
    if (!measured.allocateBuffers())
      return {MachineModel(), /*isDisturbed=*/true};
    measured.run(launch);
  }
  return measured.result();
}

} // namespace tokamak::cost
