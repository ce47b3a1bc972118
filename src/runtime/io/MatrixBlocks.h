// Blocks of matrices as SystemDS serialises them (its class MatrixBlock): the sizes, the kind and the
// cells, all big-endian.
//
//   MatrixBlock block = parseMatrixBlock(bytes);
//   forEachCell(block, [&](int64_t row, int64_t column, double value) { ... });
//   std::string again = formatMatrixBlock(matrix, {firstRow, rows, firstColumn, columns});
//
// Learnt from SystemDS 3.4.0, which wrote the files in test/data/systemds.
#ifndef TOKAMAK_RUNTIME_IO_MATRIXBLOCKS_H
#define TOKAMAK_RUNTIME_IO_MATRIXBLOCKS_H

#include "runtime/io/BigEndian.h"
#include "runtime/values/Array.h"

namespace tokamak::runtime {

enum class BlockKind : uint8_t {
  Empty,       // no cells
  UltraSparse, // triples of row, column and value; only pairs of row and value if there is one column
  Sparse,      // for each row the number of entries and pairs of column and value
  Dense        // all cells, row by row
};

struct MatrixBlock {
  int64_t rows = 0, columns = 0;
  BlockKind kind = BlockKind::Empty;
  int64_t entries = 0; // of Dense: all cells
  std::string_view cells;
};

// Throws Error, without a place, if the bytes are no block or end early or late. The cells are checked
// when they are visited.
MatrixBlock parseMatrixBlock(std::string_view bytes);

// Calls visit(row, column, value) for all entries; both count from 0 within the block. Throws Error if
// one lies outside.
template <typename Visit> void forEachCell(const MatrixBlock &block, const Visit &visit) {
  BigEndianReader reader(block.cells);
  auto take = [&](int64_t size, const char *what) {
    auto index = reader.take<int32_t>();
    if (index < 0 || index >= size)
      throw Error(std::string("a cell lies outside of it, in ") + what + " " +
                  std::to_string(int64_t{index} + 1));
    return int64_t{index};
  };
  auto takeRow = [&] { return take(block.rows, "row"); };
  auto takeColumn = [&] { return take(block.columns, "column"); };
  switch (block.kind) {
  case BlockKind::Empty:
    return;
  case BlockKind::UltraSparse:
    for (int64_t i = 0; i < block.entries; ++i) {
      int64_t row = takeRow(), column = block.columns == 1 ? 0 : takeColumn();
      visit(row, column, reader.take<double>());
    }
    return;
  case BlockKind::Sparse:
    for (int64_t row = 0; row < block.rows; ++row)
      for (auto left = reader.take<int32_t>(); left > 0; --left) {
        int64_t column = takeColumn();
        visit(row, column, reader.take<double>());
      }
    if (!reader.rest().empty())
      throw Error("it has more bytes than cells");
    return;
  case BlockKind::Dense:
    for (int64_t row = 0; row < block.rows; ++row)
      for (int64_t column = 0; column < block.columns; ++column)
        visit(row, column, reader.take<double>());
  }
}

struct BlockRange {
  int64_t firstRow, rows, firstColumn, columns;
};

// The cells of a matrix of doubles in this range, in the kind that takes the fewest bytes.
std::string formatMatrixBlock(const Array &matrix, BlockRange range);

} // namespace tokamak::runtime
#endif
