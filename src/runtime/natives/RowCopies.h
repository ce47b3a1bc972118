// Copies rows of cells between dense matrices. Rows of a few cells, such as those of a column or of a narrow matrix, take
// an instruction or two each instead of a call.
//
//   copyRectangle(source, {0, 3}, {result->mutableBytes(), 1}, {0, 0}, rows, 1);  // the fourth column of `source`
//   withRowCopy(24, [&](auto copy) { copy(to, from); });                      // 24 bytes
#ifndef TOKAMAK_RUNTIME_NATIVES_ROWCOPIES_H
#define TOKAMAK_RUNTIME_NATIVES_ROWCOPIES_H

#include "base/ConstantOf.h"
#include "runtime/values/Array.h"

#include <cstring>

namespace tokamak::runtime {

// Calls body(copy) once. copy(to, from) copies so many bytes, which don't overlap.
template <typename Body> void withRowCopy(int64_t bytes, const Body &body) {
  auto withFew = [&]<int64_t few>() {
    body([](std::byte *to, const std::byte *from) { std::memcpy(to, from, few); });
  };
  if (withConstantOf<4, 8, 16, 24, 32, 40, 48, 56, 64, 80>(bytes, withFew))
    return;
  body([=](std::byte *to, const std::byte *from) {
    if (bytes > 0)
      std::memcpy(to, from, static_cast<size_t>(bytes));
  });
}

// Rows that are so many bytes apart.
template <typename Byte> struct RowsOfBytes {
  Byte *first;
  int64_t distance;
};

// Copies `bytes` of row rowOf(i) of `from` to row i of `to`, for all i from `begin` to before `end`. Everything is a value: for
// all that a compiler knows, the bytes that are written may be any variable whose address is known.
template <typename RowOf>
void copyRows(RowsOfBytes<std::byte> to, RowsOfBytes<const std::byte> from, int64_t begin,
              int64_t end, int64_t bytes, RowOf rowOf) {
  auto loop = [](auto copy, RowsOfBytes<std::byte> to, RowsOfBytes<const std::byte> from,
                 int64_t begin, int64_t end, RowOf rowOf) {
    for (int64_t i = begin; i < end; ++i)
      copy(to.first + i * to.distance, from.first + rowOf(i) * from.distance);
  };
  withRowCopy(bytes, [&](auto copy) { loop(copy, to, from, begin, end, rowOf); });
}

// The cells of a matrix, of which several threads may write some, and how many a row has.
struct MutableRows {
  std::byte *cells;
  int64_t columns;
};
// The first of some cells of a matrix.
struct FirstCell {
  int64_t row, column;
};

// Copies so many rows and columns to a matrix of the same element type.
inline void copyRectangle(const Array &source, FirstCell from, MutableRows result, FirstCell to,
                          int64_t rows, int64_t columns) {
  int64_t cell = byteSize(source.elementType()), bytes = cell * columns,
          distance = cell * source.columns(), distanceOfResult = cell * result.columns;
  const std::byte *read = source.rawBytes() + from.row * distance + from.column * cell;
  std::byte *write = result.cells + to.row * distanceOfResult + to.column * cell;
  copyRows({write, distanceOfResult}, {read, distance}, 0, rows, bytes,
           [](int64_t row) { return row; });
}

} // namespace tokamak::runtime
#endif
