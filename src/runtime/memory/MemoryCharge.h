// Charges memory outside of arrays to the pool's budget: strings, frames, and the working memory of
// natives and readers.
//
//   BudgetedVector<int64_t> offsets(1000);     // like std::vector; Error if over budget
//   MemoryCharge charge(text.capacity());      // memory allocated by other code
//   charge.atLeast(text.capacity());           // it has grown
#ifndef TOKAMAK_RUNTIME_MEMORY_MEMORYCHARGE_H
#define TOKAMAK_RUNTIME_MEMORY_MEMORYCHARGE_H

#include "runtime/memory/BufferPool.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace tokamak::runtime {

// Counts this many bytes as in use during its lifetime. The memory need not be allocated yet:
// charge it first to stay within the budget. A copy charges the bytes again.
class MemoryCharge {
public:
  MemoryCharge() = default;
  // Throws Error with the sizes if the budget would be exceeded.
  explicit MemoryCharge(int64_t bytes) { resize(bytes); }
  MemoryCharge(const MemoryCharge &other) : MemoryCharge(other.bytes_) {}
  MemoryCharge(MemoryCharge &&other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge &operator=(MemoryCharge other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() {
    if (bytes_ > 0)
      BufferPool::instance().discharge(bytes_);
  }

  int64_t bytes() const { return bytes_; }
  void resize(int64_t bytes) {
    BufferPool &pool = BufferPool::instance();
    if (bytes > bytes_)
      pool.charge(bytes - bytes_);
    else
      pool.discharge(bytes_ - bytes);
    bytes_ = bytes;
  }
  // For memory that grows step by step: cheap if the charge covers `bytes` already; otherwise grows
  // it by an eighth more than needed, so that this happens rarely.
  void atLeast(int64_t bytes) {
    if (bytes > bytes_)
      resize(bytes + bytes / 8);
  }

private:
  template <typename T> friend struct BudgetedAllocator;
  void keep() { bytes_ = 0; } // the caller discharges the bytes

  int64_t bytes_ = 0;
};

// The standard allocator, charging its memory to the budget.
template <typename T> struct BudgetedAllocator {
  using value_type = T;
  BudgetedAllocator() = default;
  template <typename U> BudgetedAllocator(const BudgetedAllocator<U> &) {}
  T *allocate(size_t count) {
    if (count > std::numeric_limits<int64_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    MemoryCharge charge(static_cast<int64_t>(count * sizeof(T)));
    T *memory = std::allocator<T>().allocate(count);
    charge.keep(); // deallocate discharges it
    return memory;
  }
  void deallocate(T *memory, size_t count) noexcept {
    std::allocator<T>().deallocate(memory, count);
    BufferPool::instance().discharge(static_cast<int64_t>(count * sizeof(T)));
  }
  template <typename U> bool operator==(const BudgetedAllocator<U> &) const { return true; }
};

template <typename T> using BudgetedVector = std::vector<T, BudgetedAllocator<T>>;

} // namespace tokamak::runtime
#endif
