#include "base/MatrixMetadata.h"

#include "base/Error.h"
#include "base/FileReason.h"
#include "base/NearestNames.h"
#include "base/PendingMetadata.h"
#include "base/RunInputs.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tokamak {
namespace {

using Json = nlohmann::ordered_json;

// The JSON text; bytes that are not valid UTF-8 are replaced.
std::string textOf(const Json &value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void failValue(const std::string &name, const std::string &key,
                            std::string_view wanted, const Json &value) {
  constexpr size_t longest = 40;
  std::string shown = value.is_array()    ? "an array"
                      : value.is_object() ? "an object"
                                          : textOf(value);
  if (shown.size() > longest)
    shown = shown.substr(0, longest) + "...";
  throw Error(fmt::format("{}: \"{}\" must be {}, got {}", name, key, wanted, shown));
}

// Reads a JSON value as T. Numbers and booleans may be in quotes, as in some files written by hand.
template <typename T> struct Reader;

template <> struct Reader<std::string> {
  static constexpr std::string_view wanted = "a string";
  static std::optional<std::string> read(const Json &value) {
    return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
  }
};

template <> struct Reader<int64_t> {
  static constexpr std::string_view wanted = "an integer";
  static std::optional<int64_t> read(const Json &value) {
    if (value.is_number_integer())
      return value.get<int64_t>();
    if (!value.is_string())
      return std::nullopt;
    Json number = Json::parse(value.get<std::string>(), nullptr, false);
    return number.is_number_integer() ? std::optional(number.get<int64_t>()) : std::nullopt;
  }
};

// Numbers that JSON cannot represent are written as strings.
constexpr std::pair<std::string_view, double> specialNumbers[] = {
    {"NaN", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", std::numeric_limits<double>::infinity()},
    {"-Infinity", -std::numeric_limits<double>::infinity()}};

Json jsonOf(double value) {
  for (const auto &[name, special] : specialNumbers)
    if (value == special || (std::isnan(value) && std::isnan(special)))
      return std::string(name);
  return value;
}

template <> struct Reader<double> {
  static constexpr std::string_view wanted = "a number";
  static std::optional<double> read(const Json &value) {
    if (value.is_number())
      return value.get<double>();
    if (!value.is_string())
      return std::nullopt;
    for (const auto &[name, special] : specialNumbers)
      if (value == name)
        return special;
    Json number = Json::parse(value.get<std::string>(), nullptr, false);
    return number.is_number() ? std::optional(number.get<double>()) : std::nullopt;
  }
};

template <> struct Reader<bool> {
  static constexpr std::string_view wanted = "true or false";
  static std::optional<bool> read(const Json &value) {
    if (value.is_boolean())
      return value.get<bool>();
    if (value == "true" || value == "TRUE")
      return true;
    return value == "false" || value == "FALSE" ? std::optional(false) : std::nullopt;
  }
};

template <> struct Reader<std::vector<std::string>> {
  static constexpr std::string_view wanted = "a string or an array of strings";
  static std::optional<std::vector<std::string>> read(const Json &value) {
    if (value.is_string())
      return splitNaStrings(value.get<std::string>());
    if (!value.is_array() || !std::all_of(value.begin(), value.end(),
                                          [](const Json &element) { return element.is_string(); }))
      return std::nullopt;
    return value.get<std::vector<std::string>>();
  }
};

const std::vector<std::string> knownKeys = {
    "data_type",     "value_type",  "rows",    "cols",      "nnz",     "format", "header",
    "sep",           "fill",        "default", "naStrings", "schema",  "sparse", "rows_in_block",
    "cols_in_block", "description", "author",  "created",   "privacy", "indSep", "dataset"};

class MetadataParser {
public:
  explicit MetadataParser(const std::string &name) : name_(name) {}

  void parse(std::string_view text) {
    Json object;
    try {
      object = Json::parse(text);
    } catch (const nlohmann::json::parse_error &error) {
      size_t end = std::min(text.size(), error.byte > 0 ? error.byte - 1 : 0);
      size_t lineBegin = text.substr(0, end).rfind('\n') + 1; // npos + 1 is 0
      auto line = 1 + std::count(text.begin(), text.begin() + end, '\n');
      throw Error(
          fmt::format("{}:{}:{}: not a valid JSON object", name_, line, end - lineBegin + 1));
    } catch (const nlohmann::json::out_of_range &) {
      throw Error(fmt::format("{}: a number is too large", name_));
    }
    if (!object.is_object())
      throw Error(fmt::format("{}: not a JSON object", name_));
    for (auto &[key, value] : object.items())
      readEntry(key, value);
  }

  MatrixMetadata metadata;

private:
  template <typename T>
  void read(std::optional<T> &entry, const std::string &key, const Json &value) {
    entry = Reader<T>::read(value);
    if (!entry)
      failValue(name_, key, Reader<T>::wanted, value);
  }

  void readSize(std::optional<int64_t> &entry, const std::string &key, const Json &value) {
    read(entry, key, value);
    if (*entry < 0) // negative: unknown
      entry.reset();
  }

  void readEntry(const std::string &key, const Json &value) {
    if (key == "data_type")
      read(metadata.dataType, key, value);
    else if (key == "value_type")
      read(metadata.valueType, key, value);
    else if (key == "format")
      read(metadata.format, key, value);
    else if (key == "rows")
      readSize(metadata.rows, key, value);
    else if (key == "cols")
      readSize(metadata.columns, key, value);
    else if (key == "nnz")
      readSize(metadata.nonZeros, key, value);
    else if (key == "header")
      read(metadata.header, key, value);
    else if (key == "sep")
      read(metadata.separator, key, value);
    else if (key == "fill")
      read(metadata.fill, key, value);
    else if (key == "default")
      read(metadata.defaultValue, key, value);
    else if (key == "naStrings")
      read(metadata.naStrings, key, value);
    else if (key == "schema")
      read(metadata.schema, key, value);
    else if (key == "rows_in_block")
      readSize(metadata.rowsInBlock, key, value);
    else if (key == "cols_in_block")
      readSize(metadata.columnsInBlock, key, value);
    else if (key == "indSep")
      read(metadata.indexSeparator, key, value);
    else if (key == "dataset")
      read(metadata.dataset, key, value);
    else
      checkKnown(key);
  }

  void checkKnown(const std::string &key) {
    if (std::find(knownKeys.begin(), knownKeys.end(), key) != knownKeys.end())
      return;
    std::vector<std::string> candidates = nearestCandidates(key, knownKeys, 1);
    throw Error(fmt::format(
        "{}: unknown key \"{}\"{}", name_, key,
        candidates.empty() ? "" : fmt::format("; did you mean \"{}\"?", candidates[0])));
  }

  const std::string &name_;
};

std::string contentsOf(const std::string &path) {
  noteInputFile(path);
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(fmt::format("{}: cannot be read: {}", path, fileReason(errno)));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

std::vector<std::string> splitNaStrings(std::string_view text) {
  constexpr std::string_view separator = "\u00b7";
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  return parts;
}

MatrixMetadata parseMetadata(std::string_view text, const std::string &name) {
  MetadataParser parser(name);
  parser.parse(text);
  return parser.metadata;
}

std::optional<MatrixMetadata> readMetadata(const std::string &path) {
  std::string name = path + ".mtd";
  MetadataParser parser(name);
  if (std::optional<std::string> pending = pendingMetadata(path)) {
    if (pending->empty())
      return std::nullopt;
    parser.parse(*pending);
    return parser.metadata;
  }
  std::error_code status;
  if (!std::filesystem::exists(name, status))
    return std::nullopt;
  if (!std::filesystem::is_directory(name, status)) {
    parser.parse(contentsOf(name));
    return parser.metadata;
  }
  std::vector<std::string> parts;
  for (const auto &entry : std::filesystem::directory_iterator(name))
    if (entry.path().filename().string().starts_with("part"))
      parts.push_back(entry.path().string());
  std::sort(parts.begin(), parts.end());
  for (const std::string &part : parts)
    parser.parse(contentsOf(part));
  return parser.metadata;
}

std::string metadataText(const MatrixMetadata &metadata, const std::vector<MetadataNote> &notes) {
  Json object = Json::object();
  auto put = [&](const char *key, const auto &entry) {
    if (entry)
      object[key] = *entry;
  };
  put("data_type", metadata.dataType);
  put("value_type", metadata.valueType);
  put("rows", metadata.rows);
  put("cols", metadata.columns);
  put("rows_in_block", metadata.rowsInBlock);
  put("cols_in_block", metadata.columnsInBlock);
  put("nnz", metadata.nonZeros);
  put("format", metadata.format);
  put("header", metadata.header);
  put("sep", metadata.separator);
  put("fill", metadata.fill);
  if (metadata.defaultValue)
    object["default"] = jsonOf(*metadata.defaultValue);
  put("naStrings", metadata.naStrings);
  put("indSep", metadata.indexSeparator);
  put("dataset", metadata.dataset);
  put("schema", metadata.schema);
  for (const MetadataNote &note : notes)
    object[note.key] = note.text;
  constexpr int indent = 4;
  return textOf(object, indent) + "\n";
}

} // namespace tokamak
