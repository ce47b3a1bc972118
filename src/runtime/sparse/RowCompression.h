// Builds sparse matrices of entries in any order. Entries are gone through twice: they are counted, then placed in their rows. In
// the end rows are sorted by column, on all threads, and entries at the same place become one.
//
//   auto forEachEntry = [&](const auto &body) {
//     for (const Cell &cell : cells)
//       body(cell.row, cell.column, cell.value);
//   };
//   ArrayPointer matrix = RowCompression(context, rows, columns, static_cast<int64_t>(cells.size()))
//                             .of(forEachEntry, RowCompression::SamePlace::Last);
#ifndef TOKAMAK_RUNTIME_SPARSE_ROWCOMPRESSION_H
#define TOKAMAK_RUNTIME_SPARSE_ROWCOMPRESSION_H

#include "runtime/natives/Native.h"

namespace tokamak::runtime {

class RowCompression {
public:
  // What becomes of several entries at the same place: their sum in the order in which they were placed, which is
  // an entry even if it is 0; or the last one, which is none if it is 0.
  enum class SamePlace : uint8_t { Added, Last };

  // For so many entries. Throws Error as Array::createSparse does.
  RowCompression(ExecutionContext &context, int64_t rows, int64_t columns, int64_t entries);

  // `forEachEntry(body)` calls body(row, column, value) for all of them.
  template <typename ForEachEntry>
  ArrayPointer of(const ForEachEntry &forEachEntry, SamePlace samePlace) {
    forEachEntry([&](int64_t row, int64_t, double) { ++offsets_[row + 1]; });
    beginPlacing();
    forEachEntry([&](int64_t row, int64_t column, double value) {
      int64_t p = offsets_[row]++;
      indices_[p] = static_cast<int32_t>(column);
      values_[p] = value;
    });
    return finish(samePlace);
  }

private:
  void beginPlacing();
  ArrayPointer finish(SamePlace samePlace);

  ExecutionContext &context_;
  int64_t rows_, columns_, entries_;
  ArrayPointer matrix_;
  // While entries are placed, offsets_[r] is the position for the next one of row r; in the end that is where row r + 1
  // begins.
  int64_t *offsets_;
  int32_t *indices_;
  double *values_;
};

} // namespace tokamak::runtime
#endif
