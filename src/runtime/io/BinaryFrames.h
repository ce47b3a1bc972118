// Frames in the format binary: sequence files whose records are blocks of rows with all columns, as
// SystemDS serialises them (its class FrameBlock).
//
//   FramePointer frame = readBinaryFrame("people.bin", metadata, source);
//
// Learnt from SystemDS 3.4.0, which wrote the files in test/data/systemds.
#ifndef TOKAMAK_RUNTIME_IO_BINARYFRAMES_H
#define TOKAMAK_RUNTIME_IO_BINARYFRAMES_H

#include "runtime/io/Format.h"

namespace tokamak::runtime {

// The file has the types of its columns; a schema converts them. Throws Error, naming row and column.
FramePointer readBinaryFrame(const std::string &path, const MatrixMetadata &metadata,
                             TextSource &source);

// Throws Error if a text has more than 65,535 bytes, which the format can't hold.
void writeBinaryFrame(const Frame &frame, const WriteOptions &options, FileWriter &file);

} // namespace tokamak::runtime
#endif
