// The .mtd file beside a data file: a JSON object that says what the data is. Every entry may be
// missing.
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
  std::optional<std::string> format;    // csv, text, mm, ...
  std::optional<int64_t> rows, columns, nonZeros;
  std::optional<bool> header;
  std::optional<std::string> separator;
  std::optional<bool> fill;
  std::optional<double> defaultValue;
  std::optional<std::vector<std::string>> naStrings;
  std::optional<std::string> schema;
};

/// Parses the text of a metadata file; `name` is what messages call it. Throws Error on text that
/// is not a JSON object, unknown keys and values of the wrong type.
MatrixMetadata parseMetadata(std::string_view text, const std::string &name);

/// The metadata of the data at `path`, from `path`.mtd, or from the parts of that folder; nullopt
/// if there is none. What a writer has not renamed to `path`.mtd yet counts (PendingMetadata.h).
std::optional<MatrixMetadata> readMetadata(const std::string &path);

/// The entries that are set, as the text of a .mtd file; `notes` are further text entries (author,
/// description).
struct MetadataNote {
  std::string key, text;
};
std::string metadataText(const MatrixMetadata &metadata, const std::vector<MetadataNote> &notes);

/// Several naStrings in one text, as files and calls hold them: separated by a middle dot (U+00B7).
std::vector<std::string> splitNaStrings(std::string_view text);

} // namespace tokamak
#endif
