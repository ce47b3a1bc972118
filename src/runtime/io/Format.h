// The formats of data files. Each has one file with one object of this type and a row in
// base/FileFormats.def, from which the front end knows its name; nothing else knows formats by name.
//
//   const Format *format = findFormat("csv");
//   if (format && format->readMatrix)
//     ArrayReference x = format->readMatrix(file, source, context);
#ifndef TOKAMAK_RUNTIME_IO_FORMAT_H
#define TOKAMAK_RUNTIME_IO_FORMAT_H

#include "base/FileFormats.h"
#include "base/MatrixMetadata.h"
#include "runtime/io/FrameFiles.h"
#include "runtime/io/MatrixReader.h"
#include "runtime/io/MatrixWriter.h"
#include "runtime/io/TextSource.h"

namespace tokamak::runtime {

// Functions are null if the format doesn't hold matrices or frames. They throw Error with the file,
// the row and the column of what is wrong; those that write may leave a part behind, which the
// FileWriter then removes.
struct Format {
  std::string_view name = {};
  // Every file begins so; empty if files can't be told from other text.
  std::string_view beginning = {};
  // The file says by itself what a .mtd file would say: none is written.
  bool describesItself = false;
  // A matrix in the best layout, whatever it costs: see Array::inBestLayout.
  ArrayReference (*readMatrix)(const MatrixFile &file, TextSource &source,
                               ExecutionContext &context) = nullptr;
  void (*writeMatrix)(const Array &matrix, const WriteOptions &options, ExecutionContext &context,
                      FileWriter &file) = nullptr;
  FramePointer (*readFrame)(const std::string &path, const MatrixMetadata &metadata,
                            TextSource &source) = nullptr;
  void (*writeFrame)(const Frame &frame, const WriteOptions &options, FileWriter &file) = nullptr;
  // Adds what readers must know of the options to the metadata; null if that is nothing.
  void (*describe)(const WriteOptions &options, MatrixMetadata &metadata) = nullptr;
};

#define TOKAMAK_FORMAT(Name, ...) extern const Format Name##Format;
#include "base/FileFormats.def"

// Null if there is no such format here; `name` is in small letters.
const Format *findFormat(std::string_view name);

// Throws Error: the format is not known, or known but not supported for this use.
[[noreturn]] void failFormat(std::string_view operation, const std::string &format, FormatUse use);

// Throws Error: neither the call of `read` nor the metadata of the file says what format it has.
[[noreturn]] void failWithoutFormat(const std::string &path);

// The bytes of the file of a format that doesn't have part files; Error if the path is a folder.
std::string_view bytesOfOnlyFile(const MatrixFile &file, TextSource &source);

// The format of matrices whose `beginning` the file has; null if there is none.
const Format *formatOfFile(const std::string &path);

} // namespace tokamak::runtime
#endif
