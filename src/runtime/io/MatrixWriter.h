// Writes matrix files of every format (Format.h); see FileNatives.cpp for scalars, lists and
// metadata.
//
//   FileWriter file("x.csv.gz");                    // compressed because of its name
//   writeMatrix(*x, {.format = "csv", .header = true}, context, file);
//   file.commit();
#ifndef TOKAMAK_RUNTIME_IO_MATRIXWRITER_H
#define TOKAMAK_RUNTIME_IO_MATRIXWRITER_H

#include "runtime/io/FileWriter.h"
#include "runtime/natives/Native.h"

namespace tokamak::runtime {

// How a matrix or a frame is written.
struct WriteOptions {
  std::string format = "text";               // a row of base/FileFormats.def
  bool header = false;                       // csv: a first line with names, C1,C2,...
  std::optional<std::string> separator = {}; // between fields; each format has its own default
  bool sparse = false;                       // csv: zeros are empty fields
  std::optional<int64_t> rowsInBlock = {}, columnsInBlock = {}; // binary: sizes of blocks
  std::optional<std::string> indexSeparator = {}; // libsvm: between an index and its value
  std::optional<std::string> dataset = {};        // hdf5: the name of the matrix
};

// Writes a matrix of doubles; the file does not depend on its layout. Throws Error for an unknown
// format and if writing fails.
void writeMatrix(const Array &matrix, const WriteOptions &options, ExecutionContext &context,
                 FileWriter &file);

} // namespace tokamak::runtime
#endif
