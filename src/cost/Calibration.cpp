// Measures bandwidths, arithmetic and launches for the machine model, in several rounds.
#include "cost/Calibration.h"

#include "cost/CalibrationLoops.h"

#include <barrier>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <optional>
#include <thread>
#include <unistd.h>

namespace tokamak::cost {
namespace {

// 48 MiB: more than one core's share of most last-level caches.
constexpr int64_t largeCells = 6 << 20;

volatile double keepAlive;

double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

// What the operating system says of the machine, `fallback` where it says nothing.
double systemFigure([[maybe_unused]] int name, double fallback) {
  long figure = sysconf(name);
  return figure > 0 ? static_cast<double>(figure) : fallback;
}

// The sizes that the operating system tells.
MachineModel sizesOfCaches() {
  MachineModel machine;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  machine.nearestCacheBytes = systemFigure(_SC_LEVEL1_DCACHE_SIZE, machine.nearestCacheBytes);
  machine.cacheLineBytes = systemFigure(_SC_LEVEL1_DCACHE_LINESIZE, machine.cacheLineBytes);
  machine.privateCacheBytes = std::max(
      systemFigure(_SC_LEVEL2_CACHE_SIZE, machine.privateCacheBytes), machine.nearestCacheBytes);
  // Other cores use the cache, too, and virtual machines report that of the whole socket: take half
  // of it, and at most half of `largeCells`, which the streaming measurements assume to exceed caches.
  machine.sharedCacheBytes = std::max(
      std::min(systemFigure(_SC_LEVEL3_CACHE_SIZE, machine.sharedCacheBytes) / 2, largeCells * 4.0),
      machine.privateCacheBytes);
#endif
#if defined(__aarch64__)
  machine.addressRegisters = 31;
#endif
  return machine;
}

// Repeated sweeps over a buffer that fits a cache: one is too short for the clock. Operators write while
// they read, so the time of writing is what copying one half to the other takes more than reading it.
class Sweeps {
public:
  // Of the cells that fill a share of a cache.
  explicit Sweeps(double bytes)
      : cells_(static_cast<int64_t>(bytes / 8) / unit * unit),
        repetitions_(std::max<int64_t>(1, cellsToMeasure / cells_)) {}

  void measure(double *cells) {
    reading_.measure(2, [&] {
      for (int64_t i = 0; i < repetitions_; ++i)
        keepAlive = readAll(cells, cells_);
    });
    copying_.measure(2, [&] {
      for (int64_t i = 0; i < repetitions_; ++i)
        copyAll(cells, cells_ / 2 + cells, cells_ / 2);
    });
  }
  double writtenPerNanosecond() const {
    double writing = copying_.best() - reading_.best() / 2;
    return bytes() / 2 / std::max(writing, reading_.best() / 8);
  }
  double readPerNanosecond() const { return bytes() / reading_.best(); }
  int64_t cells() const { return cells_; }

private:
  static constexpr int64_t unit = 256, cellsToMeasure = 256 << 10;
  double bytes() const { return static_cast<double>(repetitions_ * cells_ * 8); }

  int64_t cells_, repetitions_;
  Samples reading_, copying_;
};

// The time that threads take from a common start until the last of them is done.
template <typename Function> double timeOnThreads(int threads, Function function) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin;
  std::barrier start(threads, [&]() noexcept { begin = Clock::now(); });
  std::vector<Clock::time_point> ends(threads);
  {
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < threads; ++thread)
      workers.emplace_back([&, thread] {
        start.arrive_and_wait();
        function(thread);
        ends[thread] = Clock::now();
      });
  }
  return std::chrono::duration<double, std::nano>(*std::ranges::max_element(ends) - begin).count();
}

// All measurements; each round takes samples of each.
class Rounds {
public:
  Rounds(const Launches &launches)
      : launches_(launches), machine_(sizesOfCaches()), nearest_(machine_.nearestCacheBytes / 2),
        private_(machine_.privateCacheBytes / 4),
        shared_(std::sqrt(machine_.privateCacheBytes * machine_.sharedCacheBytes)) {}

  // New memory in every round, because the first use of memory may be slow: a virtual machine has
  // to request it from its host.
  bool allocateBuffers() {
    large_.reset();
    large_ = allocateCells(largeCells);
    smallPages_ = mapSmallPages(smallPagesCells);
    small_ = allocateCells(std::max(private_.cells(), nearest_.cells()));
    return large_ && small_ && smallPages_;
  }

  void run() {
    auto begin = std::chrono::steady_clock::now();
    double processorBefore = threadSeconds();
    streaming();
    nearest_.measure(small_.get());
    private_.measure(small_.get());
    shared_.measure(large_.get());
    privateGathering_.measure(
        1, [&] { keepAlive = readScattered(large_.get(), privateBits(), gathers); });
    gathering_.measure(1, [&] { keepAlive = readScattered(large_.get(), sharedBits(), gathers); });
    gatheringLines_.measure(1, [&] {
      keepAlive = readScatteredLines(large_.get(), sharedBits(), gathers / linesOfRow, linesOfRow);
    });
    computing_.measure(2, [] { keepAlive = computeSteps(steps); });
    launching();
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    processorSeconds_ += threadSeconds() - processorBefore;
    wallSeconds_ += wall.count();
    onAllThreads();
  }

  Calibration result() const {
    MachineModel machine = machine_;
    const double largeBytes = largeCells * 8.0, coldBytes = coldCells * 8.0;
    machine.memoryReadBytesPerNanosecond = coldBytes / reading_.best();
    machine.memoryWriteBytesPerNanosecond =
        coldBytes / std::max(copying_.best() - reading_.best(), reading_.best() / 4);
    machine.firstTouchNanosecondsPerByte =
        std::max(0.0, touching_.median() - writing_.best()) / largeBytes;
    machine.firstTouchOfSmallPagesNanosecondsPerByte =
        std::max(0.0, touchingSmallPages_.median() - writingSmallPages_.best()) /
        (smallPagesCells * 8.0);
    machine.nearestReadBytesPerNanosecond = nearest_.readPerNanosecond();
    machine.nearestWriteBytesPerNanosecond = nearest_.writtenPerNanosecond();
    machine.privateReadBytesPerNanosecond = private_.readPerNanosecond();
    machine.privateWriteBytesPerNanosecond = private_.writtenPerNanosecond();
    machine.sharedReadBytesPerNanosecond = shared_.readPerNanosecond();
    machine.sharedWriteBytesPerNanosecond = shared_.writtenPerNanosecond();
    machine.privateGatherNanoseconds = privateGathering_.best() / gathers;
    // The private cache holds a part of what is read.
    double held = std::min(0.5, machine.privateCacheBytes / std::exp2(sharedBits() + 3)),
           mixed = gathering_.best() / gathers;
    machine.gatherNanoseconds =
        std::max((mixed - held * machine.privateGatherNanoseconds) / (1 - held),
                 machine.privateGatherNanoseconds);
    double ofRow = gatheringLines_.best() / (static_cast<double>(gathers) / linesOfRow);
    machine.nextLineNanoseconds = std::max(ofRow - mixed, 0.0) / (linesOfRow - 1);
    // Real cell operators are dependent chains with loads and stores: they
    // reach about half the peak.
    machine.flopsPerNanosecond = 0.5 * steps * operationsPerStep / computing_.best();
    if (launches_.withArrays)
      machine.arrayNanoseconds =
          std::max(0.0, launchWithArrays_.best() - launch_.best()) / launches_.additionalArrays;
    if (launches_.plain) {
      double ofArrays = launches_.arrays * machine.arrayNanoseconds;
      machine.launchNanoseconds = std::max(launch_.best() - ofArrays, 0.0);
      machine.coldLaunchNanoseconds =
          std::max(coldLaunch_.best() - ofArrays, machine.launchNanoseconds);
      machine.farArrayNanoseconds = machine.arrayNanoseconds;
      if (launches_.withArrays)
        machine.farArrayNanoseconds =
            std::max((farLaunchWithArrays_.lowerQuartile() - farLaunch_.lowerQuartile()) /
                         launches_.additionalArrays,
                     machine.arrayNanoseconds);
      machine.farLaunchNanoseconds =
          std::max(farLaunch_.lowerQuartile() - launches_.arrays * machine.farArrayNanoseconds,
                   machine.coldLaunchNanoseconds);
    }
    machine.threads = launches_.threads;
    machine.memorySpeedup = machine.computeSpeedup = 1;
    if (launches_.threads > 1) {
      auto atMost = [&](double speedup) { return std::clamp(speedup, 1.0, machine.threads); };
      machine.memorySpeedup = atMost(reading_.best() / readingInParallel_);
      machine.computeSpeedup = atMost(machine.threads * computing_.best() / computingInParallel_);
    }
    machine.parallelLaunchNanoseconds =
        launches_.inParallel ? std::max(0.0, parallelLaunch_.best() - launch_.best()) : 0;
    // Without disturbance a thread's processor time equals wall time, and times of arithmetic
    // hardly vary. Memory is shared with other cores, so its times vary more.
    bool isDisturbed = processorSeconds_ < 0.95 * wallSeconds_ || computing_.spread() > 1.25 ||
                       reading_.spread() > 1.6;
    return {machine, isDisturbed};
  }

private:
  static constexpr int64_t coldCells = largeCells / 4;
  static constexpr int64_t smallPagesCells = 1 << 19;
  static constexpr int64_t gathers = 1 << 17;
  static constexpr int linesOfRow = 8;
  static constexpr int64_t steps = 20000;

  // Half of the private cache.
  int privateBits() const {
    return std::clamp(static_cast<int>(std::log2(machine_.privateCacheBytes / 16)), 10, 19);
  }
  // Eight times the private cache, so that one access in eight finds its line there.
  int sharedBits() const {
    return std::clamp(privateBits() + 4, 19, static_cast<int>(std::log2(largeCells)));
  }

  void streaming() {
    double *cells = large_.get();
    touching_.measure(1, [&] { writeAll(cells, largeCells, 1); });
    writing_.measure(1, [&] { writeAll(cells, largeCells, 2); });
    touchingSmallPages_.measure(1, [&] { writeAll(smallPages_.get(), smallPagesCells, 1); });
    writingSmallPages_.measure(1, [&] { writeAll(smallPages_.get(), smallPagesCells, 2); });
    // On machines without an instruction to flush, the cells behind these have replaced them in
    // caches that are smaller than `largeCells`.
    flush(cells, coldCells);
    reading_.measure(1, [&] { keepAlive = readAll(cells, coldCells); });
    flush(cells, 2 * coldCells);
    copying_.measure(1, [&] { copyAll(cells, cells + coldCells, coldCells); });
  }

  // A program works on arrays between launches: on small ones, or on ones that leave nothing in the
  // private cache, or in any. Then it is a matter of chance what is left of a launch's code, and the best launch of many
  // takes a fifth of what programs see: those in the private cache count by the best of the rounds' medians, and those
  // in no cache by the lower quartile.
  void launching() {
    auto after = [](const std::function<double()> &launch, double *cells, int64_t count,
                    int times) {
      Samples samples;
      launch();
      for (int i = 0; i < times; ++i) {
        writeAll(cells, count, i);
        samples.add(launch());
      }
      return samples;
    };
    auto farCells =
        std::min(static_cast<int64_t>(machine_.privateCacheBytes / 4) / 256 * 256, largeCells);
    double *small = small_.get(), *large = large_.get();
    if (launches_.plain) {
      launch_.add(after(launches_.plain, small, nearest_.cells(), 32).best());
      coldLaunch_.add(after(launches_.plain, large, farCells, 24).median());
      farLaunch_.add(after(launches_.plain, large, largeCells, 3));
    }
    if (launches_.withArrays) {
      launchWithArrays_.add(after(launches_.withArrays, small, nearest_.cells(), 32).best());
      farLaunchWithArrays_.add(after(launches_.withArrays, large, largeCells, 3));
    }
    if (launches_.inParallel)
      parallelLaunch_.add(after(launches_.inParallel, small, nearest_.cells(), 16).median());
  }

  void onAllThreads() {
    int threads = launches_.threads;
    if (threads < 2)
      return;
    double *cells = large_.get();
    flush(cells, coldCells);
    int64_t share = coldCells / threads / 256 * 256;
    double reading = timeOnThreads(
        threads, [&](int thread) { keepAlive = readAll(cells + thread * share, share); });
    double computing = timeOnThreads(threads, [](int) { keepAlive = computeSteps(steps); });
    readingInParallel_ = std::min(readingInParallel_, reading);
    computingInParallel_ = std::min(computingInParallel_, computing);
  }

  const Launches &launches_;
  MachineModel machine_; // sizes only
  CellBuffer large_, small_;
  PageBuffer smallPages_;
  Sweeps nearest_, private_, shared_;
  Samples touching_, writing_, touchingSmallPages_, writingSmallPages_, reading_, copying_,
      privateGathering_, gathering_, gatheringLines_, computing_, launch_, launchWithArrays_,
      coldLaunch_, farLaunch_, farLaunchWithArrays_, parallelLaunch_;
  double readingInParallel_ = INFINITY, computingInParallel_ = INFINITY;
  double processorSeconds_ = 0, wallSeconds_ = 0;
};

} // namespace

Calibration calibrate(const Launches &launches, int rounds) {
  constexpr auto pause = std::chrono::milliseconds(8);
  Rounds measured(launches);
  for (int round = 0; round < rounds; ++round) {
    if (round > 0)
      std::this_thread::sleep_for(pause);
    if (!measured.allocateBuffers())
      return {MachineModel(), /*isDisturbed=*/true};
    measured.run();
  }
  return measured.result();
}

} // namespace tokamak::cost
