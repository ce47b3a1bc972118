#include "runtime/values/Array.h"

#include "base/Error.h"
#include "base/Sizes.h"
#include "base/SoleOwner.h"
#include "base/UncheckedByThreadSanitizer.h"
#include "runtime/memory/BufferPool.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace tokamak::runtime {

Shape::Shape(std::initializer_list<int64_t> sizes) : Shape(std::span(sizes)) {}

Shape::Shape(std::span<const int64_t> sizes) : rank_(static_cast<int>(sizes.size())) {
  if (rank_ > maxRank)
    internalError(
        fmt::format("an array of {} dimensions; at most {} are supported", rank_, maxRank));
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
}

int64_t Shape::cells() const {
  int64_t cells = 1;
  bool overflows = false;
  for (int i = 0; i < rank_; ++i)
    overflows |= __builtin_mul_overflow(cells, sizes_[i], &cells);
  if (!overflows) [[likely]]
    return cells;
  std::optional<int64_t> product = productOfSizes(sizes()); // 0 if any size is 0
  if (!product)
    throw Error(fmt::format("an array of the size {} is too large", text()));
  return *product;
}

Shape Shape::withLast(int64_t size) const {
  Shape shape = *this;
  shape.sizes_[rank_ - 1] = size;
  return shape;
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

Array::Array(Private, const Shape &shape, ElementType type, std::shared_ptr<Buffer> buffer,
             std::byte *bytes)
    : shape_(shape), type_(type), buffer_(std::move(buffer)), bytes_(bytes) {}

[[noreturn]] static void failTooLarge(const Shape &shape) {
  throw Error(fmt::format("an array of the size {} is too large", shape.text()));
}

static int64_t checkedBytes(const Shape &shape, ElementType type) {
  for (int64_t size : shape.sizes()) {
    if (size < 0)
      throw Error(fmt::format("an array cannot have the size {}", shape.text()));
    if (size > largestSize)
      failTooLarge(shape);
  }
  std::optional<int64_t> cells = productOfSizes(shape.sizes());
  if (!cells || *cells > largestSize)
    failTooLarge(shape);
  return *cells * byteSize(type);
}

ArrayPointer Array::create(const Shape &shape, ElementType type) {
  auto buffer = BufferPool::instance().allocate(checkedBytes(shape, type));
  std::byte *bytes = buffer->bytes();
  return make(shape, type, std::move(buffer), bytes);
}

// Without a buffer, it is never the sole owner of one.
// Not a buffer of the pool: a null pointer that holds the owner.
static std::shared_ptr<Buffer> holding(const std::shared_ptr<const void> &owner) {
  return {owner, nullptr};
}

ArrayPointer Array::over(const Shape &shape, ElementType type, const std::byte *cells,
                         const std::shared_ptr<const void> &owner) {
  checkedBytes(shape, type);
  return make(shape, type, holding(owner), const_cast<std::byte *>(cells));
}

ArrayReference Array::aligned(ArrayReference array) {
  if (array->isAligned())
    return array;
  ArrayPointer copy = create(array->shape(), array->elementType());
  std::memcpy(copy->mutableBytes(), array->rawBytes(), static_cast<size_t>(array->bytes()));
  return copy;
}

ArrayPointer Array::filled(Shape shape, double value) {
  ArrayPointer array = create(shape);
  std::fill_n(array->mutableData(), array->cells(), value);
  return array;
}

// The bytes of a CSR matrix's row offsets. Throws Error if it has too many rows, columns or cells.
static int64_t checkedOffsetBytes(int64_t rows, int64_t columns) {
  if (columns > INT32_MAX)
    throw Error(
        fmt::format("a sparse matrix of {} columns: at most {} are supported", columns, INT32_MAX));
  // Few cells are stored, but all are counted; below this limit 1.5 times the count fits 64 bits.
  constexpr int64_t mostCells = int64_t{1} << 61;
  std::optional<int64_t> cells = productOfSizes({rows, columns});
  if (rows < 0 || columns < 0 || rows >= largestSize || !cells || *cells > mostCells)
    failTooLarge({rows, columns});
  return (rows + 1) * byteSize(ElementType::I64);
}

void Array::checkRoomForSparse(int64_t rows, int64_t columns) {
  int64_t offsetBytes = checkedOffsetBytes(rows, columns);
  try {
    BufferPool::instance().checkRoomFor(offsetBytes);
  } catch (Error &error) {
    throw error.note(fmt::format("a sparse matrix of {} rows takes {} for its row offsets", rows,
                                 sizeText(offsetBytes)));
  }
}

ArrayPointer Array::createSparse(int64_t rows, int64_t columns, int64_t entries, ElementType type) {
  int64_t offsetBytes = checkedOffsetBytes(rows, columns);
  auto pattern =
      BufferPool::instance().allocate(offsetBytes + checkedBytes({entries}, ElementType::F32));
  auto buffer = BufferPool::instance().allocate(checkedBytes({entries}, type));
  std::byte *bytes = buffer->bytes();
  ArrayPointer array = make({rows, columns}, type, std::move(buffer), bytes);
  array->rowOffsets_ = reinterpret_cast<const int64_t *>(pattern->bytes());
  array->columnIndices_ = reinterpret_cast<const int32_t *>(pattern->bytes() + offsetBytes);
  array->pattern_ = std::move(pattern);
  return array;
}

ArrayPointer Array::overSparse(const Shape &shape, ElementType type, const int64_t *rowOffsets,
                               const int32_t *columnIndices, const std::byte *cells,
                               const std::shared_ptr<const void> &owner) {
  checkRoomForSparse(shape[0], shape[1]);
  ArrayPointer array = make(shape, type, holding(owner), const_cast<std::byte *>(cells));
  array->rowOffsets_ = rowOffsets;
  array->columnIndices_ = columnIndices;
  array->pattern_ = array->buffer_;
  return array;
}

ArrayPointer Array::withSamePattern(ElementType type) const {
  // Entries keep their positions, so that the shared row offsets are valid for the new values, too.
  int64_t skipped = rowOffsets_[0];
  auto buffer = BufferPool::instance().allocate(checkedBytes({skipped + entries()}, type));
  std::byte *bytes = buffer->bytes();
  ArrayPointer array = make(shape_, type, std::move(buffer), bytes);
  array->pattern_ = pattern_;
  array->rowOffsets_ = rowOffsets_;
  array->columnIndices_ = columnIndices_;
  return array;
}

ArrayPointer Array::writableAlias() const {
  // A separate use count makes the alias count as sole owner; its deleter keeps the buffer alive.
  std::shared_ptr<Buffer> buffer(buffer_.get(), [owner = buffer_](Buffer *) {});
  ArrayPointer alias = make(shape_, type_, std::move(buffer), bytes_);
  alias->isAlias_ = true;
  return alias;
}

static double numberAt(const std::byte *bytes, ElementType type, int64_t index) {
  return withCellType(type, [&]<typename Cell>() {
    return convertCell<double>(reinterpret_cast<const Cell *>(bytes)[index]);
  });
}

void Array::repeat(Shape shape) {
  checkedBytes(shape, type_);
  shape_ = shape;
  isRepeated_ = true;
}

double Array::repeatedCell() const { return numberAt(bytes_, type_, 0); }

const Array *Array::inDense() const {
  std::lock_guard lock(conversion_);
  if (!otherLayout_) {
    ArrayPointer dense = create(shape_, type_);
    withCellType(type_, [&]<typename Cell>() {
      std::fill_n(dense->mutableCellsAs<Cell>(), cells(), *reinterpret_cast<const Cell *>(bytes_));
    });
    otherLayout_ = std::move(dense);
  }
  return otherLayout_.get();
}

void Array::becomeDense() {
  inDense();
  buffer_ = otherLayout_->buffer_;
  bytes_ = otherLayout_->bytes_;
  isRepeated_ = false;
}

// A repeated array of another shape with the same cell.
ArrayPointer Array::repeatedAs(Shape shape) const {
  ArrayPointer array = make(shape, type_, buffer_, bytes_);
  array->isRepeated_ = true;
  return array;
}

ArrayPointer Array::rowView(int64_t begin, int64_t end) const {
  Shape shape{end - begin, columns()};
  if (isSparse()) {
    ArrayPointer view = make(shape, type_, buffer_, bytes_);
    view->pattern_ = pattern_;
    view->rowOffsets_ = rowOffsets_ + begin;
    view->columnIndices_ = columnIndices_;
    return view;
  }
  return part(begin * columns(), shape);
}

ArrayPointer Array::part(int64_t begin, const Shape &shape) const {
  if (isRepeated_)
    return repeatedAs(shape);
  return make(shape, type_, buffer_, bytes_ + begin * byteSize(type_));
}

ArrayPointer Array::reshaped(Shape shape) const {
  if (shape.cells() != cells() || isSparse())
    internalError(fmt::format("reshaping {} to {}", shape_.text(), shape.text()));
  if (isRepeated_)
    return repeatedAs(shape);
  return make(shape, type_, buffer_, bytes_);
}

ArrayPointer Array::copy() const {
  if (isSparse()) {
    int64_t first = rowOffsets_[0], count = entries(), size = byteSize(type_);
    ArrayPointer result = createSparse(rows(), columns(), count, type_);
    for (int64_t row = 0; row <= rows(); ++row)
      result->mutableRowOffsets()[row] = rowOffsets_[row] - first;
    std::copy_n(columnIndices_ + first, count, result->mutableColumnIndices());
    std::memcpy(result->bytes_, bytes_ + first * size, static_cast<size_t>(count * size));
    return result;
  }
  ArrayPointer result = create(shape_, type_);
  if (isRepeated_) {
    withCellType(type_, [&]<typename Cell>() {
      std::fill_n(result->mutableCellsAs<Cell>(), cells(), *reinterpret_cast<const Cell *>(bytes_));
    });
    return result;
  }
  // Other tasks may write cells of an alias during the copy. Nobody reads
  // the copies of those cells.
  std::optional<UncheckedByThreadSanitizer> section;
  if (isAlias_)
    section.emplace();
  std::memcpy(result->bytes_, bytes_, static_cast<size_t>(bytes()));
  return result;
}

bool Array::ownsWholeBuffer() const { return buffer_ && hasSoleOwner(buffer_); }

int64_t Array::bytes() const {
  if (isRepeated_)
    return byteSize(type_);
  if (!isSparse())
    return cells() * byteSize(type_);
  return entries() * (byteSize(type_) + static_cast<int64_t>(sizeof(int32_t))) +
         (rows() + 1) * static_cast<int64_t>(sizeof(int64_t));
}

double Array::at(int64_t row, int64_t column) const {
  if (isRepeated_)
    return repeatedCell();
  if (!isSparse())
    return numberAt(bytes_, type_, row * columns() + column);
  const int32_t *begin = columnIndices_ + rowOffsets_[row],
                *end = columnIndices_ + rowOffsets_[row + 1];
  const int32_t *found = std::lower_bound(begin, end, column);
  return found != end && *found == column ? numberAt(bytes_, type_, found - columnIndices_) : 0;
}

//===- layouts -------------------------------------------------------------------------------===//

int64_t Array::countNonZeros() const {
  if (isRepeated_)
    return repeatedCell() == 0 ? 0 : cells();
  int64_t first = isSparse() ? rowOffsets_[0] : 0, count = isSparse() ? entries() : cells();
  return withCellType(type_, [&]<typename Cell>() {
    const Cell *cells = cellsAs<Cell>() + first;
    return std::count_if(cells, cells + count, [](Cell cell) { return convertCell<bool>(cell); });
  });
}

double Array::density() const {
  if (!isSparse())
    return 1;
  return cells() == 0 ? 0 : static_cast<double>(entries()) / static_cast<double>(cells());
}

bool Array::isBetterSparse(const Shape &shape, int64_t entries) {
  if (shape.rank() != 2 || shape[1] <= 1 || shape[1] > INT32_MAX)
    return false;
  double cells = static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
  return cells >= sparseLeastCells && static_cast<double>(entries) < sparseDensityLimit * cells;
}

std::string becomesDenseNote(const Array &csr) {
  return fmt::format("a sparse matrix of {} with {} entries would become dense here: the operation "
                     "gives other values than 0 for its zeros, or takes no sparse matrices",
                     csr.shape().text(), csr.entries());
}

namespace {

template <typename Number> ArrayPointer expand(const Array &csr, const Number *values) {
  ArrayPointer dense;
  try {
    dense = Array::create(csr.shape(), csr.elementType());
  } catch (Error &error) {
    throw error.note(becomesDenseNote(csr));
  }
  auto *cells = reinterpret_cast<Number *>(dense->mutableBytes());
  std::fill_n(cells, csr.cells(), Number(0));
  for (int64_t row = 0; row < csr.rows(); ++row)
    for (int64_t p = csr.rowOffsets()[row]; p < csr.rowOffsets()[row + 1]; ++p)
      cells[row * csr.columns() + csr.columnIndices()[p]] = values[p];
  return dense;
}

template <typename Number> ArrayPointer compress(const Array &dense, const Number *cells) {
  int64_t rows = dense.rows(), columns = dense.columns();
  ArrayPointer csr = Array::createSparse(rows, columns, dense.countNonZeros(), dense.elementType());
  auto *values = reinterpret_cast<Number *>(csr->mutableBytes());
  int64_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    csr->mutableRowOffsets()[row] = next;
    for (int64_t column = 0; column < columns; ++column)
      if (Number cell = cells[row * columns + column]; cell != 0) {
        csr->mutableColumnIndices()[next] = static_cast<int32_t>(column);
        values[next++] = cell;
      }
  }
  csr->mutableRowOffsets()[rows] = next;
  return csr;
}

} // namespace

ArrayReference Array::converted(bool toSparse) const {
  std::lock_guard lock(conversion_);
  if (!otherLayout_) {
    bool single = type_ == ElementType::F32;
    if (toSparse)
      otherLayout_ = single ? compress(*this, floats()) : compress(*this, data());
    else
      otherLayout_ = single ? expand(*this, floats()) : expand(*this, data());
  }
  return otherLayout_;
}

ArrayReference Array::asDense(const ArrayReference &array) {
  if (array->isRepeated()) {
    array->inDense();
    return array->otherLayout_;
  }
  return array->isSparse() ? array->converted(false) : array;
}

ArrayReference Array::asSparse(const ArrayReference &array) {
  if (array->isRepeated())
    return asSparse(asDense(array));
  return array->isSparse() ? array : array->converted(true);
}

ArrayReference Array::inBestLayout(const ArrayReference &array) {
  if (!mayBeSparse(array->elementType()) || array->isRepeated())
    return array;
  const Shape &shape = array->shape();
  // Vectors and small matrices stay dense without counting their non-zeros.
  if (!array->isSparse() && !isBetterSparse(shape, 0))
    return array;
  bool csr = isBetterSparse(shape, array->isSparse() ? array->entries() : array->countNonZeros());
  return csr ? asSparse(array) : asDense(array);
}

ArrayReference Array::withElementType(const ArrayReference &array, ElementType type) {
  if (array->elementType() == type)
    return array;
  if (!array->isAligned())
    return withElementType(aligned(array), type);
  if (array->isSparse() && !mayBeSparse(type))
    return withElementType(asDense(array), type);
  if (array->isRepeated())
    return withCellType(array->elementType(), [&]<typename From>() {
      return withCellType(type, [&]<typename To>() {
        From cell = *reinterpret_cast<const From *>(array->bytes_);
        return ArrayReference(repeated(array->shape(), type, convertCell<To>(cell)));
      });
    });
  ArrayPointer result =
      array->isSparse() ? array->withSamePattern(type) : Array::create(array->shape(), type);
  int64_t first = array->isSparse() ? array->rowOffsets()[0] : 0;
  int64_t count = array->isSparse() ? array->entries() : array->cells();
  withCellType(array->elementType(), [&]<typename From>() {
    withCellType(type, [&]<typename To>() {
      const From *from = array->cellsAs<From>() + first;
      std::transform(from, from + count, result->mutableCellsAs<To>() + first,
                     convertCell<To, From>);
    });
  });
  return result;
}

TokArray Array::descriptor() const {
  TokArray result{};
  int rank = shape_.rank();
  int64_t columns = rank > 0 ? shape_[rank - 1] : 1;
  int64_t rows = 1; // all cells can be counted, unless there are none
  for (int dimension = 0; dimension < rank - 1; ++dimension)
    rows *= shape_[dimension];
  result.data = const_cast<std::byte *>(rawBytes());
  result.dims[0] = rows;
  result.dims[1] = columns;
  result.elementType = static_cast<uint8_t>(type_);
  result.layout = isSparse() ? TOK_CSR : TOK_DENSE;
  result.rowOffsets = rowOffsets_;
  result.columnIndices = columnIndices_;
  return result;
}

} // namespace tokamak::runtime
