// Reads and writes frames in the formats csv, and text with a line `row column value` for each cell
// that is not missing.
//
//   FramePointer frame = readFrame("people.csv", metadata);
#ifndef TOKAMAK_RUNTIME_IO_FRAMEFILES_H
#define TOKAMAK_RUNTIME_IO_FRAMEFILES_H

#include "base/MatrixMetadata.h"
#include "runtime/io/FileWriter.h"
#include "runtime/values/Frame.h"

namespace tokamak::runtime {

// The header of a csv file has the names of the columns. Without a schema, columns are strings.
// Empty fields and naStrings are missing cells. Throws Error with file, row and column of an
// invalid cell.
FramePointer readFrame(const std::string &path, const MatrixMetadata &metadata);

struct FrameFormat {
  std::string format = "text"; // or csv
  bool header = false;
  std::string separator = ",";
};

// Throws Error for an unknown format. In csv, fields that contain a separator, a quote or a line
// end are quoted.
void writeFrame(const Frame &frame, const FrameFormat &format, FileWriter &file);

} // namespace tokamak::runtime
#endif
