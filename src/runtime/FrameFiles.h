// Frames in files: csv, and text with a line `row column value` for each cell that is not missing.
//
//   FramePointer frame = readFrame("people.csv", metadata);
#ifndef TOKAMAK_RUNTIME_FRAMEFILES_H
#define TOKAMAK_RUNTIME_FRAMEFILES_H

#include "base/MatrixMetadata.h"
#include "runtime/FileWriter.h"
#include "runtime/Frame.h"

namespace tokamak::runtime {

// The header of a csv file names the columns. Without a schema they are texts. Empty fields and
// those among the naStrings are missing. Throws Error naming file, row and column of a bad cell.
FramePointer readFrame(const std::string &path, const MatrixMetadata &metadata);

struct FrameFormat {
  std::string format = "text"; // or csv
  bool header = false;
  std::string separator = ",";
};

// Throws Error for an unknown format. Fields of csv that hold a separator, a quote or a line end
// stand in quotes.
void writeFrame(const Frame &frame, const FrameFormat &format, FileWriter &file);

} // namespace tokamak::runtime
#endif
