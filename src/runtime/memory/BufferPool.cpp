#include "runtime/memory/BufferPool.h"

#include "base/Error.h"
#include "base/HugePages.h"
#include "runtime/memory/UsableMemory.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define TOKAMAK_POISONS_BUFFERS
#endif
#endif

namespace tokamak::runtime {
namespace {

// In builds with AddressSanitizer, makes it an error (in generated kernels, too) to touch bytes
// beyond the requested size, or a buffer that nobody owns.
void allowOnly([[maybe_unused]] std::byte *buffer, [[maybe_unused]] int64_t bytes,
               [[maybe_unused]] int64_t capacity) {
#ifdef TOKAMAK_POISONS_BUFFERS
  ASAN_UNPOISON_MEMORY_REGION(buffer, static_cast<size_t>(bytes));
  ASAN_POISON_MEMORY_REGION(buffer + bytes, static_cast<size_t>(capacity - bytes));
#endif
}

constexpr int64_t smallestBuffer = 64;
constexpr auto pageOfLargeBuffers = int64_t{hugePage};
constexpr auto mappedFrom = int64_t{hugePagesFrom}; // smaller buffers come from the C library
constexpr int stepsPerDoubling = 8;
// A cached buffer may serve requests of up to this many size classes below its own: it is at most a
// quarter larger than needed.
constexpr int classTolerance = 2;
// Where sizes change, buffers of ever other classes are freed. Arrays and cached buffers together
// stay below this much of what arrays have needed at a time; beyond it, a request takes a cached
// buffer of up to so many size classes above its own (four times larger) ...
constexpr double mostOfPeak = 1.25;
constexpr int classToleranceWhenFull = 2 * stepsPerDoubling;
// ... or the classes that weren't used for longest are released.

// Classes are 64 bytes times 1, 1+1/8, ... 2, 2+1/4, ...: at most an eighth of a buffer is unused.
int64_t capacityOf(int sizeClass) {
  int64_t base = smallestBuffer << (sizeClass / stepsPerDoubling);
  int64_t capacity = base + base / stepsPerDoubling * (sizeClass % stepsPerDoubling);
  int64_t unit = capacity >= mappedFrom ? pageOfLargeBuffers : smallestBuffer; // a power of two
  return (capacity + unit - 1) & -unit;
}

int classOf(int64_t bytes) {
  if (bytes <= smallestBuffer)
    return 0;
  int doubling = std::bit_width(static_cast<uint64_t>(bytes) / smallestBuffer) - 1;
  int sizeClass = doubling * stepsPerDoubling;
  while (capacityOf(sizeClass) < bytes)
    ++sizeClass;
  return sizeClass;
}

std::byte *obtain(int64_t capacity) {
  if (capacity >= mappedFrom)
    return static_cast<std::byte *>(mapHugePages(static_cast<size_t>(capacity)));
  return static_cast<std::byte *>(std::aligned_alloc(64, static_cast<size_t>(capacity)));
}

void release(std::byte *bytes, int64_t capacity) {
  allowOnly(bytes, capacity, capacity);
  if (capacity >= mappedFrom)
    munmap(bytes, static_cast<size_t>(capacity));
  else
    std::free(bytes);
}

} // namespace

// Freed small buffers of one thread. Only that thread takes and gives; others read the counters.
class BufferPool::ThreadCache {
public:
  ThreadCache() {
    BufferPool &pool = instance();
    std::lock_guard lock(pool.mutex_);
    pool.threadCaches_.push_back(this);
  }
  ~ThreadCache() {
    BufferPool &pool = instance();
    std::lock_guard lock(pool.mutex_);
    pool.takeBackLocked(*this);
    pool.statistics_.reuses += reuses();
    std::erase(pool.threadCaches_, this);
  }
  ThreadCache(const ThreadCache &) = delete;
  ThreadCache &operator=(const ThreadCache &) = delete;

  static bool keeps(int sizeClass) { return sizeClass < classes; }
  // Null if there is none.
  std::byte *take(int sizeClass) {
    List &list = lists_[sizeClass];
    if (list.count == 0)
      return nullptr;
    add(bytes_, -capacityOf(sizeClass));
    add(reuses_, 1);
    return list.buffers[--list.count];
  }
  // False if there is no room for it.
  bool give(std::byte *buffer, int sizeClass) {
    List &list = lists_[sizeClass];
    int64_t capacity = capacityOf(sizeClass);
    if (list.count == buffersPerClass || bytes() + capacity > mostBytes)
      return false;
    list.buffers[list.count++] = buffer;
    add(bytes_, capacity);
    return true;
  }
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  int64_t reuses() const { return reuses_.load(std::memory_order_relaxed); }

  static thread_local ThreadCache *ofThread; // null: not made yet, or destroyed

private:
  friend class BufferPool;
  static constexpr int classes = 10 * stepsPerDoubling; // below 64 KiB
  static constexpr int buffersPerClass = 8;
  static constexpr int64_t mostBytes = int64_t{256} << 10;
  struct List {
    int count = 0;
    std::byte *buffers[buffersPerClass];
  };
  // Without the cost of an atomic addition: there is one writer.
  static void add(std::atomic<int64_t> &counter, int64_t value) {
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }

  List lists_[classes];
  std::atomic<int64_t> bytes_ = 0, reuses_ = 0;
};

thread_local BufferPool::ThreadCache *BufferPool::ThreadCache::ofThread = nullptr;

// Null when the thread ends: what it frees then goes to the pool. Call without the lock.
BufferPool::ThreadCache *BufferPool::threadCache() {
  static thread_local bool isOver = false; // unlike the cache it is never destroyed
  struct Owner {
    Owner() { ThreadCache::ofThread = &cache; }
    ~Owner() {
      ThreadCache::ofThread = nullptr;
      isOver = true;
    }
    ThreadCache cache;
  };
  if (!ThreadCache::ofThread && !isOver) {
    static thread_local Owner owner;
  }
  return ThreadCache::ofThread;
}

void BufferPool::takeBackLocked(ThreadCache &cache) {
  for (int sizeClass = 0; sizeClass < ThreadCache::classes; ++sizeClass) {
    ThreadCache::List &list = cache.lists_[sizeClass];
    int64_t bytes = list.count * capacityOf(sizeClass);
    auto &buffers = freeOfLocked(sizeClass).buffers;
    buffers.insert(buffers.end(), list.buffers, list.buffers + list.count);
    list.count = 0;
    ThreadCache::add(cache.bytes_, -bytes);
    statistics_.inUse -= bytes;
    statistics_.cached += bytes;
  }
  noteChangeLocked();
}

int64_t BufferPool::bytesOfThreadsLocked() const {
  int64_t bytes = 0;
  for (const ThreadCache *cache : threadCaches_)
    bytes += cache->bytes();
  return bytes;
}

Buffer::~Buffer() { BufferPool::instance().giveBack(bytes_, sizeClass_); }

BufferPool &BufferPool::instance() {
  // Never destroyed: values in static storage may be freed after main.
  static auto *pool = [] {
    // Allocations outside the pool may reclaim cached buffers, too.
    std::set_new_handler([] {
      if (!instance().releaseIfCached())
        throw std::bad_alloc();
    });
    return new BufferPool();
  }();
  return *pool;
}

// False if nothing is cached, or if the lock is held: the pool itself may be what is allocating.
bool BufferPool::releaseIfCached() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || statistics_.cached == 0)
    return false;
  releaseCachedLocked(statistics_.cached);
  return true;
}

BufferPool::FreeBuffers &BufferPool::freeOfLocked(int sizeClass) {
  if (free_.size() <= static_cast<size_t>(sizeClass))
    free_.resize(sizeClass + 1);
  FreeBuffers &free = free_[sizeClass];
  free.lastUse = ++uses_;
  return free;
}

// The smallest cached buffer that fits, if it is at most `tolerance` size classes above the request's
// and has at most `mostBytes`; null if there is none.
std::shared_ptr<Buffer> BufferPool::takeCachedLocked(int sizeClass, int tolerance,
                                                     int64_t mostBytes) {
  int last = std::min(static_cast<int>(free_.size()) - 1, sizeClass + tolerance);
  for (int candidate = sizeClass; candidate <= last; ++candidate) {
    if (free_[candidate].buffers.empty())
      continue;
    if (capacityOf(candidate) > mostBytes)
      return nullptr;
    auto &buffers = freeOfLocked(candidate).buffers;
    std::byte *bytes = buffers.back();
    buffers.pop_back();
    statistics_.cached -= capacityOf(candidate);
    ++statistics_.reuses;
    return std::make_shared<Buffer>(bytes, candidate);
  }
  return nullptr;
}

// Null if the system must be asked for one.
std::shared_ptr<Buffer> BufferPool::takeCachedLocked(int sizeClass) {
  int64_t capacity = capacityOf(sizeClass), inUse = statistics_.inUse;
  std::shared_ptr<Buffer> buffer =
      takeCachedLocked(sizeClass, capacity >= mappedFrom ? classTolerance : 0, capacity * 2);
  if (buffer)
    return buffer;
  int64_t peak = std::max(peakOfArrays_, inUse + capacity);
  int64_t excess = inUse + statistics_.cached + capacity -
                   static_cast<int64_t>(mostOfPeak * static_cast<double>(peak));
  if (excess <= 0)
    return nullptr;
  // Not beyond the peak: with the sizes asked for, the arrays may be what the budget just allows.
  buffer = takeCachedLocked(sizeClass, classToleranceWhenFull, peak - inUse);
  if (!buffer)
    releaseCachedLocked(excess);
  return buffer;
}

std::shared_ptr<Buffer> BufferPool::allocate(int64_t bytes) {
  int sizeClass = classOf(std::max<int64_t>(bytes, 1));
  int64_t capacity = capacityOf(sizeClass);
  if (ThreadCache::keeps(sizeClass))
    if (ThreadCache *cache = threadCache())
      if (std::byte *kept = cache->take(sizeClass)) {
        allowOnly(kept, bytes, capacity);
        return std::make_shared<Buffer>(kept, sizeClass);
      }
  std::lock_guard lock(mutex_);
  std::shared_ptr<Buffer> buffer = takeCachedLocked(sizeClass);
  if (buffer) {
    capacity = capacityOf(buffer->sizeClass_);
  } else {
    makeRoomLocked(capacity, bytes);
    std::byte *memory = obtain(capacity);
    if (!memory) {
      releaseCachedLocked(statistics_.cached);
      memory = obtain(capacity);
    }
    if (!memory)
      throw Error(fmt::format("out of memory: the system has no {} more ({} in use)",
                              sizeText(bytes), sizeText(statistics_.inUse)));
    ++statistics_.allocations;
    buffer = std::make_shared<Buffer>(memory, sizeClass);
  }
  allowOnly(buffer->bytes_, bytes, capacity);
  statistics_.inUse += capacity;
  noteChangeLocked();
  return buffer;
}

// Releases cached buffers until `bytes` more fit the budget. Throws Error if they can't; its
// message says that `wanted` bytes were requested.
void BufferPool::makeRoomLocked(int64_t bytes, int64_t wanted) {
  int64_t budget = budgetLocked(), inUse = inUseLocked();
  if (bytes > budget - inUse)
    throw Error(fmt::format("out of memory: {} more would pass the budget of {} ({} in use)",
                            sizeText(wanted), sizeText(budget), sizeText(inUse)));
  int64_t excess = inUse + bytesOfThreadsLocked() + statistics_.cached + bytes - budget;
  if (excess <= 0)
    return;
  if (ThreadCache *cache = ThreadCache::ofThread)
    takeBackLocked(*cache);
  releaseCachedLocked(excess);
}

void BufferPool::checkRoomFor(int64_t bytes) {
  std::lock_guard lock(mutex_);
  makeRoomLocked(capacityOf(classOf(std::max<int64_t>(bytes, 1))), bytes);
}

bool BufferPool::hasRoomFor(int64_t bytes) {
  std::lock_guard lock(mutex_);
  return bytes <= budgetLocked() - inUseLocked();
}

void BufferPool::charge(int64_t bytes) {
  if (charged_.fetch_add(bytes) + bytes > chargeable_.load()) {
    charged_.fetch_sub(bytes);
    std::lock_guard lock(mutex_);
    makeRoomLocked(bytes, bytes);
    charged_.fetch_add(bytes);
    noteChangeLocked();
  }
  notePeak();
}

void BufferPool::discharge(int64_t bytes) noexcept { charged_.fetch_sub(bytes); }

void BufferPool::noteChangeLocked() {
  arrays_ = statistics_.inUse;
  peakOfArrays_ = std::max(peakOfArrays_, statistics_.inUse);
  chargeable_ = budgetLocked() - statistics_.inUse - statistics_.cached;
  notePeak();
}

void BufferPool::notePeak() {
  int64_t inUse = arrays_.load() + charged_.load(), peak = peak_.load();
  while (inUse > peak && !peak_.compare_exchange_weak(peak, inUse)) {
  }
}

void BufferPool::giveBack(std::byte *bytes, int sizeClass) {
  int64_t capacity = capacityOf(sizeClass);
  allowOnly(bytes, 0, capacity);
  if (ThreadCache::keeps(sizeClass))
    if (ThreadCache *cache = threadCache(); cache && cache->give(bytes, sizeClass))
      return;
  std::lock_guard lock(mutex_);
  freeOfLocked(sizeClass).buffers.push_back(bytes);
  statistics_.inUse -= capacity;
  statistics_.cached += capacity;
  noteChangeLocked();
}

// The size classes that were not used for longest first.
void BufferPool::releaseCachedLocked(int64_t atLeast) {
  while (atLeast > 0) {
    int oldest = -1;
    for (int sizeClass = 0; sizeClass < static_cast<int>(free_.size()); ++sizeClass)
      if (!free_[sizeClass].buffers.empty() &&
          (oldest < 0 || free_[sizeClass].lastUse < free_[oldest].lastUse))
        oldest = sizeClass;
    if (oldest < 0)
      break;
    auto &buffers = free_[oldest].buffers;
    for (int64_t capacity = capacityOf(oldest); !buffers.empty() && atLeast > 0;
         atLeast -= capacity) {
      release(buffers.back(), capacity);
      buffers.pop_back();
      statistics_.cached -= capacity;
    }
  }
  noteChangeLocked();
}

int64_t BufferPool::budgetLocked() {
  if (budget_ == 0)
    budget_ = usableMemory() / 5 * 4;
  return budget_;
}

void BufferPool::setMemoryBudget(int64_t bytes) {
  std::lock_guard lock(mutex_);
  budget_ = bytes;
  noteChangeLocked();
}

PoolStatistics BufferPool::statistics() {
  std::lock_guard lock(mutex_);
  PoolStatistics statistics = statistics_;
  int64_t ofThreads = bytesOfThreadsLocked();
  statistics.inUse += charged_.load() - ofThreads;
  statistics.cached += ofThreads;
  for (const ThreadCache *cache : threadCaches_)
    statistics.reuses += cache->reuses();
  statistics.peakInUse = peak_.load();
  return statistics;
}

void BufferPool::resetPeak() {
  std::lock_guard lock(mutex_);
  peak_ = statistics_.inUse + charged_.load();
}

void BufferPool::releaseCached() {
  ThreadCache *cache = threadCache();
  std::lock_guard lock(mutex_);
  if (cache)
    takeBackLocked(*cache);
  releaseCachedLocked(statistics_.cached);
  peakOfArrays_ = statistics_.inUse;
}

std::string sizeText(int64_t bytes) {
  constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  int unit = 0;
  for (; size >= 1024 && unit < 4; ++unit)
    size /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", size, units[unit]);
}

} // namespace tokamak::runtime
