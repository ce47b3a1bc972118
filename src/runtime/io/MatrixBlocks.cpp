#include "runtime/io/MatrixBlocks.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tokamak::runtime {
namespace {

constexpr int64_t largestInt = std::numeric_limits<int32_t>::max();

// The number of entries takes eight bytes where four might not do.
bool countsEntriesInLong(int64_t rows, int64_t columns) { return rows * columns > largestInt; }

// Calls visit(row, column, value) for the cells in the range that are not 0, row by row; both count
// from 0 within the range.
template <typename Visit>
void forEachNonZeroOf(const Array &matrix, const BlockRange &range, const Visit &visit) {
  int64_t endColumn = range.firstColumn + range.columns;
  for (int64_t i = 0; i < range.rows; ++i) {
    int64_t row = range.firstRow + i;
    if (!matrix.isSparse()) {
      const double *cells = matrix.data() + row * matrix.columns();
      for (int64_t column = range.firstColumn; column < endColumn; ++column)
        if (cells[column] != 0)
          visit(i, column - range.firstColumn, cells[column]);
      continue;
    }
    const int32_t *indices = matrix.columnIndices();
    const int32_t *begin = indices + matrix.rowOffsets()[row],
                  *end = indices + matrix.rowOffsets()[row + 1];
    for (const int32_t *at = std::lower_bound(begin, end, range.firstColumn);
         at != end && *at < endColumn; ++at)
      if (double value = matrix.data()[at - indices]; value != 0)
        visit(i, *at - range.firstColumn, value);
  }
}

} // namespace

MatrixBlock parseMatrixBlock(std::string_view bytes) {
  BigEndianReader reader(bytes);
  MatrixBlock block;
  block.rows = reader.take<int32_t>();
  block.columns = reader.take<int32_t>();
  auto kind = reader.take<uint8_t>();
  if (block.rows < 0 || block.columns < 0)
    throw Error("its size is negative");
  if (kind > static_cast<uint8_t>(BlockKind::Dense))
    throw Error(fmt::format("blocks of kind {} are not supported", kind));
  block.kind = static_cast<BlockKind>(kind);
  constexpr int64_t indexBytes = sizeof(int32_t), pairBytes = indexBytes + sizeof(double);
  int64_t expected = 0;
  switch (block.kind) {
  case BlockKind::Empty:
    break;
  case BlockKind::UltraSparse:
    block.entries = reader.take<int32_t>();
    expected = block.entries * (pairBytes + (block.columns == 1 ? 0 : indexBytes));
    break;
  case BlockKind::Sparse:
    // The number of entries follows from the number of bytes, which are there for certain.
    reader.takeBytes(countsEntriesInLong(block.rows, block.columns) ? sizeof(int64_t)
                                                                    : sizeof(int32_t));
    block.entries =
        (static_cast<int64_t>(reader.rest().size()) - block.rows * indexBytes) / pairBytes;
    expected = block.rows * indexBytes + block.entries * pairBytes;
    break;
  case BlockKind::Dense:
    block.entries = block.rows * block.columns;
    if (block.entries > static_cast<int64_t>(bytes.size() / sizeof(double)))
      throw Error("it ends early");
    expected = block.entries * static_cast<int64_t>(sizeof(double));
    break;
  }
  block.cells = reader.rest();
  auto found = static_cast<int64_t>(block.cells.size());
  if (block.entries < 0)
    throw Error("its number of entries is negative");
  if (found != expected)
    throw Error(found < expected ? "it ends early" : "it has more bytes than cells");
  return block;
}

std::string formatMatrixBlock(const Array &matrix, BlockRange range) {
  int64_t entries = 0;
  forEachNonZeroOf(matrix, range, [&](int64_t, int64_t, double) { ++entries; });
  constexpr int64_t indexBytes = sizeof(int32_t), pairBytes = indexBytes + sizeof(double);
  bool isVector = range.columns == 1;
  int64_t dense = range.rows * range.columns * static_cast<int64_t>(sizeof(double)),
          sparse = range.rows * indexBytes + entries * pairBytes,
          ultraSparse = entries * (pairBytes + (isVector ? 0 : indexBytes));
  // SystemDS reads ultra-sparse blocks with fewer entries than rows only.
  bool mayBeUltraSparse = entries < range.rows;
  BlockKind kind = entries == 0 ? BlockKind::Empty
                   : mayBeUltraSparse && ultraSparse < std::min(dense, sparse)
                       ? BlockKind::UltraSparse
                   : sparse < dense ? BlockKind::Sparse
                                    : BlockKind::Dense;
  std::string bytes;
  bytes.reserve(static_cast<size_t>(32 + (kind == BlockKind::Empty         ? 0
                                          : kind == BlockKind::UltraSparse ? ultraSparse
                                          : kind == BlockKind::Sparse      ? sparse
                                                                           : dense)));
  appendBigEndian(bytes, static_cast<int32_t>(range.rows));
  appendBigEndian(bytes, static_cast<int32_t>(range.columns));
  appendBigEndian(bytes, static_cast<uint8_t>(kind));
  switch (kind) {
  case BlockKind::Empty:
    break;
  case BlockKind::UltraSparse:
    appendBigEndian(bytes, static_cast<int32_t>(entries));
    forEachNonZeroOf(matrix, range, [&](int64_t row, int64_t column, double value) {
      appendBigEndian(bytes, static_cast<int32_t>(row));
      if (!isVector)
        appendBigEndian(bytes, static_cast<int32_t>(column));
      appendBigEndian(bytes, value);
    });
    break;
  case BlockKind::Sparse: {
    if (countsEntriesInLong(range.rows, range.columns))
      appendBigEndian(bytes, entries);
    else
      appendBigEndian(bytes, static_cast<int32_t>(entries));
    int64_t next = 0; // the row whose number of entries comes next
    size_t countAt = 0;
    int32_t count = 0;
    auto beginRowsTo = [&](int64_t row) {
      for (; next <= row; ++next) {
        if (next > 0)
          putBigEndian(bytes.data() + countAt, count);
        countAt = bytes.size();
        count = 0;
        appendBigEndian(bytes, count);
      }
    };
    forEachNonZeroOf(matrix, range, [&](int64_t row, int64_t column, double value) {
      beginRowsTo(row);
      ++count;
      appendBigEndian(bytes, static_cast<int32_t>(column));
      appendBigEndian(bytes, value);
    });
    beginRowsTo(range.rows - 1);
    putBigEndian(bytes.data() + countAt, count);
    break;
  }
  case BlockKind::Dense:
    for (int64_t row = range.firstRow; row < range.firstRow + range.rows; ++row) {
      size_t begin = bytes.size();
      bytes.resize(begin + static_cast<size_t>(range.columns) * sizeof(double), '\0');
      if (!matrix.isSparse())
        for (int64_t j = 0; j < range.columns; ++j)
          putBigEndian(bytes.data() + begin + j * sizeof(double),
                       matrix.data()[row * matrix.columns() + range.firstColumn + j]);
      else
        forEachNonZeroOf(matrix, {row, 1, range.firstColumn, range.columns},
                         [&](int64_t, int64_t column, double value) {
                           putBigEndian(bytes.data() + begin + column * sizeof(double), value);
                         });
    }
    break;
  }
  return bytes;
}

} // namespace tokamak::runtime
