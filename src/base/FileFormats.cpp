#include "base/FileFormats.h"

#include <algorithm>

namespace tokamak {

std::span<const std::string> knownFormats() {
  static const std::string formats[] = {"text",   "mm",         "csv",      "libsvm",  "jsonl",
                                        "binary", "hdf5",       "cog",      "parquet", "delta",
                                        "proto",  "compressed", "federated"};
  return formats;
}

std::string formatNamed(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

bool isSupportedFormat(std::string_view format, FormatUse use) {
  return format == "csv" || format == "text" || (format == "mm" && use == FormatUse::Matrix);
}

std::string unsupportedFormat(std::string_view operation, std::string_view format, FormatUse use) {
  bool isMatrix = use == FormatUse::Matrix;
  return std::string(operation) + ": the format \"" + std::string(format) + "\"" +
         (isMatrix ? "" : " of frames") + " is not supported yet: expected " +
         (isMatrix ? "csv, text or mm" : "csv or text");
}

} // namespace tokamak
