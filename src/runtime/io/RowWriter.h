// What the writers of text formats share: rows are converted to text in parallel and compressed where
// the file is.
//
//   writeRows(matrix, context, file, [&](int64_t row, std::string &text) {
//     forEachNonZero(matrix, row, [&](int64_t column, double value) { text += textOf(value); });
//   });
#ifndef TOKAMAK_RUNTIME_IO_ROWWRITER_H
#define TOKAMAK_RUNTIME_IO_ROWWRITER_H

#include "runtime/io/FileWriter.h"
#include "runtime/io/Gzip.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/Array.h"

namespace tokamak::runtime {

// Calls visit(column, value) for each non-zero cell of a row, in order.
template <typename Visit>
void forEachNonZero(const Array &matrix, int64_t row, const Visit &visit) {
  if (matrix.isSparse()) {
    for (int64_t p = matrix.rowOffsets()[row]; p < matrix.rowOffsets()[row + 1]; ++p)
      if (double value = matrix.data()[p]; value != 0)
        visit(static_cast<int64_t>(matrix.columnIndices()[p]), value);
    return;
  }
  const double *cells = matrix.data() + row * matrix.columns();
  for (int64_t column = 0; column < matrix.columns(); ++column)
    if (cells[column] != 0)
      visit(column, cells[column]);
}

// Calls appendRow(row, text) for all rows, several pieces at a time in parallel, and writes the
// texts in order.
template <typename AppendRow>
void writeRows(const Array &matrix, ExecutionContext &context, FileWriter &file,
               const AppendRow &appendRow) {
  // The longer the rows, the fewer at a time, to bound the memory of the texts.
  constexpr int64_t cellsAtOnce = 1 << 21, cellsOfPiece = 1 << 15;
  int64_t cells = matrix.isSparse() ? matrix.entries() + matrix.rows() : matrix.cells();
  int64_t rowCells = std::max<int64_t>(1, cells / std::max<int64_t>(1, matrix.rows()));
  int64_t pieceRows = std::max<int64_t>(1, cellsOfPiece / rowCells);
  int64_t rowsAtOnce = std::max(pieceRows, cellsAtOnce / rowCells / pieceRows * pieceRows);
  for (int64_t begin = 0; begin < matrix.rows(); begin += rowsAtOnce) {
    int64_t rows = std::min(matrix.rows() - begin, rowsAtOnce);
    std::vector<std::string> pieces((rows + pieceRows - 1) / pieceRows);
    forEachRange(context, rows, pieceRows, [&](int64_t first, int64_t last) {
      std::string &piece = pieces[first / pieceRows];
      for (int64_t row = first; row < last; ++row)
        appendRow(begin + row, piece);
      if (file.isCompressed() && !piece.empty())
        piece = gzipMember(piece);
    });
    for (const std::string &piece : pieces)
      file.write(piece);
  }
}

// The cells of a matrix that are not 0 as lines `row column value`, as text and mm have them.
void writeCells(const Array &matrix, ExecutionContext &context, FileWriter &file);

} // namespace tokamak::runtime
#endif
