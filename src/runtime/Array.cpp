#include "runtime/Array.h"

#include "base/Error.h"
#include "runtime/BufferPool.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tokamak::runtime {

int64_t byteSize(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
    return 4;
  case ElementType::Bool:
    return 1;
  }
  return 0;
}

Shape::Shape(std::initializer_list<int64_t> sizes) : rank_(static_cast<int>(sizes.size())) {
  if (rank_ > maxRank)
    internalError(
        fmt::format("an array of {} dimensions; at most {} are supported", rank_, maxRank));
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
}

int64_t Shape::cells() const {
  int64_t cells = 1;
  for (int i = 0; i < rank_; ++i)
    cells *= sizes_[i];
  return cells;
}

bool Shape::operator==(const Shape &other) const {
  return rank_ == other.rank_ &&
         std::equal(sizes_.begin(), sizes_.begin() + rank_, other.sizes_.begin());
}

std::string Shape::text() const {
  std::string text;
  for (int i = 0; i < rank_; ++i)
    text += fmt::format("{}{}", i ? "x" : "", sizes_[i]);
  return text;
}

Array::Array(Shape shape, ElementType type, std::shared_ptr<Buffer> buffer, std::byte *bytes)
    : shape_(shape), type_(type), buffer_(std::move(buffer)), bytes_(bytes) {}

static int64_t checkedBytes(const Shape &shape, ElementType type) {
  int64_t bytes = byteSize(type);
  bool tooLarge = false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < 0)
      throw Error(fmt::format("an array cannot have the size {}", shape.text()));
    tooLarge |= __builtin_mul_overflow(bytes, shape[i], &bytes);
  }
  constexpr int64_t largest = int64_t{1} << 56;
  if (tooLarge || bytes > largest)
    throw Error(fmt::format("an array of the size {} is too large", shape.text()));
  return bytes;
}

ArrayPointer Array::create(Shape shape, ElementType type) {
  auto buffer = BufferPool::instance().allocate(checkedBytes(shape, type));
  std::byte *bytes = buffer->bytes();
  return ArrayPointer(new Array(shape, type, std::move(buffer), bytes));
}

ArrayPointer Array::filled(Shape shape, double value) {
  ArrayPointer array = create(shape);
  std::fill_n(array->mutableData(), array->cells(), value);
  return array;
}

ArrayPointer Array::rowView(int64_t begin, int64_t end) const {
  Shape shape{end - begin, columns()};
  std::byte *bytes = bytes_ + begin * columns() * byteSize(type_);
  return ArrayPointer(new Array(shape, type_, buffer_, bytes));
}

ArrayPointer Array::reshaped(Shape shape) const {
  if (shape.cells() != cells())
    internalError(fmt::format("reshaping {} to {}", shape_.text(), shape.text()));
  return ArrayPointer(new Array(shape, type_, buffer_, bytes_));
}

ArrayPointer Array::copy() const {
  ArrayPointer result = create(shape_, type_);
  std::memcpy(result->bytes_, bytes_, static_cast<size_t>(bytes()));
  return result;
}

bool Array::ownsWholeBuffer() const { return buffer_.use_count() == 1; }

TokArray Array::descriptor() const {
  TokArray result{};
  int rank = shape_.rank();
  int64_t columns = rank > 0 ? shape_[rank - 1] : 1;
  int64_t rows = 1;
  for (int i = 0; i + 1 < rank; ++i)
    rows *= shape_[i];
  result.data = bytes_;
  result.rank = 2;
  result.dims[0] = rows;
  result.dims[1] = columns;
  result.dims[2] = 1;
  result.strides[0] = columns;
  result.strides[1] = 1;
  result.strides[2] = 1;
  result.elementType = static_cast<uint8_t>(type_);
  result.layout = TOK_DENSE;
  return result;
}

} // namespace tokamak::runtime
