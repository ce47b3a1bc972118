// Arrays as the runtime holds them: a shape, an element type and a view of a pooled, 64-byte
// aligned buffer.
//
//   ArrayPointer x = Array::create({1000, 10});      // f64, contents undefined, memory from the
//   pool ArrayPointer first = x->rowView(0, 100);          // no copy: pins the buffer of x
//
// Arrays are immutable once they are shared: whoever creates one fills it through `mutableData()`
// before handing it on as `ArrayReference`; afterwards only a sole owner (`isSoleOwner`) may write,
// which is how left indexing avoids copies.
#ifndef TOKAMAK_RUNTIME_ARRAY_H
#define TOKAMAK_RUNTIME_ARRAY_H

#include "abi/Kernel.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

namespace tokamak::runtime {

class Buffer; // BufferPool.h

enum class ElementType : uint8_t { F64 = TOK_F64, F32 = TOK_F32, I64 = TOK_I64, Bool = TOK_BOOL };
int64_t byteSize(ElementType type);

// Sizes of up to eight dimensions.
class Shape {
public:
  static constexpr int maxRank = 8;
  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes);
  int rank() const { return rank_; }
  int64_t operator[](int dimension) const { return sizes_[dimension]; }
  int64_t cells() const;
  bool operator==(const Shape &other) const;
  std::string text() const; // "3x4"

private:
  std::array<int64_t, maxRank> sizes_{};
  int rank_ = 0;
};

class Array {
public:
  // Row-major and contiguous, contents undefined. Throws Error if the sizes are negative or the
  // memory budget is passed.
  static std::shared_ptr<Array> create(Shape shape, ElementType type = ElementType::F64);
  // Every cell the same value.
  static std::shared_ptr<Array> filled(Shape shape, double value);
  // The bytes of `source`, which stays alive as long as the view; rows [begin, end).
  std::shared_ptr<Array> rowView(int64_t begin, int64_t end) const;
  // The same cells in another shape of as many cells (row-major): no copy.
  std::shared_ptr<Array> reshaped(Shape shape) const;
  std::shared_ptr<Array> copy() const;

  const Shape &shape() const { return shape_; }
  ElementType elementType() const { return type_; }
  int64_t rows() const { return shape_[0]; }
  int64_t columns() const { return shape_[1]; }
  int64_t cells() const { return shape_.cells(); }
  int64_t bytes() const { return cells() * byteSize(type_); }

  const double *data() const { return reinterpret_cast<const double *>(bytes_); } // f64 arrays
  double *mutableData() { return reinterpret_cast<double *>(bytes_); }
  std::byte *rawBytes() { return bytes_; }
  const std::byte *rawBytes() const { return bytes_; }
  double at(int64_t row, int64_t column) const { return data()[row * columns() + column]; }

  // No view shares the buffer (the caller checks that it holds the only pointer to this Array
  // itself).
  bool ownsWholeBuffer() const;
  TokArray
  descriptor() const; // rank 2: {rows, columns}; higher ranks collapse the outer dimensions

private:
  Array(Shape shape, ElementType type, std::shared_ptr<Buffer> buffer, std::byte *bytes);
  Shape shape_;
  ElementType type_ = ElementType::F64;
  std::shared_ptr<Buffer> buffer_;
  std::byte *bytes_ = nullptr;
};

using ArrayPointer = std::shared_ptr<Array>;
using ArrayReference = std::shared_ptr<const Array>;

} // namespace tokamak::runtime
#endif
