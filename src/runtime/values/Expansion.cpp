#include "runtime/values/Expansion.h"

#include <algorithm>

namespace tokamak::runtime {

Expansion::Expansion(const Shape &from, const Shape &to)
    : from_(from), to_(to), leading_(to.rank()) {
  while (leading_ > 0 && from[leading_ - 1] == 1)
    columns_ *= to[--leading_];
  repeatsCell_ = columns_ != 1;
  while (!repeatsCell_ && leading_ > 0 && from[leading_ - 1] == to[leading_ - 1]) {
    columns_ *= to[--leading_];
    ownCells_ = columns_;
  }
  rows_ = columns_ == 0 ? 0 : to.cells() / columns_;
}

// The cell of the smaller array at which a row begins.
int64_t Expansion::firstCellOf(int64_t row) const {
  int64_t cell = 0, stride = ownCells_;
  for (int i = leading_ - 1; i >= 0; --i) {
    if (from_[i] != 1)
      cell += row % to_[i] * stride;
    row /= to_[i];
    stride *= from_[i];
  }
  return cell;
}

void Expansion::copyRows(const Array &from, Array &to, int64_t begin, int64_t end) const {
  withCellSize(from.elementType(), [&]<typename Cell>() {
    const auto *cells = from.cellsAs<Cell>();
    auto *into = to.mutableCellsAs<Cell>();
    for (int64_t row = begin; row < end; ++row) {
      const Cell *first = cells + firstCellOf(row);
      if (repeatsCell_)
        std::fill_n(into + row * columns_, columns_, *first);
      else
        std::copy_n(first, columns_, into + row * columns_);
    }
  });
}

ArrayReference expanded(const ArrayReference &array, const Shape &shape) {
  if (array->shape() == shape)
    return array;
  ArrayPointer result = Array::create(shape, array->elementType());
  Expansion expansion(array->shape(), shape);
  expansion.copyRows(*array, *result, 0, expansion.rows());
  return result;
}

} // namespace tokamak::runtime
