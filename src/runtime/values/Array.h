// Arrays of the runtime: a shape, an element type and a view of a pooled, 64-byte aligned buffer. A
// dense array stores all cells, row by row. A matrix of f64 or f32 may instead be CSR (compressed
// sparse rows) and store entries only, with row offsets and column indices. Entries may be zero;
// cells without an entry are zero. An array with the same number in every cell may be *repeated*: it
// stores one cell.
//
//   ArrayPointer x = Array::create({1000, 10});      // f64, contents undefined, pooled memory
//   ArrayPointer first = x->rowView(0, 100);         // no copy: pins the buffer of x
//   ArrayReference s = Array::asSparse(x);              // s->rowOffsets()[r] ... s->data()[p]
//   ArrayReference d = Array::asDense(s);            // converted once, cached in s
//
// Code that doesn't support CSR never sees it: the executor passes dense arrays to natives unless
// their table entry says otherwise, and the kernel launch converts inputs to the expected layout.
// Nobody has to know of repeated arrays: they become dense where their cells are first asked for.
// Kernels read them as scalars (rewrite/RepeatedArrays.cpp), which asks for none.
//
// Arrays are immutable once they are shared: their creator fills them through `mutableData()`
// before passing them on as `ArrayReference`. Afterwards only a sole owner may write (`isSoleOwner`
// in NativeOperands.h); this is how left indexing avoids copies.
#ifndef TOKAMAK_RUNTIME_VALUES_ARRAY_H
#define TOKAMAK_RUNTIME_VALUES_ARRAY_H

#include "abi/Kernel.h"
#include "base/ElementType.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace tokamak::runtime {

class Buffer; // BufferPool.h

// Sizes of up to eight dimensions.
class Shape {
public:
  static constexpr int maxRank = 8;
  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(std::span<const int64_t> sizes);
  int rank() const { return rank_; }
  int64_t operator[](int dimension) const { return sizes_[dimension]; }
  std::span<const int64_t> sizes() const { return {sizes_.data(), static_cast<size_t>(rank_)}; }
  int64_t cells() const;
  Shape withLast(int64_t size) const; // the same but for the last dimension
  bool operator==(const Shape &other) const;
  std::string text() const; // "3x4"

private:
  std::array<int64_t, maxRank> sizes_{};
  int rank_ = 0;
};

// Arrays with the same number in every cell are repeated from this many cells on: plans differ for
// repeated and for other arrays, which small ones are not worth.
constexpr int64_t repeatedLeastCells = int64_t{1} << 20;

// Matrices are kept as CSR below this share of entries among the cells...
constexpr double sparseDensityLimit = 0.25;
// ...if they have at least as many cells as this and more than one column.
constexpr int64_t sparseLeastCells = 256;

class Array {
  struct Private {}; // only members construct arrays

public:
  Array(Private, const Shape &shape, ElementType type, std::shared_ptr<Buffer> buffer,
        std::byte *bytes);
  // Row-major and contiguous, contents undefined. Throws Error if a size is negative or the memory
  // budget would be exceeded.
  static std::shared_ptr<Array> create(const Shape &shape, ElementType type = ElementType::F64);
  // Over cells that are kept elsewhere and that nobody writes to: weights in a mapped file, an array of the caller's. They
  // stay where they are as long as `owner` lives, which the array and all views of it hold; without one, as long as these
  // live. Unless they are aligned as their type asks for, only kernels and views take them; all others ask for aligned()
  // first.
  static std::shared_ptr<Array> over(const Shape &shape, ElementType type, const std::byte *cells,
                                     const std::shared_ptr<const void> &owner = nullptr);
  // The same of a CSR matrix of f64 or f32: rows + 1 offsets of which the first is 0, and as many columns (ascending in
  // each row) and cells as the last one says. Throws Error as createSparse does.
  static std::shared_ptr<Array> overSparse(const Shape &shape, ElementType type,
                                           const int64_t *rowOffsets, const int32_t *columnIndices,
                                           const std::byte *cells,
                                           const std::shared_ptr<const void> &owner);
  bool isAligned() const {
    auto size = static_cast<uintptr_t>(byteSize(type_)); // a power of two
    return (reinterpret_cast<uintptr_t>(bytes_) & (size - 1)) == 0;
  }
  // The array or, if it isn't aligned, a copy.
  static std::shared_ptr<const Array> aligned(std::shared_ptr<const Array> array);
  // Every cell the same value.
  static std::shared_ptr<Array> filled(Shape shape, double value);
  // The same, in the memory of one cell; its type is that of the array.
  template <typename Cell>
  static std::shared_ptr<Array> repeated(Shape shape, ElementType type, Cell cell) {
    std::shared_ptr<Array> array = create({1}, type);
    *array->mutableCellsAs<Cell>() = cell;
    array->repeat(shape);
    return array;
  }
  // A CSR matrix with room for this many entries; the caller fills offsets, indices and values, all
  // undefined, through the mutable accessors. Throws Error if there are more than 2^31 - 1 columns
  // or more than 2^61 cells.
  static std::shared_ptr<Array> createSparse(int64_t rows, int64_t columns, int64_t entries,
                                             ElementType type = ElementType::F64);
  // Throws the Error that createSparse would throw for a matrix without entries; call it before
  // computing the entries.
  static void checkRoomForSparse(int64_t rows, int64_t columns);
  // A CSR matrix that shares row offsets and column indices with this one;
  // its values are undefined.
  std::shared_ptr<Array> withSamePattern(ElementType type) const;
  // The rows [begin, end), without a copy: the view keeps the buffer alive.
  std::shared_ptr<Array> rowView(int64_t begin, int64_t end) const;
  // So many cells from cell `begin` on as an array of this shape, without a copy: the view keeps the buffer alive. Dense
  // arrays only.
  std::shared_ptr<Array> part(int64_t begin, const Shape &shape) const;
  // Another array over the same cells that counts as their sole owner, so that left indexing writes
  // them in place: for tasks of a parallel loop that write disjoint cells. Dense arrays only.
  std::shared_ptr<Array> writableAlias() const;
  // The same cells in another shape with the same number of cells (row-major): no copy.
  std::shared_ptr<Array> reshaped(Shape shape) const;
  std::shared_ptr<Array> copy() const; // in the same layout

  bool isSparse() const { return rowOffsets_ != nullptr; }
  bool isRepeated() const { return isRepeated_; }
  // The number in every cell of a repeated array.
  double repeatedCell() const;
  // Whether a matrix of this size and with so many entries should be CSR.
  static bool isBetterSparse(const Shape &shape, int64_t entries);
  // The matrix in the requested layout: itself if it has that layout already, else converted at the
  // first call and cached until the array is written to. A converted CSR array has no zero entries.
  // Thread-safe.
  static std::shared_ptr<const Array> asDense(const std::shared_ptr<const Array> &array);
  static std::shared_ptr<const Array> asSparse(const std::shared_ptr<const Array> &array);
  // In the layout that isBetterSparse recommends: natives with possibly sparse results call it last.
  static std::shared_ptr<const Array> inBestLayout(const std::shared_ptr<const Array> &array);
  // The same cells, converted to another element type by the rules of base/ElementType.h, in the
  // same layout if the type may be sparse.
  static std::shared_ptr<const Array> withElementType(const std::shared_ptr<const Array> &array,
                                                      ElementType type);

  const Shape &shape() const { return shape_; }
  ElementType elementType() const { return type_; }
  int64_t rows() const { return shape_[0]; }
  int64_t columns() const { return shape_[1]; }
  int64_t cells() const { return shape_.cells(); }
  int64_t bytes() const; // of the cells; CSR: of entries, row offsets and column indices

  // The cells of a dense array; the values of the entries of a CSR one (entry p at data()[p], p as
  // in rowOffsets()).
  const double *data() const { return reinterpret_cast<const double *>(rawBytes()); } // f64 arrays
  double *mutableData() { return reinterpret_cast<double *>(mutableBytes()); }
  const float *floats() const { return reinterpret_cast<const float *>(rawBytes()); } // f32 arrays
  float *mutableFloats() { return reinterpret_cast<float *>(mutableBytes()); }
  // For arrays of this type of cells.
  template <typename Cell> const Cell *cellsAs() const {
    return reinterpret_cast<const Cell *>(rawBytes());
  }
  template <typename Cell> Cell *mutableCellsAs() {
    return reinterpret_cast<Cell *>(mutableBytes());
  }
  std::byte *mutableBytes() {
    if (isRepeated_) [[unlikely]]
      becomeDense();
    if (otherLayout_) // tasks may ask for the cells of a new array at the same time
      otherLayout_.reset();
    return bytes_;
  }
  const std::byte *rawBytes() const { return isRepeated_ ? inDense()->bytes_ : bytes_; }
  // One cell of a matrix of any layout and type, as a double. Slow for CSR: it searches the row.
  double at(int64_t row, int64_t column) const;

  // CSR only. The entries of row r are p = rowOffsets()[r] ... rowOffsets()[r + 1] - 1, columns
  // (from 0) ascending; rowOffsets()[0] is not 0 in views of rows.
  const int64_t *rowOffsets() const { return rowOffsets_; }
  const int32_t *columnIndices() const { return columnIndices_; }
  int64_t *mutableRowOffsets() { return const_cast<int64_t *>(rowOffsets_); }
  int32_t *mutableColumnIndices() { return const_cast<int32_t *>(columnIndices_); }
  int64_t entries() const { return rowOffsets_[rows()] - rowOffsets_[0]; }
  // Entries and offsets of rows that left indexing has copied to make this array and those that it was made of.
  int64_t copiedByInserts() const { return copiedByInserts_; }
  void setCopiedByInserts(int64_t count) { copiedByInserts_ = count; }
  // Number of cells that are not 0 (NaN is not 0); reads the whole array.
  int64_t countNonZeros() const;
  // The share of entries among the cells of a CSR array; 1 for dense arrays.
  double density() const;

  // Whether no view shares the buffer; false if the cells are kept elsewhere. The caller checks separately that it holds the only pointer
  // to this Array.
  bool ownsWholeBuffer() const;
  TokArray
  descriptor() const; // rank 2: {rows, columns}; higher ranks collapse the outer dimensions

private:
  static std::shared_ptr<Array> make(const Shape &shape, ElementType type,
                                     std::shared_ptr<Buffer> buffer, std::byte *bytes) {
    return std::make_shared<Array>(Private(), shape, type, std::move(buffer), bytes);
  }
  std::shared_ptr<const Array> converted(bool toSparse) const;
  void repeat(Shape shape);
  std::shared_ptr<Array> repeatedAs(Shape shape) const;
  // The dense array with the cells of a repeated one; made once.
  const Array *inDense() const;
  void becomeDense();

  Shape shape_;
  ElementType type_ = ElementType::F64;
  std::shared_ptr<Buffer> buffer_;
  std::byte *bytes_ = nullptr;
  std::shared_ptr<Buffer> pattern_; // CSR: offsets, then indices; arrays may share it
  const int64_t *rowOffsets_ = nullptr;
  const int32_t *columnIndices_ = nullptr;
  mutable std::mutex conversion_;                    // guards otherLayout_
  mutable std::shared_ptr<const Array> otherLayout_; // this array converted to the other layout
  int64_t copiedByInserts_ = 0;
  bool isAlias_ = false;    // see writableAlias
  bool isRepeated_ = false; // `bytes_` is one cell
};

using ArrayPointer = std::shared_ptr<Array>;
using ArrayReference = std::shared_ptr<const Array>;

// An Error::note that explains why there is no memory for a dense array converted from this one.
std::string becomesDenseNote(const Array &csr);

} // namespace tokamak::runtime
#endif
