// Reads and writes frames in every format that holds them (Format.h).
//
//   FramePointer frame = readFrame("people.csv", metadata);
#ifndef TOKAMAK_RUNTIME_IO_FRAMEFILES_H
#define TOKAMAK_RUNTIME_IO_FRAMEFILES_H

#include "base/MatrixMetadata.h"
#include "runtime/io/MatrixWriter.h"
#include "runtime/values/Frame.h"

#include <functional>

namespace tokamak::runtime {

// Without a schema, columns are strings, unless the format says more. Throws Error with file, row
// and column of an invalid cell.
FramePointer readFrame(const std::string &path, const MatrixMetadata &metadata);

// Throws Error for an unknown format.
void writeFrame(const Frame &frame, const WriteOptions &options, FileWriter &file);

// For writers of text: writes `text`, then what appendRow adds for each row.
void writeFrameRows(const Frame &frame, FileWriter &file, std::string text,
                    const std::function<void(int64_t row, std::string &text)> &appendRow);

} // namespace tokamak::runtime
#endif
