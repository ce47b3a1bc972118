// Measures bandwidths, arithmetic and launches for the machine model. Everything is timed at least
// twice and the best counts: a disturbance only ever makes code slower. The loops are as wide as
// generated kernels are on this machine.
#include "base/WidestVectors.h"
#include "cost/MachineModel.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace tokamak::cost {
namespace {

constexpr int64_t largeCells =
    6 << 20; // 48 MiB: more than most last-level caches have for one core
constexpr int64_t smallCells = 16 << 10; // 128 KiB: second-level cache

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

// `steps` times 64 dependent-in-eights multiplications and additions: 128 operations a step.
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

// Reads `count` cells in an order that jumps through all 2^bits of them. Which comes next takes no
// time to find, as in a kernel that has a list of them, and reads don't wait for each other.
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

template <typename Function> double bestOf(int repetitions, Function function) {
  double best = timeOf(function);
  for (int i = 1; i < repetitions; ++i)
    best = std::min(best, timeOf(function));
  return best;
}

struct Free {
  void operator()(double *cells) const { std::free(cells); }
};
using Buffer = std::unique_ptr<double, Free>;

// On huge pages, as large arrays are: their first touch costs a fraction of that of small pages.
Buffer allocate(int64_t cells) {
  constexpr int64_t hugePage = 2 << 20;
  int64_t bytes = (cells * 8 + hugePage - 1) / hugePage * hugePage;
  Buffer buffer(static_cast<double *>(std::aligned_alloc(hugePage, bytes)));
  if (buffer)
    madvise(buffer.get(), bytes, MADV_HUGEPAGE);
  return buffer;
}

// Drives cells out of all caches, which may hold more than they say: virtual machines see the
// caches of one core and use those of others.
void flush([[maybe_unused]] const double *cells, [[maybe_unused]] int64_t count) {
#if defined(__x86_64__)
  constexpr int64_t cellsPerLine = 8;
  for (int64_t i = 0; i < count; i += cellsPerLine)
    __builtin_ia32_clflush(cells + i);
  __builtin_ia32_mfence();
#endif
}

// Where there is no way to flush, at least everything behind these cells was written since.
double nanosecondsToReadFromMemory(double *cells, int64_t count) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    writeAll(cells, largeCells, i);
    flush(cells, count);
    best = std::min(best, timeOf([&] { keepAlive = readAll(cells, count); }));
  }
  return best;
}

double cacheCapacity(double fallback) {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  // The other cores use it too, and virtual machines report the cache of the whole socket: no more
  // than half of what the streaming measurements below are sure to exceed.
  for (int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (long bytes = sysconf(level); bytes > 0)
      return std::min(bytes / 2.0, largeCells * 4.0);
#endif
  return fallback;
}

} // namespace

MachineModel calibrate(const std::function<void()> &emptyLaunch) {
  MachineModel machine;
  machine.cacheBytes = cacheCapacity(machine.cacheBytes);
  Buffer large = allocate(largeCells), small = allocate(smallCells);
  if (!large || !small)
    return machine;

  const double largeBytes = largeCells * 8.0, smallBytes = smallCells * 8.0;
  double fresh = timeOf([&] { writeAll(large.get(), largeCells, 1); });
  // Once more: the first time a virtual machine may have to ask its host for the memory.
  large.reset();
  large = allocate(largeCells);
  if (!large)
    return machine;
  fresh = std::min(fresh, timeOf([&] { writeAll(large.get(), largeCells, 1); }));
  double written = bestOf(2, [&] { writeAll(large.get(), largeCells, 2); });
  constexpr int64_t coldCells = largeCells / 4;
  double read = nanosecondsToReadFromMemory(large.get(), coldCells);
  machine.memoryWriteBytesPerNanosecond = largeBytes / written;
  machine.memoryReadBytesPerNanosecond = coldCells * 8.0 / read;
  machine.firstTouchNanosecondsPerByte = std::max(0.0, fresh - written) / largeBytes;

  // Once round a small buffer is too short for the clock.
  constexpr int rounds = 16;
  auto repeated = [&](auto function) {
    return bestOf(8, [&] {
      for (int i = 0; i < rounds; ++i)
        function(i);
    });
  };
  double smallWritten = repeated([&](int i) { writeAll(small.get(), smallCells, i); });
  double smallRead = repeated([&](int) { keepAlive = readAll(small.get(), smallCells); });
  machine.cacheWriteBytesPerNanosecond = rounds * smallBytes / smallWritten;
  machine.cacheReadBytesPerNanosecond = rounds * smallBytes / smallRead;

  constexpr int gatheredBits = 19; // 4 MiB
  constexpr int64_t gathers = 1 << 18;
  machine.gatherNanoseconds =
      bestOf(3, [&] { keepAlive = readScattered(large.get(), gatheredBits, gathers); }) / gathers;

  constexpr int64_t steps = 20000;
  // Real cell operators are chains with loads and stores between them: about half of the peak.
  machine.flopsPerNanosecond = 0.5 * steps * 128 / bestOf(4, [] { keepAlive = compute(steps); });

  if (emptyLaunch) {
    constexpr int launches = 64;
    emptyLaunch();
    machine.launchNanoseconds = bestOf(4,
                                       [&] {
                                         for (int i = 0; i < launches; ++i)
                                           emptyLaunch();
                                       }) /
                                launches;
  }
  return machine;
}

} // namespace tokamak::cost
