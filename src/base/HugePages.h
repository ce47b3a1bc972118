// Large blocks of memory in the processor's huge pages. Memory is mapped when it is first touched,
// a page at a time; what touches hundreds of megabytes once spends most of its time there unless
// the pages are large.
//
//   void *block = allocateOnHugePages(64 << 20);
//   std::free(block);
#ifndef TOKAMAK_BASE_HUGEPAGES_H
#define TOKAMAK_BASE_HUGEPAGES_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace tokamak {

constexpr size_t hugePage = 2 << 20;

/// From this size on, arrays are on huge pages: rounding up smaller ones would waste a third or more.
constexpr size_t hugePagesFrom = 2 * hugePage;

/// At least `bytes` bytes, to be released by std::free, or null. What is smaller than a huge page
/// comes from malloc; the rest is rounded up and begins on a huge page, if the system has them.
inline void *allocateOnHugePages(size_t bytes) {
  if (bytes < hugePage)
    return std::malloc(bytes);
  size_t rounded = (bytes + hugePage - 1) / hugePage * hugePage;
  void *block = std::aligned_alloc(hugePage, rounded);
  if (block)
    madvise(block, rounded, MADV_HUGEPAGE);
  return block;
}

/// `bytes` bytes, a multiple of the huge page, that begin on one, or null. Where std::free may keep blocks for later, munmap gives
/// these back to the system at once, whole or in parts.
inline void *mapHugePages(size_t bytes) {
  size_t mapped = bytes + hugePage;
  void *start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return nullptr;
  auto begin = reinterpret_cast<uintptr_t>(start);
  uintptr_t aligned = (begin + hugePage - 1) / hugePage * hugePage;
  if (aligned > begin)
    munmap(start, aligned - begin);
  if (uintptr_t end = begin + mapped, used = aligned + bytes; end > used)
    munmap(reinterpret_cast<void *>(used), end - used);
  auto *block = reinterpret_cast<void *>(aligned);
  madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

/// What allocateOnHugePages returns, for standard containers.
template <typename T> struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <typename U> HugePageAllocator(const HugePageAllocator<U> &) {}

  T *allocate(size_t count) {
    if (void *block = allocateOnHugePages(count * sizeof(T)))
      return static_cast<T *>(block);
    throw std::bad_alloc();
  }
  void deallocate(T *block, size_t) { std::free(block); }
  bool operator==(const HugePageAllocator &) const = default;
};

} // namespace tokamak

#endif // TOKAMAK_BASE_HUGEPAGES_H
