// Frames in the format csv. The header has the names of the columns; empty fields and naStrings are
// missing cells. Fields that contain a separator, a quote or a line end are quoted.
//
//   TextSource source("people.csv");
//   FramePointer frame = readCsvFrame("people.csv", metadata, source);
#ifndef TOKAMAK_RUNTIME_IO_CSVFRAMES_H
#define TOKAMAK_RUNTIME_IO_CSVFRAMES_H

#include "runtime/io/Format.h"

namespace tokamak::runtime {

FramePointer readCsvFrame(const std::string &path, const MatrixMetadata &metadata,
                          TextSource &source);
void writeCsvFrame(const Frame &frame, const WriteOptions &options, FileWriter &file);

} // namespace tokamak::runtime
#endif
