// Counts distinct numbers off in the order in which they come: a hash table with open addresses (D. Knuth, "The art of
// computer programming", volume 3, section 6.4).
//
//   DistinctNumbers distinct;
//   distinct.placeOf(7); distinct.placeOf(3);
//   distinct.placeOf(7);                       // 0
//   distinct.count();                          // 2
#ifndef TOKAMAK_RUNTIME_TRANSFORM_DISTINCTNUMBERS_H
#define TOKAMAK_RUNTIME_TRANSFORM_DISTINCTNUMBERS_H

#include "runtime/memory/MemoryCharge.h"

#include <cstdint>

namespace tokamak::runtime {

class DistinctNumbers {
public:
  // The place of a number, from 0; that of a new one is the count before it.
  int64_t placeOf(uint64_t number) {
    size_t slot = slotOf(number);
    while (slots_[slot].place >= 0 && slots_[slot].number != number)
      slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot].place >= 0)
      return slots_[slot].place;
    slots_[slot] = {number, count_++};
    if (static_cast<size_t>(count_) * 2 > slots_.size())
      grow();
    return count_ - 1;
  }
  int64_t count() const { return count_; }

private:
  struct Slot {
    uint64_t number = 0;
    int64_t place = -1; // none
  };

  // The upper bits of a product with 2^64 divided by the golden ratio.
  size_t slotOf(uint64_t number) const {
    constexpr uint64_t factor = 0x9E3779B97F4A7C15;
    return (number ^ number >> 32) * factor >> shift_;
  }
  void grow() {
    BudgetedVector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot &filled : old) {
      if (filled.place < 0)
        continue;
      size_t slot = slotOf(filled.number);
      while (slots_[slot].place >= 0)
        slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = filled;
    }
  }

  int shift_ = 56; // 64 less the bits of a slot's number
  BudgetedVector<Slot> slots_ = BudgetedVector<Slot>(256);
  int64_t count_ = 0;
};

} // namespace tokamak::runtime
#endif
