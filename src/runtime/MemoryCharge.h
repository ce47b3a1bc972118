// Memory that is no array counts against the pool's budget, too: texts, frames, and what natives
// and readers need while they work.
//
//   BudgetedVector<int64_t> keys(rows);        // as std::vector; Error where the budget is passed
//   MemoryCharge charge(text.capacity());      // memory that somebody else allocates
//   charge.atLeast(text.capacity());           // it has grown
#ifndef TOKAMAK_RUNTIME_MEMORYCHARGE_H
#define TOKAMAK_RUNTIME_MEMORYCHARGE_H

#include "runtime/BufferPool.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace tokamak::runtime {

// Counts so many bytes as in use for as long as it lives. What it counts need not be allocated
// yet: to charge first keeps the program within its budget. A copy counts the bytes once more.
class MemoryCharge {
public:
  MemoryCharge() = default;
  // Throws Error naming the sizes when the budget would be passed.
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
  // For memory that grows step by step: cheap where the charge covers it already. It grows by an
  // eighth at least, so that it seldom has to.
  void atLeast(int64_t bytes) {
    if (bytes > bytes_)
      resize(bytes + bytes / 8);
  }

private:
  template <typename T> friend struct BudgetedAllocator;
  void keep() { bytes_ = 0; } // somebody else discharges it

  int64_t bytes_ = 0;
};

// The standard allocator, with what it gives counted.
template <typename T> struct BudgetedAllocator {
  using value_type = T;
  BudgetedAllocator() = default;
  template <typename U> BudgetedAllocator(const BudgetedAllocator<U> &) {}
  T *allocate(size_t count) {
    if (count > std::numeric_limits<int64_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    MemoryCharge charge(static_cast<int64_t>(count * sizeof(T)));
    T *memory = std::allocator<T>().allocate(count);
    charge.keep(); // until deallocate
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
