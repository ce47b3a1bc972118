// Writers of matrix files; see FileNatives.cpp for scalars, lists and metadata.
//
//   FileWriter file("x.csv.gz");                    // compressed because of its name
//   writeMatrix(*x, {.format = "csv", .header = true}, context, file);
//   file.commit();
#ifndef TOKAMAK_RUNTIME_IO_MATRIXWRITER_H
#define TOKAMAK_RUNTIME_IO_MATRIXWRITER_H

#include "runtime/io/FileWriter.h"
#include "runtime/natives/Native.h"

namespace tokamak::runtime {

struct MatrixFormat {
  std::string format = "text"; // csv, text, mm
  bool header = false;         // csv: a first line C1,C2,...
  std::string separator = ",";
  bool sparse = false; // csv: zeros are empty fields
};

// Writes a matrix of doubles; the file does not depend on its layout. Throws Error for an unknown
// format and if writing fails.
void writeMatrix(const Array &matrix, const MatrixFormat &format, ExecutionContext &context,
                 FileWriter &file);

} // namespace tokamak::runtime
#endif
