// Memory for arrays: 64-byte aligned buffers (large ones on huge pages), which are kept for reuse
// when freed, since the first touch of a page costs several times a rewrite: but never more than a
// quarter above what was in use at a time, however many sizes come and go. The pool enforces a
// memory budget; memory allocated elsewhere is charged to it (MemoryCharge.h).
//
// Each thread keeps some small buffers that it freed for itself (at most 256 KiB), so that operators
// on small matrices take no lock. They count as cached, but only their own thread can release them.
//
//   BufferPool &pool = BufferPool::instance();
//   pool.setMemoryBudget(8ll << 30);
//   std::shared_ptr<Buffer> buffer = pool.allocate(1 << 20);
//   buffer.reset();                      // the last reference: the memory goes back to the pool
#ifndef TOKAMAK_RUNTIME_MEMORY_BUFFERPOOL_H
#define TOKAMAK_RUNTIME_MEMORY_BUFFERPOOL_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tokamak::runtime {

class Buffer {
public:
  Buffer(std::byte *bytes, int sizeClass) : bytes_(bytes), sizeClass_(sizeClass) {}
  ~Buffer(); // gives the memory back to the pool
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  std::byte *bytes() const { return bytes_; }

private:
  friend class BufferPool;
  std::byte *bytes_;
  int sizeClass_;
};

// All sizes in bytes.
struct PoolStatistics {
  int64_t inUse = 0;  // arrays and charges
  int64_t cached = 0; // freed and kept for reuse
  int64_t peakInUse = 0;
  int64_t allocations = 0; // buffers allocated from the system
  int64_t reuses = 0;
};

class BufferPool {
public:
  static BufferPool &
  instance(); // lives as long as the process: buffers may outlive everything else

  // A buffer of at least `bytes` bytes with undefined contents. Throws Error with the sizes if the
  // budget would be exceeded even after releasing all cached buffers.
  std::shared_ptr<Buffer> allocate(int64_t bytes);
  // Throws the Error that allocate(bytes) would throw; call it before long
  // work that needs the memory.
  void checkRoomFor(int64_t bytes);
  // Whether so many bytes more fit the budget.
  bool hasRoomFor(int64_t bytes);
  // Counts memory that is allocated elsewhere; discharge() ends that (MemoryCharge calls both).
  // Throws Error as allocate does.
  void charge(int64_t bytes);
  void discharge(int64_t bytes) noexcept;

  // 0 restores the default: four fifths of the machine's (or the cgroup's) memory.
  void setMemoryBudget(int64_t bytes);
  PoolStatistics statistics();
  void resetPeak();
  // Returns all cached buffers to the operating system.
  void releaseCached();

private:
  friend class Buffer;
  class ThreadCache;
  struct FreeBuffers {
    std::vector<std::byte *> buffers;
    uint64_t lastUse = 0; // the value of uses_
  };
  BufferPool() = default;
  static ThreadCache *threadCache();
  void takeBackLocked(ThreadCache &cache);
  int64_t bytesOfThreadsLocked() const;
  int64_t inUseLocked() const { // without what threads have cached
    return statistics_.inUse - bytesOfThreadsLocked() + charged_.load();
  }
  void giveBack(std::byte *bytes, int sizeClass);
  FreeBuffers &freeOfLocked(int sizeClass); // for taking or giving
  std::shared_ptr<Buffer> takeCachedLocked(int sizeClass, int tolerance, int64_t mostBytes);
  std::shared_ptr<Buffer> takeCachedLocked(int sizeClass);
  void releaseCachedLocked(int64_t atLeast);
  bool releaseIfCached();
  int64_t budgetLocked();
  void makeRoomLocked(int64_t bytes, int64_t wanted);
  void noteChangeLocked();
  void notePeak();

  std::mutex mutex_;
  std::vector<FreeBuffers> free_; // by size class
  uint64_t uses_ = 0;             // of free_: takings and givings so far
  // Of arrays only; the peak is in peak_. What threads have cached counts as in use here.
  PoolStatistics statistics_;
  int64_t peakOfArrays_ = 0; // the largest statistics_.inUse since releaseCached()
  std::vector<ThreadCache *> threadCaches_;
  int64_t budget_ = 0; // 0: not determined yet
  // Charges are frequent: those that fit `chargeable_` take no lock. The holder of the lock keeps
  // arrays_ (bytes used by arrays) and chargeable_ (bytes that may be charged without checking the
  // budget) up to date.
  std::atomic<int64_t> charged_ = 0, peak_ = 0, arrays_ = 0, chargeable_ = 0;
};

// "1.5 GiB", "640 KiB", "12 B".
std::string sizeText(int64_t bytes);

} // namespace tokamak::runtime
#endif
