// The natives read and write, for values and their .mtd files.
#include "base/FileReason.h"
#include "base/MatrixMetadata.h"
#include "base/NearestNames.h"
#include "base/PendingMetadata.h"
#include "runtime/io/Format.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <limits>
#include <sys/stat.h>

namespace tokamak::runtime {
namespace {

std::string shown(const std::string &text) { return '"' + text + '"'; }
std::string shown(int64_t number) { return std::to_string(number); }
std::string shown(double number) { return textOf(number); }
std::string shown(bool truth) { return truth ? "TRUE" : "FALSE"; }
std::string shown(const std::vector<std::string> &texts) {
  return fmt::format("{} texts", texts.size());
}

// Merges a parameter of the call into the metadata; Error if both have it with different values.
template <typename T>
void merge(std::string_view name, const std::string &path, std::optional<T> &stored,
           const std::optional<T> &given) {
  if (!given)
    return;
  bool isSame = !stored || *stored == *given || (*stored != *stored && *given != *given); // NaN
  if (!isSame)
    throw Error(fmt::format("read: {} is {} in the call but {} in {}.mtd", name, shown(*given),
                            shown(*stored), path));
  stored = given;
}

// Merges a type: the program was compiled for this data type and, for a scalar, value type.
void mergeType(std::string_view name, const std::string &path, std::optional<std::string> &stored,
               const std::optional<std::string> &compiled) {
  if (stored && compiled && *stored != *compiled)
    throw Error(fmt::format("read: {}.mtd says {} \"{}\", but the program was compiled for \"{}\"; "
                            "give {}=\"{}\" in the call",
                            path, name, *stored, *compiled, name, *stored));
  if (compiled)
    stored = compiled;
}

std::optional<std::string> optionalText(const Value &operand, std::string_view native,
                                        std::string_view name) {
  if (operand.isNothing())
    return std::nullopt;
  return textOperand(operand, native, name);
}

// -1 is unknown, as in SystemDS's metadata.
std::optional<int64_t> blockSize(const Value &operand, std::string_view native,
                                 std::string_view name) {
  if (operand.isNothing() || operand.asInteger() == -1)
    return std::nullopt;
  int64_t size = operand.asInteger();
  if (size < 1 || size > std::numeric_limits<int32_t>::max())
    throw Error(fmt::format("{}: {} is {}: expected 1 to {}", native, name, size,
                            std::numeric_limits<int32_t>::max()));
  return size;
}

std::optional<int64_t> optionalSize(const Value &operand, std::string_view name) {
  if (operand.isNothing() || operand.asInteger() == -1) // -1: unknown
    return std::nullopt;
  return sizeOperand(operand, "read", name);
}

std::optional<bool> optionalTruth(const Value &operand) {
  return operand.isNothing() ? std::nullopt : std::optional(operand.asBoolean());
}

// What a file can't be read as may stand in its metadata instead of in the program.
std::string describe(const std::string &path, const MatrixMetadata &stored) {
  std::string text = metadataText(stored, {}), line;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      line += text[i];
      continue;
    }
    size_t next = text.find_first_not_of(' ', i + 1);
    if (next != text.npos && line != "{" && text[next] != '}')
      line += ' ';
    i = std::min(next, text.size()) - 1;
  }
  return fmt::format("{}.mtd says {}", path, line);
}

// The metadata of the file merged with the operands of tok.read.
MatrixMetadata mergedMetadata(const std::string &path, MatrixMetadata metadata,
                              std::span<const Value> operands) {
  std::optional<std::string> format = optionalText(operands[1], "read", "format");
  for (std::optional<std::string> *name : {&metadata.format, &format})
    if (*name)
      *name = formatNamed(**name);
  merge("format", path, metadata.format, format);
  merge("rows", path, metadata.rows, optionalSize(operands[2], "rows"));
  merge("cols", path, metadata.columns, optionalSize(operands[3], "cols"));
  merge("nnz", path, metadata.nonZeros, optionalSize(operands[4], "nnz"));
  mergeType("data_type", path, metadata.dataType, optionalText(operands[5], "read", "data_type"));
  mergeType("value_type", path, metadata.valueType,
            optionalText(operands[6], "read", "value_type"));
  merge("header", path, metadata.header, optionalTruth(operands[7]));
  merge("sep", path, metadata.separator, optionalText(operands[8], "read", "sep"));
  merge("fill", path, metadata.fill, optionalTruth(operands[9]));
  if (!operands[10].isNothing())
    merge("default", path, metadata.defaultValue, std::optional(operands[10].asDouble()));
  if (!operands[11].isNothing())
    merge("naStrings", path, metadata.naStrings,
          std::optional(splitNaStrings(textOperand(operands[11], "read", "naStrings"))));
  if (metadata.rows)
    checkedSize(*metadata.rows, path, "rows");
  if (metadata.columns)
    checkedSize(*metadata.columns, path, "columns");
  // The schema of the call overrides the metadata's.
  if (!operands[12].isNothing())
    metadata.schema = textOperand(operands[12], "read", "schema");
  merge("rows_in_block", path, metadata.rowsInBlock,
        blockSize(operands[13], "read", "rows_in_block"));
  merge("cols_in_block", path, metadata.columnsInBlock,
        blockSize(operands[14], "read", "cols_in_block"));
  merge("indSep", path, metadata.indexSeparator, optionalText(operands[15], "read", "indSep"));
  merge("dataset", path, metadata.dataset, optionalText(operands[16], "read", "dataset"));
  return metadata;
}

Value readScalar(const std::string &path, const MatrixMetadata &metadata) {
  TextSource source(path);
  auto text = source.parse([&] { return std::string(source.takeRest()); });
  std::string valueType = metadata.valueType.value_or("double");
  if (valueType == "string")
    return Value(text);
  constexpr const char *blanks = " \t\r\n";
  text.erase(text.find_last_not_of(blanks) + 1);
  text.erase(0, text.find_first_not_of(blanks));
  if (valueType == "boolean")
    if (std::optional<bool> truth = parseBoolean(text))
      return *truth;
  if (valueType == "int")
    if (std::optional<int64_t> number = parseInteger(text))
      return *number;
  if (valueType == "double")
    if (std::optional<double> number = parseDouble(text))
      return *number;
  throw Error(
      fmt::format("{}: {} is not a value of the type {}", path, quotedField(text), valueType));
}

Value readValue(const std::string &path, const MatrixMetadata &metadata, ExecutionContext &context);

// Reads a list: a folder with a file for each element, named <index from 0>_<name, or null>.
Value readList(const std::string &path, ExecutionContext &context) {
  struct Element {
    int64_t index;
    std::string name, path;
  };
  std::vector<Element> elements;
  for (const auto &entry : std::filesystem::directory_iterator(path)) {
    std::string name = entry.path().filename().string();
    size_t mark = name.find('_');
    std::optional<int64_t> index = parseInteger(std::string_view(name).substr(0, mark));
    if (name.ends_with(".mtd") || mark == name.npos || !index)
      continue;
    elements.push_back({*index, name.substr(mark + 1), entry.path().string()});
  }
  std::sort(elements.begin(), elements.end(),
            [](const Element &a, const Element &b) { return a.index < b.index; });
  auto list = std::make_shared<List>();
  bool isNamed = false;
  for (const Element &element : elements) {
    list->elements.push_back(
        readValue(element.path, readMetadata(element.path).value_or(MatrixMetadata()), context));
    list->names.push_back(element.name == "null" ? "" : element.name);
    isNamed |= element.name != "null";
  }
  if (!isNamed)
    list->names.clear();
  return Value(std::shared_ptr<const List>(std::move(list)));
}

// Matrices of every known value type are read as doubles.
void checkValueType(const std::string &path, const MatrixMetadata &metadata) {
  static const std::vector<std::string> known = {"double", "int",   "boolean", "fp64",
                                                 "fp32",   "int64", "int32",   "string"};
  if (!metadata.valueType)
    return;
  std::string type = *metadata.valueType;
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (std::find(known.begin(), known.end(), type) != known.end())
    return;
  std::vector<std::string> candidates = nearestCandidates(type, known, 1);
  throw Error(
      fmt::format("read: {}: unknown value_type \"{}\"{}", path, *metadata.valueType,
                  candidates.empty() ? "" : fmt::format("; did you mean \"{}\"?", candidates[0])));
}

Value readValue(const std::string &path, const MatrixMetadata &metadata,
                ExecutionContext &context) {
  std::string dataType = metadata.dataType.value_or("matrix");
  if (path.empty())
    throw Error("read: the name of the file is empty");
  if (struct stat status{}; stat(path.c_str(), &status) != 0)
    throw Error(fmt::format("{}: {}", path, unreadableReason(path, errno)));
  if (dataType == "scalar")
    return readScalar(path, metadata);
  if (dataType == "list")
    return readList(path, context);
  if (dataType == "frame")
    return readFrame(path, metadata);
  if (dataType != "matrix")
    throw Error(fmt::format("read: unknown data_type \"{}\"", dataType));
  checkValueType(path, metadata);
  MatrixFile file;
  file.path = path;
  const Format *found = metadata.format ? nullptr : formatOfFile(path);
  if (!metadata.format && !found)
    failWithoutFormat(path);
  file.format = metadata.format.value_or(std::string(found ? found->name : ""));
  file.rows = metadata.rows;
  file.columns = metadata.columns;
  file.nonZeros = metadata.nonZeros;
  file.header = metadata.header.value_or(false);
  file.separator = metadata.separator;
  file.fill = metadata.fill.value_or(true);
  file.defaultValue = metadata.defaultValue.value_or(0);
  file.naStrings = metadata.naStrings.value_or(std::vector<std::string>());
  file.rowsInBlock = metadata.rowsInBlock;
  file.columnsInBlock = metadata.columnsInBlock;
  file.indexSeparator = metadata.indexSeparator;
  file.dataset = metadata.dataset;
  return readMatrix(file, context);
}

} // namespace

void runRead(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const std::string &path = textOperand(operands[0], "read", "the path");
  std::optional<MatrixMetadata> stored;
  try {
    stored = readMetadata(path);
    results[0] =
        readValue(path, mergedMetadata(path, stored.value_or(MatrixMetadata()), operands), context);
  } catch (const std::filesystem::filesystem_error &error) {
    throw Error(fmt::format("{}: cannot be read: {}", path, fileReason(error.code().value())));
  } catch (Error &error) {
    bool isNamed = error.message().find(path + ".mtd") != std::string::npos;
    if (stored && !isNamed && error.kind() == ErrorKind::User)
      error.note(describe(path, *stored));
    throw;
  }
}

namespace {

std::string timeText() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &parts)};
}

struct WriteParameters {
  WriteOptions options;
  std::string description;
};

std::string textOfMetadata(const MatrixMetadata &metadata, const WriteParameters &parameters) {
  std::vector<MetadataNote> notes;
  if (!parameters.description.empty())
    notes.push_back({"description", parameters.description});
  notes.push_back({"author", "Tokamak"});
  notes.push_back({"created", timeText()});
  return metadataText(metadata, notes);
}

// Ends a file of the format with the metadata that it needs.
void commit(FileWriter &file, MatrixMetadata metadata, const WriteParameters &parameters) {
  const Format &format = *findFormat(parameters.options.format);
  if (format.describesItself) { // an old .mtd might contradict the file
    constexpr std::string_view noMetadata = "";
    file.commit(noMetadata);
    return;
  }
  metadata.format = format.name;
  if (format.describe)
    format.describe(parameters.options, metadata);
  file.commit(textOfMetadata(metadata, parameters));
}

void writeArray(const Array &matrix, const std::string &path, const WriteParameters &parameters,
                ExecutionContext &context) {
  FileWriter file(path);
  writeMatrix(matrix, parameters.options, context, file);
  MatrixMetadata metadata;
  metadata.dataType = "matrix";
  metadata.valueType = "double";
  metadata.rows = matrix.rows();
  metadata.columns = matrix.columns();
  metadata.nonZeros = matrix.countNonZeros();
  commit(file, std::move(metadata), parameters);
}

void writeFrameAndMetadata(const Frame &frame, const std::string &path,
                           const WriteParameters &parameters) {
  FileWriter file(path);
  writeFrame(frame, parameters.options, file);
  MatrixMetadata metadata;
  metadata.dataType = "frame";
  metadata.rows = frame.rows();
  metadata.columns = frame.columns();
  metadata.schema = schemaText(frame);
  commit(file, std::move(metadata), parameters);
}

void writeScalar(const Value &value, const std::string &path, const WriteParameters &parameters) {
  FileWriter file(path);
  file.writeText(value.isBoolean() ? (value.asBoolean() ? "true" : "false") : value.asText());
  MatrixMetadata metadata;
  metadata.dataType = "scalar";
  metadata.valueType = value.isBoolean()   ? "boolean"
                       : value.isInteger() ? "int"
                       : value.isDouble()  ? "double"
                                           : "string";
  metadata.format = "text";
  file.commit(textOfMetadata(metadata, parameters));
}

void writeValue(const Value &value, const std::string &path, const WriteParameters &parameters,
                ExecutionContext &context);

// A list may replace an older list, but no other folder.
void checkIsList(const std::string &path) {
  std::error_code status;
  if (!std::filesystem::is_directory(path, status))
    return;
  for (const auto &entry : std::filesystem::directory_iterator(path)) {
    std::string name = entry.path().filename().string();
    bool isElement = parseInteger(name.substr(0, name.find('_'))).has_value() ||
                     name.starts_with(temporaryPrefix);
    if (!isElement)
      throw Error(fmt::format("{}: cannot be written: the folder exists and holds '{}', which is "
                              "no element of a list",
                              path, name));
  }
}

void writeList(const List &list, const std::string &path, const WriteParameters &parameters,
               ExecutionContext &context) {
  checkIsList(path);
  FolderWriter folder(path);
  for (size_t i = 0; i < list.elements.size(); ++i) {
    bool isNamed = i < list.names.size() && !list.names[i].empty();
    if (isNamed && list.names[i].find('/') != std::string::npos)
      throw Error(fmt::format("write: the element '{}' cannot be a file: its name has a '/'",
                              list.names[i]));
    std::string name = fmt::format("{}/{}_{}", folder.path(), i, isNamed ? list.names[i] : "null");
    writeValue(list.elements[i], name, parameters, context);
  }
  MatrixMetadata metadata;
  metadata.dataType = "list";
  metadata.rows = static_cast<int64_t>(list.elements.size());
  metadata.columns = 1;
  metadata.format = parameters.options.format;
  folder.commit(textOfMetadata(metadata, parameters));
}

void writeValue(const Value &value, const std::string &path, const WriteParameters &parameters,
                ExecutionContext &context) {
  if (value.isArray())
    writeArray(*Array::withElementType(value.array(), ElementType::F64), path, parameters, context);
  else if (value.isList())
    writeList(*value.list(), path, parameters, context);
  else if (value.isFrame())
    writeFrameAndMetadata(*value.frame(), path, parameters);
  else
    writeScalar(value, path, parameters);
}

} // namespace

void runWrite(ExecutionContext &context, std::span<Value> operands, std::span<Value>) {
  const std::string &path = textOperand(operands[1], "write", "the path");
  WriteParameters parameters;
  if (!operands[2].isNothing())
    parameters.options.format = formatNamed(textOperand(operands[2], "write", "format"));
  if (!operands[3].isNothing())
    parameters.options.header = operands[3].asBoolean();
  if (!operands[4].isNothing())
    parameters.options.separator = textOperand(operands[4], "write", "sep");
  if (!operands[5].isNothing())
    parameters.options.sparse = operands[5].asBoolean();
  if (!operands[6].isNothing())
    parameters.description = operands[6].asText();
  parameters.options.rowsInBlock = blockSize(operands[7], "write", "rows_in_block");
  parameters.options.columnsInBlock = blockSize(operands[8], "write", "cols_in_block");
  parameters.options.indexSeparator = optionalText(operands[9], "write", "indSep");
  parameters.options.dataset = optionalText(operands[10], "write", "dataset");
  try {
    writeValue(operands[0], path, parameters, context);
  } catch (const std::filesystem::filesystem_error &error) {
    throw Error(fmt::format("{}: cannot be written: {}", path, fileReason(error.code().value())));
  }
}

} // namespace tokamak::runtime
