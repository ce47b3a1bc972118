// Reads matrix files of every format (Format.h). Errors name the file, the row and the column: "x.csv: row 2, column 7:
// 'abc' is not a number".
//
//   MatrixFile file{.path = "x.csv", .format = "csv", .header = true};
//   ArrayReference x = readMatrix(file, context);
#ifndef TOKAMAK_RUNTIME_IO_MATRIXREADER_H
#define TOKAMAK_RUNTIME_IO_MATRIXREADER_H

#include "runtime/natives/Native.h"

#include <optional>
#include <string>
#include <vector>

namespace tokamak::runtime {

class TextSource; // TextSource.h

// A matrix file, or a folder of part files; each may be compressed by gzip. Error messages count
// data rows from 1, without the header.
struct MatrixFile {
  std::string path;
  std::string format;                       // a row of base/FileFormats.def
  std::optional<int64_t> rows{}, columns{}; // checked against the file; required for text
  std::optional<int64_t> nonZeros{};        // checked
  bool header = false;                      // csv: the first line has column names
  std::optional<std::string> separator{};   // between fields; each format has its own default
  bool fill = true; // csv: an empty field is defaultValue; otherwise an error
  double defaultValue = 0;
  std::vector<std::string> naStrings{};                   // csv: fields that mean NaN
  std::optional<int64_t> rowsInBlock{}, columnsInBlock{}; // binary: sizes of blocks
  std::optional<std::string> indexSeparator{};            // libsvm: between an index and its value
  std::optional<std::string> dataset{};                   // hdf5: the name of the matrix
};

// Returns the matrix in the best layout; sparse files never take dense memory. Throws
// Error if the file can't be read.
ArrayReference readMatrix(const MatrixFile &file, ExecutionContext &context);
ArrayReference readMatrix(const MatrixFile &file, TextSource &source, ExecutionContext &context);

// For readers of formats: throws Error unless the file has the expected number of rows or columns;
// `what` is "row" or "column".
void checkSize(const MatrixFile &file, std::string_view what, std::optional<int64_t> expected,
               int64_t found);

} // namespace tokamak::runtime
#endif
