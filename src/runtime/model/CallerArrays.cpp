#include "runtime/model/CallerArrays.h"

#include "base/Error.h"
#include "base/Sizes.h"

#include <cstring>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::runtime;

static void checkEntries(const tokamak_matrix &matrix) {
  if (!matrix.indices)
    throw Error("there are offsets of rows, but no columns of entries");
  if (matrix.offsets[0] != 0)
    throw Error(fmt::format("the first offset is 0, not {}", matrix.offsets[0]));
  for (int64_t row = 0; row < matrix.rows; ++row)
    if (matrix.offsets[row + 1] < matrix.offsets[row])
      throw Error(fmt::format("row {} ends before it begins", row));
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t entry = matrix.offsets[row]; entry < matrix.offsets[row + 1]; ++entry) {
      int32_t column = matrix.indices[entry];
      if (column < 0 || column >= matrix.columns)
        throw Error(
            fmt::format("row {} has an entry in column {} of {}", row, column, matrix.columns));
      if (entry > matrix.offsets[row] && column <= matrix.indices[entry - 1])
        throw Error(fmt::format("the columns {}, {} of row {} don't ascend",
                                matrix.indices[entry - 1], column, row));
    }
}

ArrayReference runtime::arrayOverCaller(const tokamak_matrix &matrix) {
  if (!isSize(matrix.rows) || !isSize(matrix.columns) ||
      !productOfSizes({matrix.rows, matrix.columns}))
    throw Error(fmt::format("{}x{} is no size of a matrix", matrix.rows, matrix.columns));
  Shape shape{matrix.rows, matrix.columns};
  const auto *cells = reinterpret_cast<const std::byte *>(matrix.cells);
  if (matrix.offsets) {
    Array::checkRoomForSparse(matrix.rows, matrix.columns);
    checkEntries(matrix);
    return Array::overSparse(shape, ElementType::F64, matrix.offsets, matrix.indices, cells,
                             nullptr);
  }
  if (!cells && shape.cells() > 0)
    throw Error("the cells are NULL");
  return Array::aligned(Array::over(shape, ElementType::F64, cells));
}

void runtime::giveArray(ArrayReference array, tokamak_matrix &result) {
  if (array->elementType() != ElementType::F64 || array->shape().rank() != 2)
    throw Error(fmt::format("it is no matrix of doubles, but of size {}", array->shape().text()));
  result.rows = array->rows();
  result.columns = array->columns();
  ArrayReference dense = Array::asDense(array);
  if (result.cells) {
    if (result.capacity < dense->cells())
      throw Error(fmt::format("it has {} cells, and the memory that the caller gave is for {}",
                              array->shape().text(), result.capacity));
    if (dense->cells() > 0)
      std::memcpy(result.cells, dense->data(),
                  sizeof(double) * static_cast<size_t>(dense->cells()));
    return;
  }
  // It may be one of the arguments, or a part of one; and nobody else may see what the caller writes to it.
  array.reset();
  if (dense.use_count() > 1 || !dense->ownsWholeBuffer())
    dense = dense->copy();
  auto *owner = new ArrayReference(std::move(dense));
  result.cells = const_cast<double *>((*owner)->data());
  result.memory = owner;
}

void runtime::releaseArray(tokamak_matrix &result) {
  if (!result.memory)
    return;
  delete static_cast<ArrayReference *>(result.memory);
  result.memory = nullptr;
  result.cells = nullptr;
}
