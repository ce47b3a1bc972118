#include "runtime/model/CallerArrays.h"

#include "base/Error.h"
#include "base/Sizes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <vector>

using namespace tokamak;
using namespace tokamak::runtime;

namespace {

// The entries of a sparse matrix: where the caller has them, or copies of those parts that aren't aligned.
struct Entries {
  std::vector<int64_t> ownOffsets;
  std::vector<int32_t> ownColumns;
  std::vector<std::byte> ownCells;
  const int64_t *offsets = nullptr;
  const int32_t *columns = nullptr;
  const std::byte *cells = nullptr;
};

} // namespace

// `each`: what an element's address is a multiple of, in bytes.
template <typename Element>
static const Element *aligned(const Element *part, int64_t count, std::vector<Element> &copy,
                              size_t each = alignof(Element)) {
  if (reinterpret_cast<uintptr_t>(part) % each == 0)
    return part;
  copy.resize(static_cast<size_t>(count));
  std::memcpy(copy.data(), static_cast<const void *>(part), sizeof(Element) * copy.size());
  return copy.data();
}

static void checkColumns(const Entries &entries, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t entry = entries.offsets[row]; entry < entries.offsets[row + 1]; ++entry) {
      int32_t column = entries.columns[entry];
      if (column < 0 || column >= columns)
        throw Error(fmt::format("row {} has an entry in column {} of {}", row, column, columns));
      if (entry > entries.offsets[row] && column <= entries.columns[entry - 1])
        throw Error(fmt::format("the columns {}, {} of row {} don't ascend",
                                entries.columns[entry - 1], column, row));
    }
}

static ArrayReference sparseOverCaller(const tokamak_tensor &tensor, ElementType type) {
  if (tensor.rank != 2 || !mayBeSparse(type))
    throw Error(fmt::format("only matrices of f64 and f32 may be sparse, not {} of {} dimensions",
                            nameOf(type), tensor.rank));
  const int64_t rows = tensor.sizes[0], columns = tensor.sizes[1];
  Array::checkRoomForSparse(rows, columns);
  auto entries = std::make_shared<Entries>();
  entries->offsets = aligned(tensor.offsets, rows + 1, entries->ownOffsets);
  if (entries->offsets[0] != 0)
    throw Error(fmt::format("the first offset is 0, not {}", entries->offsets[0]));
  for (int64_t row = 0; row < rows; ++row)
    if (entries->offsets[row + 1] < entries->offsets[row])
      throw Error(fmt::format("row {} ends before it begins", row));
  const int64_t count = entries->offsets[rows];
  if (count == 0) { // then the caller needs neither columns nor cells
    ArrayPointer empty = Array::createSparse(rows, columns, 0, type);
    std::fill_n(empty->mutableRowOffsets(), rows + 1, 0);
    return empty;
  }
  if (!tensor.indices)
    throw Error(fmt::format("there are {} entries, but their columns are NULL", count));
  if (!tensor.cells)
    throw Error(fmt::format("there are {} entries, but their cells are NULL", count));
  entries->columns = aligned(tensor.indices, count, entries->ownColumns);
  checkColumns(*entries, rows, columns);
  const auto size = static_cast<size_t>(byteSize(type));
  entries->cells = aligned(static_cast<const std::byte *>(tensor.cells),
                           count * static_cast<int64_t>(size), entries->ownCells, size);
  return Array::overSparse({rows, columns}, type, entries->offsets, entries->columns,
                           entries->cells, entries);
}

static std::optional<Shape> shapeOf(std::span<const int64_t> sizes) {
  if (!std::ranges::all_of(sizes, isSize))
    return std::nullopt;
  Shape shape(sizes);
  return productOfSizes(sizes) ? std::optional(shape) : std::nullopt;
}

ArrayReference runtime::arrayOverCaller(const tokamak_tensor &tensor) {
  auto number = static_cast<int64_t>(tensor.type);
  if (number < 0 || number >= elementTypeCount)
    throw Error(fmt::format("{} is no type of cells", number));
  auto type = static_cast<ElementType>(number);
  if (tensor.rank < 0 || tensor.rank > Shape::maxRank)
    throw Error(
        fmt::format("an array has 0 to {} dimensions, not {}", Shape::maxRank, tensor.rank));
  std::span sizes(tensor.sizes, static_cast<size_t>(tensor.rank));
  std::optional<Shape> shape = shapeOf(sizes);
  if (!shape)
    throw Error(fmt::format("{} is no size of {}", fmt::join(sizes, "x"),
                            sizes.size() == 2 ? "a matrix" : "an array"));
  if (tensor.offsets)
    return sparseOverCaller(tensor, type);
  if (!tensor.cells && shape->cells() > 0)
    throw Error("the cells are NULL");
  return Array::aligned(Array::over(*shape, type, static_cast<const std::byte *>(tensor.cells)));
}

ArrayReference runtime::arrayOverCaller(const tokamak_matrix &matrix) {
  return arrayOverCaller({.type = TOKAMAK_F64,
                          .rank = 2,
                          .sizes = {matrix.rows, matrix.columns},
                          .cells = matrix.cells,
                          .offsets = matrix.offsets,
                          .indices = matrix.indices,
                          .capacity = 0,
                          .memory = nullptr});
}

//===- results -------------------------------------------------------------------------------===//

static void setSizes(tokamak_matrix &into, const Array &array) {
  into.rows = array.rows();
  into.columns = array.columns();
}
static void setSizes(tokamak_tensor &into, const Array &array) {
  into.type = static_cast<tokamak_type>(array.elementType());
  into.rank = array.shape().rank();
  std::ranges::copy(array.shape().sizes(), into.sizes);
}

ArrayResult::ArrayResult(ArrayReference array, tokamak_matrix &into) : into_(&into) {
  if (array->elementType() != ElementType::F64 || array->shape().rank() != 2)
    throw Error(fmt::format("it is no matrix of doubles, but of size {}", array->shape().text()));
  if (into.cells && into.capacity < array->cells()) {
    setSizes(into, *array);
    throw Error(fmt::format("it has {} cells, and the memory that the caller gave is for {}",
                            array->shape().text(), into.capacity));
  }
  take(std::move(array));
}

ArrayResult::ArrayResult(ArrayReference array, tokamak_tensor &into) : into_(&into) {
  const int64_t bytes = array->cells() * byteSize(array->elementType());
  if (into.cells && into.capacity < bytes) {
    setSizes(into, *array);
    throw Error(fmt::format("it has {} cells of {}, {} bytes, and the memory that the caller gave "
                            "has {}",
                            array->shape().rank() > 0 ? array->shape().text() : "1",
                            nameOf(array->elementType()), bytes, into.capacity));
  }
  take(std::move(array));
}

void ArrayResult::take(ArrayReference array) {
  dense_ = std::make_unique<ArrayReference>(Array::asDense(array));
  // It may be one of the arguments, or a part of one; and nobody else may see what the caller writes to it.
  array.reset();
  bool hasMemory = std::visit([](auto *into) { return into->cells != nullptr; }, into_);
  if (!hasMemory && (dense_->use_count() > 1 || !(*dense_)->ownsWholeBuffer()))
    copyCells();
  cells_ = (*dense_)->rawBytes();
}

size_t ArrayResult::bytes() const {
  return static_cast<size_t>((*dense_)->cells() * byteSize((*dense_)->elementType()));
}

Extent ArrayResult::source() const { return Extent::of(cells_, bytes()); }
Extent ArrayResult::destination() const {
  return std::visit(
      [&](auto *into) { return into->cells ? Extent::of(into->cells, bytes()) : Extent{}; }, into_);
}

void ArrayResult::copyCells() {
  *dense_ = (*dense_)->copy();
  cells_ = (*dense_)->rawBytes();
}

void ArrayResult::give() noexcept {
  std::visit(
      [&](auto *into) {
        setSizes(*into, **dense_);
        if (into->cells) {
          if (bytes() > 0)
            std::memcpy(into->cells, cells_, bytes());
          return;
        }
        into->cells = reinterpret_cast<decltype(into->cells)>(const_cast<std::byte *>(cells_));
        into->memory = dense_.release();
      },
      into_);
}

template <typename Result> static void release(Result &result) {
  if (!result.memory)
    return;
  delete static_cast<ArrayReference *>(result.memory);
  result.memory = nullptr;
  result.cells = nullptr;
}
void runtime::releaseArray(tokamak_matrix &result) { release(result); }
void runtime::releaseArray(tokamak_tensor &result) { release(result); }
