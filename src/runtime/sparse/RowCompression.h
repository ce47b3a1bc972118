// Builds sparse matrices of entries in any order. Each entry is counted, then placed in its row; in the end rows are sorted by
// column, on all threads, and entries at the same place become one.
//
//   RowCompression compression(context, rows, columns, static_cast<int64_t>(cells.size()));
//   for (const Cell &cell : cells)
//     compression.count(cell.row);
//   compression.beginPlacing();
//   for (const Cell &cell : cells)
//     compression.place(cell.row, cell.column, cell.value);
//   ArrayPointer matrix = compression.finish(RowCompression::SamePlace::Last);
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

  void count(int64_t row) { ++offsets_[row + 1]; }
  void beginPlacing();
  void place(int64_t row, int64_t column, double value) {
    int64_t p = offsets_[row]++;
    indices_[p] = static_cast<int32_t>(column);
    values_[p] = value;
  }
  ArrayPointer finish(SamePlace samePlace);

private:
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
