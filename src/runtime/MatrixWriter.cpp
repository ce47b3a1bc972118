#include "runtime/MatrixWriter.h"

#include "runtime/NativeOperands.h"
#include "runtime/ScalarOperations.h"

namespace tokamak::runtime {
namespace {

void appendCsvRow(const Array &matrix, int64_t row, const MatrixFormat &format, std::string &text) {
  for (int64_t j = 0; j < matrix.columns(); ++j) {
    if (j > 0)
      text += format.separator;
    double cell = matrix.at(row, j);
    if (cell != 0 || !format.sparse)
      text += textOf(cell);
  }
  text += '\n';
}

void appendCells(const Array &matrix, int64_t row, std::string &text) {
  for (int64_t j = 0; j < matrix.columns(); ++j)
    if (double cell = matrix.at(row, j); cell != 0)
      text += fmt::format("{} {} {}\n", row + 1, j + 1, textOf(cell));
}

// Rows as text, several pieces at a time in parallel, written in order.
template <typename AppendRow>
void writeRows(const Array &matrix, ExecutionContext &context, FileWriter &file,
               const AppendRow &appendRow) {
  constexpr int64_t piecesAtOnce = 64, cellsOfPiece = 1 << 13;
  int64_t pieceRows = std::max<int64_t>(1, cellsOfPiece / std::max<int64_t>(1, matrix.columns()));
  for (int64_t begin = 0; begin < matrix.rows(); begin += piecesAtOnce * pieceRows) {
    int64_t rows = std::min(matrix.rows() - begin, piecesAtOnce * pieceRows);
    std::vector<std::string> pieces((rows + pieceRows - 1) / pieceRows);
    forEachRange(context, rows, pieceRows, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        appendRow(begin + row, pieces[first / pieceRows]);
    });
    for (const std::string &piece : pieces)
      file.write(piece);
  }
}

} // namespace

int64_t countNonZeros(const Array &matrix) {
  return matrix.cells() - std::count(matrix.data(), matrix.data() + matrix.cells(), 0.0);
}

void writeMatrix(const Array &matrix, const MatrixFormat &format, ExecutionContext &context,
                 FileWriter &file) {
  auto cells = [&](int64_t row, std::string &text) { appendCells(matrix, row, text); };
  if (format.format == "csv") {
    if (format.header) {
      std::string line;
      for (int64_t j = 1; j <= matrix.columns(); ++j)
        line += fmt::format("{}C{}", j > 1 ? format.separator : "", j);
      file.write(line + "\n");
    }
    writeRows(matrix, context, file,
              [&](int64_t row, std::string &text) { appendCsvRow(matrix, row, format, text); });
  } else if (format.format == "text") {
    if (countNonZeros(matrix) == 0)
      file.write("0 0 0\n");
    writeRows(matrix, context, file, cells);
  } else if (format.format == "mm") {
    file.write("%%MatrixMarket matrix coordinate real general\n");
    file.write(fmt::format("{} {} {}\n", matrix.rows(), matrix.columns(), countNonZeros(matrix)));
    writeRows(matrix, context, file, cells);
  } else {
    throw Error(fmt::format("write: the format \"{}\" is not supported: expected csv, text or mm",
                            format.format));
  }
}

} // namespace tokamak::runtime
