#include "base/FileFormats.h"

#include <algorithm>
#include <vector>

namespace tokamak {
namespace {

struct FormatRow {
  std::string_view name;
  bool hasMatrices, hasFrames;
};

constexpr FormatRow supported[] = {
#define TOKAMAK_FORMAT(Name, name, matrices, frames) {name, matrices, frames},
#include "base/FileFormats.def"
};

bool holds(const FormatRow &row, FormatUse use) {
  return use == FormatUse::Matrix ? row.hasMatrices : row.hasFrames;
}

} // namespace

std::span<const std::string> knownFormats() {
  static const std::string formats[] = {
#define TOKAMAK_FORMAT(Name, name, matrices, frames) name,
#define TOKAMAK_OTHER_FORMAT(name) name,
#include "base/FileFormats.def"
  };
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
  return std::any_of(std::begin(supported), std::end(supported),
                     [&](const FormatRow &row) { return row.name == format && holds(row, use); });
}

std::string supportedFormats(FormatUse use) {
  std::vector<std::string_view> names;
  for (const FormatRow &row : supported)
    if (holds(row, use))
      names.push_back(row.name);
  std::string list;
  for (size_t i = 0; i < names.size(); ++i)
    list.append(i == 0 ? "" : i + 1 < names.size() ? ", " : " or ").append(names[i]);
  return list;
}

std::string unsupportedFormat(std::string_view operation, std::string_view format, FormatUse use) {
  return std::string(operation) + ": the format \"" + std::string(format) + "\"" +
         (use == FormatUse::Matrix ? "" : " of frames") + " is not supported yet: expected " +
         supportedFormats(use);
}

} // namespace tokamak
