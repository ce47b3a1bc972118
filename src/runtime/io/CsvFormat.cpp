// The format csv: a line for each row.
#include "runtime/io/CsvFields.h"
#include "runtime/io/CsvFrames.h"
#include "runtime/io/CsvReader.h"
#include "runtime/io/Format.h"
#include "runtime/io/RowWriter.h"
#include "runtime/values/ScalarOperations.h"

namespace tokamak::runtime {
namespace {

void appendCsvRow(const Array &matrix, int64_t row, bool sparse, std::string_view separator,
                  std::string &text) {
  // In a single column an empty field would be an empty line, which is no row at the end of a file.
  bool writesZeros = !sparse || matrix.columns() == 1;
  int64_t next = 0;
  auto appendCell = [&](std::string_view cell) {
    text += next++ > 0 ? separator : std::string_view();
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

void write(const Array &matrix, const WriteOptions &options, ExecutionContext &context,
           FileWriter &file) {
  std::string separator = options.separator.value_or(",");
  checkCsvSeparator("write", separator);
  std::string header;
  for (int64_t j = 1; options.header && j <= matrix.columns(); ++j)
    header += fmt::format("{}C{}", j > 1 ? separator : "", j);
  file.writeText(options.header ? header + "\n" : "");
  writeRows(matrix, context, file, [&](int64_t row, std::string &text) {
    appendCsvRow(matrix, row, options.sparse, separator, text);
  });
}

ArrayReference read(const MatrixFile &file, TextSource &source, ExecutionContext &context) {
  return Array::inBestLayout(readCsv(file, source, context));
}

void describe(const WriteOptions &options, MatrixMetadata &metadata) {
  metadata.header = options.header;
  metadata.separator = options.separator.value_or(",");
}

} // namespace

constinit const Format CsvFormat = {.name = "csv",
                                    .readMatrix = read,
                                    .writeMatrix = write,
                                    .readFrame = readCsvFrame,
                                    .writeFrame = writeCsvFrame,
                                    .describe = describe};

} // namespace tokamak::runtime
