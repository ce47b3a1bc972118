#include "runtime/model/CallerArrays.h"

#include "base/Error.h"
#include "base/Sizes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <vector>

using namespace tokamak;
using namespace tokamak::runtime;

namespace {

// The entries of a sparse matrix: where the caller has them, or copies of those parts that aren't aligned.
struct Entries {
  std::vector<int64_t> ownOffsets;
  std::vector<int32_t> ownColumns;
  std::vector<double> ownCells;
  const int64_t *offsets = nullptr;
  const int32_t *columns = nullptr;
  const double *cells = nullptr;
};

} // namespace

template <typename Number>
static const Number *aligned(const Number *part, int64_t count, std::vector<Number> &copy) {
  if (reinterpret_cast<uintptr_t>(part) % alignof(Number) == 0)
    return part;
  copy.resize(static_cast<size_t>(count));
  std::memcpy(copy.data(), static_cast<const void *>(part), sizeof(Number) * copy.size());
  return copy.data();
}

static void checkColumns(const Entries &entries, const tokamak_matrix &matrix) {
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t entry = entries.offsets[row]; entry < entries.offsets[row + 1]; ++entry) {
      int32_t column = entries.columns[entry];
      if (column < 0 || column >= matrix.columns)
        throw Error(
            fmt::format("row {} has an entry in column {} of {}", row, column, matrix.columns));
      if (entry > entries.offsets[row] && column <= entries.columns[entry - 1])
        throw Error(fmt::format("the columns {}, {} of row {} don't ascend",
                                entries.columns[entry - 1], column, row));
    }
}

static ArrayReference sparseOverCaller(const tokamak_matrix &matrix) {
  Array::checkRoomForSparse(matrix.rows, matrix.columns);
  auto entries = std::make_shared<Entries>();
  entries->offsets = aligned(matrix.offsets, matrix.rows + 1, entries->ownOffsets);
  if (entries->offsets[0] != 0)
    throw Error(fmt::format("the first offset is 0, not {}", entries->offsets[0]));
  for (int64_t row = 0; row < matrix.rows; ++row)
    if (entries->offsets[row + 1] < entries->offsets[row])
      throw Error(fmt::format("row {} ends before it begins", row));
  const int64_t count = entries->offsets[matrix.rows];
  if (count == 0) { // then the caller needs neither columns nor cells
    ArrayPointer empty = Array::createSparse(matrix.rows, matrix.columns, 0);
    std::fill_n(empty->mutableRowOffsets(), matrix.rows + 1, 0);
    return empty;
  }
  if (!matrix.indices)
    throw Error(fmt::format("there are {} entries, but their columns are NULL", count));
  if (!matrix.cells)
    throw Error(fmt::format("there are {} entries, but their cells are NULL", count));
  entries->columns = aligned(matrix.indices, count, entries->ownColumns);
  checkColumns(*entries, matrix);
  entries->cells = aligned<double>(matrix.cells, count, entries->ownCells);
  return Array::overSparse({matrix.rows, matrix.columns}, ElementType::F64, entries->offsets,
                           entries->columns, reinterpret_cast<const std::byte *>(entries->cells),
                           entries);
}

ArrayReference runtime::arrayOverCaller(const tokamak_matrix &matrix) {
  if (!isSize(matrix.rows) || !isSize(matrix.columns) ||
      !productOfSizes({matrix.rows, matrix.columns}))
    throw Error(fmt::format("{}x{} is no size of a matrix", matrix.rows, matrix.columns));
  if (matrix.offsets)
    return sparseOverCaller(matrix);
  Shape shape{matrix.rows, matrix.columns};
  const auto *cells = reinterpret_cast<const std::byte *>(matrix.cells);
  if (!cells && shape.cells() > 0)
    throw Error("the cells are NULL");
  return Array::aligned(Array::over(shape, ElementType::F64, cells));
}

MatrixResult::MatrixResult(ArrayReference array, tokamak_matrix &into) : into_(&into) {
  if (array->elementType() != ElementType::F64 || array->shape().rank() != 2)
    throw Error(fmt::format("it is no matrix of doubles, but of size {}", array->shape().text()));
  if (into.cells && into.capacity < array->cells()) {
    into.rows = array->rows();
    into.columns = array->columns();
    throw Error(fmt::format("it has {} cells, and the memory that the caller gave is for {}",
                            array->shape().text(), into.capacity));
  }
  dense_ = std::make_unique<ArrayReference>(Array::asDense(array));
  // It may be one of the arguments, or a part of one; and nobody else may see what the caller writes to it.
  array.reset();
  if (!into.cells && (dense_->use_count() > 1 || !(*dense_)->ownsWholeBuffer()))
    copyCells();
  cells_ = (*dense_)->data();
}

Extent MatrixResult::source() const { return Extent::of(cells_, bytes()); }
Extent MatrixResult::destination() const {
  return into_->cells ? Extent::of(into_->cells, bytes()) : Extent{};
}

void MatrixResult::copyCells() {
  *dense_ = (*dense_)->copy();
  cells_ = (*dense_)->data();
}

void MatrixResult::give() noexcept {
  into_->rows = (*dense_)->rows();
  into_->columns = (*dense_)->columns();
  if (into_->cells) {
    if (bytes() > 0)
      std::memcpy(into_->cells, cells_, bytes());
    return;
  }
  into_->cells = const_cast<double *>(cells_);
  into_->memory = dense_.release();
}

void runtime::releaseArray(tokamak_matrix &result) {
  if (!result.memory)
    return;
  delete static_cast<ArrayReference *>(result.memory);
  result.memory = nullptr;
  result.cells = nullptr;
}
