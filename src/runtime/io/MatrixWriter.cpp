#include "runtime/io/MatrixWriter.h"

#include "base/FileFormats.h"
#include "runtime/io/CsvFields.h"
#include "runtime/io/Gzip.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

namespace tokamak::runtime {
namespace {

// Calls visit(column, value) for each non-zero cell of a row, in order.
template <typename Visit>
void forEachNonZero(const Array &matrix, int64_t row, const Visit &visit) {
  if (matrix.isSparse()) {
    for (int64_t p = matrix.rowOffsets()[row]; p < matrix.rowOffsets()[row + 1]; ++p)
      if (double value = matrix.data()[p]; value != 0)
        visit(matrix.columnIndices()[p], value);
    return;
  }
  const double *cells = matrix.data() + row * matrix.columns();
  for (int64_t column = 0; column < matrix.columns(); ++column)
    if (cells[column] != 0)
      visit(column, cells[column]);
}

void appendCsvRow(const Array &matrix, int64_t row, const MatrixFormat &format, std::string &text) {
  // In a single column an empty field would be an empty line, which is no row at the end of a file.
  bool writesZeros = !format.sparse || matrix.columns() == 1;
  int64_t next = 0;
  auto appendCell = [&](std::string_view cell) {
    text += next++ > 0 ? format.separator : "";
    text += cell;
  };
  auto appendZerosUpTo = [&](int64_t column) {
    while (next < column)
      appendCell(writesZeros ? "0.0" : "");
  };
  if (!matrix.isSparse() && writesZeros) { // -0 keeps its sign
    for (int64_t column = 0; column < matrix.columns(); ++column)
      appendCell(textOf(matrix.data()[row * matrix.columns() + column]));
  } else {
    forEachNonZero(matrix, row, [&](int64_t column, double value) {
      appendZerosUpTo(column);
      appendCell(textOf(value));
    });
    appendZerosUpTo(matrix.columns());
  }
  text += '\n';
}

void appendCells(const Array &matrix, int64_t row, std::string &text) {
  forEachNonZero(matrix, row, [&](int64_t column, double value) {
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", row + 1, column + 1, textOf(value));
  });
}

// Writes the rows as text: converts several pieces at a time in parallel and compresses them if the
// file is compressed.
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

} // namespace

void writeMatrix(const Array &matrix, const MatrixFormat &format, ExecutionContext &context,
                 FileWriter &file) {
  auto cells = [&](int64_t row, std::string &text) { appendCells(matrix, row, text); };
  if (format.format == "csv") {
    checkCsvSeparator("write", format.separator);
    std::string header;
    for (int64_t j = 1; format.header && j <= matrix.columns(); ++j)
      header += fmt::format("{}C{}", j > 1 ? format.separator : "", j);
    file.writeText(format.header ? header + "\n" : "");
    writeRows(matrix, context, file,
              [&](int64_t row, std::string &text) { appendCsvRow(matrix, row, format, text); });
  } else if (format.format == "text") {
    file.writeText(matrix.countNonZeros() == 0 ? "0 0 0\n" : "");
    writeRows(matrix, context, file, cells);
  } else if (format.format == "mm") {
    file.writeText(fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                               matrix.rows(), matrix.columns(), matrix.countNonZeros()));
    writeRows(matrix, context, file, cells);
  } else {
    throw Error(unsupportedFormat("write", format.format, FormatUse::Matrix));
  }
}

} // namespace tokamak::runtime
