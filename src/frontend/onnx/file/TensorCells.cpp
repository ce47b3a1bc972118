#include "frontend/onnx/file/TensorCells.h"

#include "base/Error.h"
#include "frontend/onnx/file/NarrowFloats.h"
#include "frontend/onnx/file/TypedFields.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw data is little-endian");

constexpr int bitsOfByte = 8;

std::string shapeOf(const Tensor &tensor) {
  constexpr size_t mostShown = 16;
  if (tensor.dims.size() > mostShown)
    return fmt::format("shape of {} dimensions", tensor.dims.size());
  return fmt::format("shape [{}]", fmt::join(tensor.dims, ", "));
}

// The bytes of raw data; nothing if it is beyond what a file can hold.
std::optional<int64_t> rawBytesOf(DataType type, int64_t elements) {
  int64_t bits = bitsOf(type);
  if (bits >= bitsOfByte)
    return productOf({elements, bits / bitsOfByte});
  // 6-bit cells included, whose groups of four take three bytes.
  constexpr int64_t most = int64_t{1} << 60;
  return elements > most ? std::nullopt
                         : std::optional((elements * bits + bitsOfByte - 1) / bitsOfByte);
}

// Calls visit(position, bits) for each element of raw data whose elements have up to eight bits.
// They follow each other from the lowest bit of the first byte on.
template <typename Visit>
void visitRaw(std::string_view raw, int bits, int64_t elements, const Visit &visit) {
  auto byteAt = [&](size_t i) {
    return i < raw.size() ? static_cast<unsigned>(static_cast<unsigned char>(raw[i])) : 0U;
  };
  for (int64_t i = 0; i < elements; ++i) {
    auto bit = static_cast<size_t>(i) * static_cast<size_t>(bits);
    size_t byte = bit / bitsOfByte;
    unsigned two = byteAt(byte) | byteAt(byte + 1) << bitsOfByte;
    visit(i, two >> bit % bitsOfByte & ((1U << bits) - 1));
  }
}

// The same for cells in typed fields.
template <typename Visit>
void visitTypedCells(const Tensor &tensor, int64_t elements, const Visit &visit) {
  int perNumber = cellsPerNumber(tensor.dataType);
  int bits = bitsOf(tensor.dataType);
  int64_t position = 0;
  visitTyped(tensor, [&](uint64_t number) {
    for (int i = 0; i < perNumber && position < elements; ++i)
      visit(position++, static_cast<unsigned>(number >> i * bits) & ((1U << bits) - 1));
  });
}

// Numbers of typed fields whose lowest bits are the cells.
void copyTyped(const Tensor &tensor, ElementType element, std::byte *to) {
  withCellSize(element, [&]<typename Bits>() {
    visitTyped(tensor, [&](uint64_t number) {
      auto bits = static_cast<Bits>(number);
      std::memcpy(to, &bits, sizeof(bits));
      to += sizeof(bits);
    });
  });
}

// A cell of up to eight bits in the type that it is widened to.
template <typename Cell> Cell widened(DataType type, unsigned bits) {
  switch (type) {
  case DataType::Int4:
  case DataType::Int2: {
    int unused = bitsOfByte - bitsOf(type);
    return static_cast<Cell>(static_cast<int8_t>(bits << unused) >> unused);
  }
  case DataType::UInt4:
  case DataType::UInt2:
    return static_cast<Cell>(bits);
  case DataType::Bool:
    return static_cast<Cell>(bits != 0);
  default:
    return static_cast<Cell>(narrowFloat(type, bits));
  }
}

template <typename Cell> void put(std::byte *to, int64_t position, Cell cell) {
  std::memcpy(to + position * static_cast<int64_t>(sizeof(Cell)), &cell, sizeof(Cell));
}

} // namespace

std::optional<int64_t> productOf(const std::vector<int64_t> &sizes) {
  int64_t product = 1;
  bool isBeyond = false, isEmpty = false;
  for (int64_t size : sizes) {
    if (size < 0)
      return std::nullopt;
    isEmpty |= size == 0;
    isBeyond |= __builtin_mul_overflow(product, size, &product);
  }
  if (isEmpty)
    return 0;
  return isBeyond ? std::nullopt : std::optional(product);
}

TensorCells::TensorCells(const Tensor &tensor, ExternalData *external) : tensor_(tensor) {
  DataType type = tensor.dataType;
  if (tensor.isSegment)
    throw Error("it is a segment of a tensor; only whole tensors can be read");
  if (!isKnown(type))
    throw Error(fmt::format("its cells have {}; ONNX has types 1 to {}", nameOf(type),
                            static_cast<int>(DataType::Float6E3M2)));
  for (int64_t size : tensor.dims)
    if (size < 0)
      throw Error(fmt::format("its {} has a negative size", shapeOf(tensor)));
  std::optional<int64_t> elements = productOf(tensor.dims);
  std::optional<int64_t> count =
      elements ? productOf({*elements, isComplex(type) ? 2 : 1}) : std::nullopt;
  if (!count)
    throw Error(fmt::format("its {} has more than 2^63 cells", shapeOf(tensor)));
  elements_ = *elements;
  count_ = *count;
  if (tensor.storage == CellStorage::TypedFields)
    checkTyped();
  else
    takeRaw(external);
}

void TensorCells::takeRaw(ExternalData *external) {
  DataType type = tensor_.dataType;
  bool isRaw = tensor_.storage == CellStorage::Raw;
  if (type == DataType::String)
    throw Error("strings must stand in string_data");
  if (tensor_.typedFields != 0)
    throw Error(fmt::format("its cells stand both in {} and in {}",
                            isRaw ? "raw_data" : "another file",
                            nameOfField(std::countr_zero(tensor_.typedFields))));
  if (!isRaw && !external)
    throw Error("its cells stand in another file, which is not allowed here");
  raw_ = isRaw ? tensor_.raw : external->bytesOf(tensor_);
  std::optional<int64_t> bytes = rawBytesOf(type, elements_);
  if (!bytes || static_cast<uint64_t>(*bytes) != raw_.size())
    throw Error(fmt::format("its {} of {} needs {} bytes, but {} has {}", shapeOf(tensor_),
                            nameOf(type), bytes ? fmt::to_string(*bytes) : "more than 2^63",
                            isRaw ? "raw_data" : "its external data", raw_.size()));
}

void TensorCells::checkTyped() const {
  DataType type = tensor_.dataType;
  uint32_t field = typedFieldOf(type);
  uint32_t others = tensor_.typedFields & ~(1U << field);
  if (others != 0)
    throw Error(fmt::format("cells of {} must stand in {} or raw_data, not in {}", nameOf(type),
                            nameOfField(field), nameOfField(std::countr_zero(others))));
  std::optional<int64_t> found = countTyped(tensor_);
  if (!found)
    throw Error(fmt::format("its {} is broken protobuf", nameOfField(field)));
  int64_t perNumber = cellsPerNumber(type);
  int64_t needed = isComplex(type) ? count_ : count_ / perNumber + (count_ % perNumber != 0);
  if (*found != needed)
    throw Error(fmt::format("its {} of {} needs {} {}, but {} has {}", shapeOf(tensor_),
                            nameOf(type), needed, field == stringData ? "strings" : "numbers",
                            nameOfField(field), *found));
  if (std::optional<int64_t> wrong = misfitOf(tensor_))
    throw Error(
        fmt::format("{} holds {}, which is no {}", nameOfField(field), *wrong, nameOf(type)));
}

std::string_view TensorCells::inPlace() const {
  return isNarrow(tensor_.dataType) || tensor_.dataType == DataType::Bool ? std::string_view()
                                                                          : raw_;
}

void TensorCells::copyTo(std::byte *to) const {
  DataType type = tensor_.dataType;
  bool isTyped = tensor_.storage == CellStorage::TypedFields;
  if (!isTyped && !inPlace().empty()) {
    std::memcpy(to, raw_.data(), raw_.size());
    return;
  }
  std::optional<ElementType> element = elementType();
  if (!element)
    internalError("strings have no element type");
  if (isTyped && !isNarrow(type) && type != DataType::Bool)
    return copyTyped(tensor_, *element, to);
  if (isTyped && type == DataType::Bool) {
    visitTyped(tensor_, [&](uint64_t number) { *to++ = std::byte(number != 0); });
    return;
  }
  withCellType(*element, [&]<typename Cell>() {
    auto store = [&](int64_t position, unsigned bits) {
      put(to, position, widened<Cell>(type, bits));
    };
    if (isTyped)
      visitTypedCells(tensor_, elements_, store);
    else
      visitRaw(raw_, bitsOf(type), elements_, store);
  });
}

std::vector<std::string_view> TensorCells::strings() const {
  return tensor_.dataType == DataType::String ? stringsOf(tensor_)
                                              : std::vector<std::string_view>();
}

} // namespace tokamak::onnx
