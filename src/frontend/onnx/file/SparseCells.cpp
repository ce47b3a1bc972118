#include "frontend/onnx/file/SparseCells.h"

#include "base/Error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::onnx {
namespace {

// The position of a cell by its indices, or by the only one, which is a position already.
int64_t positionOf(const std::vector<int64_t> &dims, int64_t cells, std::span<const int64_t> at) {
  int64_t position = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    int64_t size = at.size() == dims.size() ? dims[i] : cells;
    if (at[i] < 0 || at[i] >= size)
      throw Error(
          fmt::format("one of its indices is {}, but must be from 0 to {}", at[i], size - 1));
    position = position * size + at[i];
  }
  return position;
}

} // namespace

SparseCells::SparseCells(const SparseTensor &tensor, ExternalData *external)
    : values_(tensor.values, external) {
  TensorCells indices(tensor.indices, external);
  std::optional<int64_t> cells = productOf(tensor.dims);
  if (!cells)
    throw Error(fmt::format("its shape [{}] has a negative size or more than 2^63 cells",
                            fmt::join(tensor.dims, ", ")));
  if (tensor.values.dims.size() != 1)
    throw Error(
        fmt::format("its values have {} dimensions, but must have 1", tensor.values.dims.size()));
  if (tensor.indices.dataType != DataType::Int64)
    throw Error(fmt::format("its indices are of {}, but must be of int64",
                            nameOf(tensor.indices.dataType)));
  auto entries = static_cast<size_t>(tensor.values.dims[0]);
  auto rank = static_cast<int64_t>(tensor.dims.size());
  const std::vector<int64_t> &shape = tensor.indices.dims;
  bool arePositions = shape.size() == 1, areRows = shape.size() == 2 && shape[1] == rank;
  if (!(arePositions || areRows) || shape[0] != tensor.values.dims[0])
    throw Error(fmt::format("its indices have shape [{}], but must have [{}] or [{}, {}]",
                            fmt::join(shape, ", "), entries, entries, rank));
  std::vector<int64_t> numbers(static_cast<size_t>(indices.count()));
  indices.copyTo(reinterpret_cast<std::byte *>(numbers.data()));
  size_t width = arePositions ? 1 : static_cast<size_t>(rank);
  for (size_t i = 0; i < entries; ++i) {
    int64_t position =
        positionOf(tensor.dims, *cells, std::span(numbers).subspan(i * width, width));
    if (!positions_.empty() && position <= positions_.back())
      throw Error("its indices don't ascend");
    positions_.push_back(position);
  }
}

} // namespace tokamak::onnx
