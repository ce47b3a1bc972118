// The format text: lines `row column value`, counted from 1, in any order.
#include "runtime/io/CellReader.h"
#include "runtime/io/Format.h"
#include "runtime/io/FrameCells.h"
#include "runtime/io/RowWriter.h"
#include "runtime/values/ScalarOperations.h"

namespace tokamak::runtime {
namespace {

void checkSizesAreKnown(const std::string &path, std::optional<int64_t> rows,
                        std::optional<int64_t> columns) {
  if (!rows || !columns)
    throw Error(fmt::format("read: {}: a file of the format text needs rows and cols", path));
}

ArrayReference readMatrixCells(const MatrixFile &file, TextSource &source,
                               ExecutionContext &context) {
  checkSizesAreKnown(file.path, file.rows, file.columns);
  CellCollector collector(*file.rows, *file.columns);
  readCells({.mayMarkEmpty = true}, source, collector, context);
  return collector.finish(context);
}

void writeMatrixCells(const Array &matrix, const WriteOptions &, ExecutionContext &context,
                      FileWriter &file) {
  file.writeText(matrix.countNonZeros() == 0 ? "0 0 0\n" : "");
  writeCells(matrix, context, file);
}

// Reads lines of a row, a column and a value; the value is the rest of the line behind the second
// blank, including its blanks.
void parseCells(const std::string &path, std::string_view text, int64_t rows, int64_t columns,
                FrameCells &cells) {
  for (int64_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (rest.ends_with('\r'))
      rest.remove_suffix(1);
    auto takeIndex = [&]() {
      size_t blank = std::min(rest.find(' '), rest.size());
      std::optional<int64_t> index = parseInteger(rest.substr(0, blank));
      rest.remove_prefix(std::min(blank + 1, rest.size()));
      if (!index || *index < 1)
        throw Error(fmt::format("{}: line {}: expected a row, a column and a value", path, line));
      return *index;
    };
    if (rest.empty())
      continue;
    int64_t row = takeIndex(), column = takeIndex();
    if (row > rows || column > columns)
      throw Error(fmt::format("{}: line {}: cell ({}, {}) is outside of a {}x{} frame", path, line,
                              row, column, rows, columns));
    cells.set(row, column, std::string(rest));
  }
}

void appendCells(const Frame &frame, int64_t row, std::string &text) {
  for (int64_t j = 0; j < frame.columns(); ++j) {
    std::string cell = frame.column(j)->text(row);
    if (cell.find_first_of("\r\n") != cell.npos)
      throw Error(
          fmt::format("write: row {}, column {}: {} has a line break, which the format text "
                      "can't hold: use csv",
                      row + 1, j + 1, quotedField(cell)));
    if (!cell.empty())
      text += fmt::format("{} {} {}\n", row + 1, j + 1, cell);
  }
}

FramePointer readFrameCells(const std::string &path, const MatrixMetadata &metadata,
                            TextSource &source) {
  checkSizesAreKnown(path, metadata.rows, metadata.columns);
  FrameCells cells(path, metadata);
  parseCells(path, source.takeRest(), *metadata.rows, *metadata.columns, cells);
  return cells.frame(*metadata.rows, *metadata.columns, {});
}

void writeFrameCells(const Frame &frame, const WriteOptions &, FileWriter &file) {
  writeFrameRows(frame, file, "",
                 [&](int64_t row, std::string &text) { appendCells(frame, row, text); });
}

} // namespace

constinit const Format TextFormat = {.name = "text",
                                     .readMatrix = readMatrixCells,
                                     .writeMatrix = writeMatrixCells,
                                     .readFrame = readFrameCells,
                                     .writeFrame = writeFrameCells};

} // namespace tokamak::runtime
