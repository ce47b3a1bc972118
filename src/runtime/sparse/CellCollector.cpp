#include "runtime/sparse/CellCollector.h"

#include "runtime/sparse/RowCompression.h"

namespace tokamak::runtime {
CellCollector::CellCollector(int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {
  if (rows < 0 || columns < 0)
    throw Error(fmt::format("a matrix cannot have the size {}x{}", rows, columns));
  if (!isSize(rows) || !isSize(columns))
    throw Error(fmt::format("a matrix of the size {}x{} is too large", rows, columns));
  // Fail before a file is read in vain.
  if (Array::isBetterSparse({rows, columns}, 0))
    Array::checkRoomForSparse(rows, columns);
  else
    dense_ = Array::filled({rows, columns}, 0);
}

void CellCollector::scatter(const BudgetedVector<Cell> &cells) {
  double *data = dense_->mutableData();
  for (const Cell &cell : cells)
    data[cell.row * columns_ + cell.column] = cell.value;
}

void CellCollector::add(BudgetedVector<Cell> cells) {
  count_ += static_cast<int64_t>(cells.size());
  if (!dense_) {
    cells_.push_back(std::move(cells));
    if (Array::isBetterSparse({rows_, columns_}, count_))
      return;
    dense_ = Array::filled({rows_, columns_}, 0);
    for (const BudgetedVector<Cell> &earlier : cells_)
      scatter(earlier);
    cells_.clear();
    return;
  }
  scatter(cells);
}

ArrayPointer CellCollector::compressed(ExecutionContext &context) {
  auto forEachCell = [&](const auto &body) {
    for (const BudgetedVector<Cell> &cells : cells_)
      for (const Cell &cell : cells)
        body(cell.row, cell.column, cell.value);
  };
  return RowCompression(context, rows_, columns_, count_)
      .of(forEachCell, RowCompression::SamePlace::Last);
}

ArrayReference CellCollector::finish(ExecutionContext &context) {
  if (dense_)
    return Array::inBestLayout(std::move(dense_));
  if (Array::isBetterSparse({rows_, columns_}, count_))
    return compressed(context);
  return Array::filled({rows_, columns_}, 0); // no cells, and too small to be sparse
}

} // namespace tokamak::runtime
