// Matrices and tensors of those who call a compiled model, as arrays of the runtime and back.
//
//   tokamak_matrix given = {.rows = 2, .columns = 2, .cells = cells}, result = {};
//   ArrayReference array = arrayOverCaller(given);     // the same cells, not copied
//   ArrayResult(array, result).give();                // result.cells[3] == cells[3]
//   releaseArray(result);
#ifndef TOKAMAK_RUNTIME_MODEL_CALLERARRAYS_H
#define TOKAMAK_RUNTIME_MODEL_CALLERARRAYS_H

#include "runtime/model/tokamak_compiled.h"
#include "runtime/values/Array.h"

#include <cstdint>
#include <memory>
#include <variant>

namespace tokamak::runtime {

// Valid as long as the caller's memory. Throws Error if the type, the sizes, or the places of entries, are none, or if cells are
// NULL.
ArrayReference arrayOverCaller(const tokamak_matrix &matrix);
ArrayReference arrayOverCaller(const tokamak_tensor &tensor);

// A piece of memory.
struct Extent {
  uintptr_t begin = 0, end = 0;
  static Extent of(const void *address, size_t bytes) {
    auto begin = reinterpret_cast<uintptr_t>(address);
    return {begin, begin + bytes};
  }
  bool isEmpty() const { return begin == end; }
  bool overlaps(const Extent &other) const {
    return !isEmpty() && !other.isEmpty() && begin < other.end && other.begin < end;
  }
};

// An array on its way to the caller: to the memory that `into` has, or else with memory of its own. Everything that can fail
// happens before give(), so that all results of a call are written or none is.
class ArrayResult {
public:
  // Throws Error if it is no matrix of doubles, or if the caller's memory is too small: then `into` has its sizes.
  ArrayResult(ArrayReference array, tokamak_matrix &into);
  // The same of any array, whose type `into` gets, too.
  ArrayResult(ArrayReference array, tokamak_tensor &into);
  Extent source() const;      // the cells; they may be those of an argument
  Extent destination() const; // what give() writes of the caller's memory
  // What is written to the caller's memory afterwards doesn't change the cells.
  void copyCells();
  void give() noexcept;

private:
  void take(ArrayReference array);
  size_t bytes() const; // of all cells

  std::unique_ptr<ArrayReference> dense_; // owns memory that the caller gets
  const std::byte *cells_ = nullptr;
  std::variant<tokamak_matrix *, tokamak_tensor *> into_;
};

void releaseArray(tokamak_matrix &result);
void releaseArray(tokamak_tensor &result);

} // namespace tokamak::runtime
#endif
