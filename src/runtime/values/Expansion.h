// The cells of a dense array repeated along its dimensions of one cell.
//
//   ArrayPointer narrow = Array::create({3, 1}, ElementType::F64);
//   Expansion expansion(narrow->shape(), {3, 4});           // rows of four equal cells
//   ArrayPointer wide = Array::create({3, 4}, narrow->elementType());
//   expansion.copyRows(*narrow, *wide, 0, expansion.rows());
#ifndef TOKAMAK_RUNTIME_VALUES_EXPANSION_H
#define TOKAMAK_RUNTIME_VALUES_EXPANSION_H

#include "runtime/values/Array.h"

namespace tokamak::runtime {

class Expansion {
public:
  // Of equally many dimensions, whose sizes are 1 in `from` or the same.
  Expansion(const Shape &from, const Shape &to);

  // What is copied at once: as long as possible, one cell that is repeated along the last dimensions, or all of their cells.
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  void copyRows(const Array &from, Array &to, int64_t begin, int64_t end) const;

private:
  int64_t firstCellOf(int64_t row) const;

  Shape from_, to_;
  int leading_; // dimensions over which rows are counted
  int64_t columns_ = 1, ownCells_ = 1, rows_ = 0;
  bool repeatsCell_ = false;
};

// `array` itself if it has that shape.
ArrayReference expanded(const ArrayReference &array, const Shape &shape);

} // namespace tokamak::runtime
#endif
