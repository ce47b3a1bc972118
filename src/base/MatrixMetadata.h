// The .mtd file next to a data file: a JSON object that describes the data (type, format, sizes).
// Every entry is optional.
//
//   std::optional<MatrixMetadata> metadata = readMetadata("data/x.csv");   // reads data/x.csv.mtd
//   if (metadata && metadata->rows) ...
#ifndef TOKAMAK_BASE_MATRIXMETADATA_H
#define TOKAMAK_BASE_MATRIXMETADATA_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

struct MatrixMetadata {
  std::optional<std::string> dataType;  // matrix, frame, scalar, list
  std::optional<std::string> valueType; // double, int, string, boolean
  std::optional<std::string> format;    // a row of FileFormats.def
  std::optional<int64_t> rows, columns, nonZeros;
  std::optional<bool> header;
  std::optional<std::string> separator;
  std::optional<bool> fill;
  std::optional<double> defaultValue;
  std::optional<std::vector<std::string>> naStrings;
  std::optional<std::string> schema;
  std::optional<int64_t> rowsInBlock, columnsInBlock; // binary: sizes of blocks
  std::optional<std::string> indexSeparator;          // libsvm: between an index and its value
  std::optional<std::string> dataset;                 // hdf5: the name of the matrix in the file
};

/// Parses the text of a metadata file; `name` is the file's name in error messages. Throws Error on
/// text that is not a JSON object, unknown keys and values of the wrong type.
MatrixMetadata parseMetadata(std::string_view text, const std::string &name);

/// The metadata of the data at `path`: pending metadata (PendingMetadata.h) if there are any, else
/// from `path`.mtd, which may be a folder of part files; nullopt if there are none.
std::optional<MatrixMetadata> readMetadata(const std::string &path);

/// The entries that are set, as the text of a .mtd file; `notes` are additional string entries
/// (author, description).
struct MetadataNote {
  std::string key, text;
};
std::string metadataText(const MatrixMetadata &metadata, const std::vector<MetadataNote> &notes);

/// Splits a list of NA strings, which .mtd files and calls write as one string separated by a
/// middle dot (U+00B7).
std::vector<std::string> splitNaStrings(std::string_view text);

} // namespace tokamak
#endif
