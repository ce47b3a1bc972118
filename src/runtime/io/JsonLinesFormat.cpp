// The format jsonl: a JSON object for each row of a frame, on a line of its own. Its keys are the names
// of columns, in the order in which they first occur; a key that a line lacks is a missing cell, as
// null is.
//
//   {"name": "Anna", "age": 5}
//   {"name": "Bo", "member": true}
#include "runtime/io/Format.h"
#include "runtime/io/FrameCells.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

namespace tokamak::runtime {
namespace {

using Json = nlohmann::json;

std::string jsonText(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What a column holds: a set of these.
enum CellKind : uint8_t { Missing = 1, Boolean = 2, Integer = 4, Number = 8, Text = 16 };

struct Column {
  FrameColumn::Texts cells;
  uint8_t kinds = 0;

  // The type that holds all cells as they are; a missing number is NaN.
  FrameType type() const {
    if (kinds == Integer)
      return FrameType::Integer;
    if (kinds == Boolean)
      return FrameType::Boolean;
    bool hasNumbers = (kinds & (Integer | Number)) != 0;
    return hasNumbers && (kinds & (Boolean | Text)) == 0 ? FrameType::Double : FrameType::String;
  }
};

// Takes the cells of one line at a time, as nlohmann's parser meets them.
class LineHandler : public nlohmann::json_sax<Json> {
public:
  explicit LineHandler(const std::vector<std::string> &missing) : missing_(missing) {}

  void beginLine(int64_t row) {
    row_ = row;
    depth_ = 0;
    error_.clear();
    seen_.assign(columns_.size(), false);
  }
  const std::string &error() const { return error_; }
  std::vector<Column> &columns() { return columns_; }
  std::vector<std::string> &names() { return names_; }
  // Cells that later lines lack are missing.
  void finish(int64_t rows) {
    for (Column &column : columns_)
      fill(column, rows);
  }

  bool null() override { return add(Missing, std::nullopt); }
  bool boolean(bool value) override { return add(Boolean, value ? "true" : "false"); }
  bool number_integer(int64_t value) override { return add(Integer, std::to_string(value)); }
  bool number_unsigned(uint64_t value) override {
    constexpr uint64_t largest = std::numeric_limits<int64_t>::max();
    return add(value > largest ? Number : Integer, std::to_string(value));
  }
  bool number_float(double, const std::string &text) override { return add(Number, text); }
  bool string(std::string &text) override {
    bool isMissing = std::find(missing_.begin(), missing_.end(), text) != missing_.end();
    return isMissing ? add(Missing, std::nullopt) : add(Text, std::move(text));
  }
  bool binary(Json::binary_t &) override { return fail("binary data"); } // not in text
  bool start_object(size_t) override {
    if (depth_ > 0)
      return fail(
          fmt::format("the value of {} is an object: expected a number, a text, true, false "
                      "or null",
                      quotedField(names_[column_])));
    ++depth_;
    return true;
  }
  bool key(std::string &name) override {
    auto [found, isNew] = numbers_.try_emplace(name, columns_.size());
    column_ = found->second;
    if (isNew) {
      columns_.emplace_back();
      names_.push_back(name);
      seen_.push_back(false);
    }
    if (seen_[column_])
      return fail(fmt::format("the key {} occurs twice", quotedField(name)));
    seen_[column_] = true;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(size_t) override {
    return depth_ == 0 ? failNoObject()
                       : fail(fmt::format("the value of {} is an array: expected a number, a text, "
                                          "true, false or null",
                                          quotedField(names_[column_])));
  }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string &token,
                   const Json::exception &problem) override {
    constexpr int outOfRange = 406; // in nlohmann's list of errors
    return fail(problem.id == outOfRange
                    ? fmt::format("the number {} is too large", quotedField(token))
                    : fmt::format("no valid JSON at character {}", position));
  }

private:
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }
  bool failNoObject() {
    return fail("expected an object, such as {\"name\": \"Anna\", \"age\": 5}");
  }

  void fill(Column &column, int64_t rows) {
    if (static_cast<int64_t>(column.cells.size()) < rows) {
      column.cells.resize(static_cast<size_t>(rows));
      column.kinds |= Missing;
    }
  }

  bool add(CellKind kind, std::optional<std::string> text) {
    if (depth_ == 0)
      return failNoObject();
    Column &column = columns_[column_];
    fill(column, row_);
    constexpr size_t withinCell = 15; // longer strings need memory besides their cell
    if (text && text->size() > withinCell)
      textBytes_ += static_cast<int64_t>(text->size()) + 1;
    charge_.atLeast(textBytes_);
    column.cells.push_back(std::move(text));
    column.kinds |= kind;
    return true;
  }

  const std::vector<std::string> &missing_;
  std::vector<Column> columns_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, size_t> numbers_; // of columns, by name
  std::vector<bool> seen_;                          // columns that this line has
  size_t column_ = 0;
  int64_t row_ = 0, textBytes_ = 0;
  int depth_ = 0;
  std::string error_;
  MemoryCharge charge_; // of long texts
};

ColumnPointer typedColumn(Column column, FrameType type, const std::string &path, int64_t number) {
  if (type == FrameType::String)
    return std::make_shared<const FrameColumn>(std::move(column.cells));
  auto rows = static_cast<int64_t>(column.cells.size());
  auto typed = std::make_shared<FrameColumn>(type, rows);
  for (int64_t row = 0; row < rows; ++row) {
    std::optional<std::string> &cell = column.cells[row];
    bool isTruth = (column.kinds & Boolean) != 0 && (cell == "true" || cell == "false");
    Value value = !cell ? Value() : isTruth ? Value(*cell == "true") : Value(std::move(*cell));
    setCell(*typed, row, value, path, number);
  }
  return typed;
}

FramePointer read(const std::string &path, const MatrixMetadata &metadata, TextSource &source) {
  std::vector<std::string> missing = metadata.naStrings.value_or(std::vector<std::string>());
  LineHandler handler(missing);
  std::string_view text = source.takeRest();
  int64_t rows = 0;
  for (int64_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view object = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (object.find_first_not_of(" \t\r") == object.npos)
      continue;
    handler.beginLine(rows++);
    if (!Json::sax_parse(object.begin(), object.end(), &handler))
      throw Error(fmt::format("{}: line {}: {}", path, line, handler.error()));
  }
  handler.finish(rows);
  auto columns = static_cast<int64_t>(handler.columns().size());
  if (rows == 0)
    columns = metadata.columns.value_or(0);
  checkFrameSize(path, "rows", metadata.rows, rows);
  checkFrameSize(path, "columns", metadata.columns, columns);
  if (rows == 0) // without names
    return FrameCells(path, metadata).frame(0, columns, {});
  std::vector<FrameType> types;
  for (const Column &column : handler.columns())
    types.push_back(column.type());
  if (metadata.schema)
    types = parseSchema(*metadata.schema, columns, "read");
  std::vector<ColumnPointer> typed;
  for (int64_t j = 0; j < columns; ++j)
    typed.push_back(typedColumn(std::move(handler.columns()[j]), types[j], path, j));
  return std::make_shared<const Frame>(rows, std::move(typed), std::move(handler.names()));
}

std::string jsonOf(const Value &cell) {
  if (cell.isNothing())
    return "null";
  if (cell.isBoolean())
    return cell.asBoolean() ? "true" : "false";
  if (cell.isInteger())
    return std::to_string(cell.asInteger());
  if (!cell.isDouble())
    return jsonText(cell.asText());
  double number = cell.asDouble();
  if (std::isnan(number)) // a missing number
    return "null";
  return std::isfinite(number) ? textOf(number) : jsonText(textOf(number));
}

void write(const Frame &frame, const WriteOptions &, FileWriter &file) {
  std::set<std::string> names;
  std::vector<std::string> keys;
  for (int64_t j = 0; j < frame.columns(); ++j) {
    if (!names.insert(frame.name(j)).second)
      throw Error(fmt::format("write: two columns are named {}, which the format jsonl can't hold",
                              quotedField(frame.name(j))));
    keys.push_back(jsonText(frame.name(j)) + ": ");
  }
  writeFrameRows(frame, file, "", [&](int64_t row, std::string &text) {
    text += '{';
    for (int64_t j = 0; j < frame.columns(); ++j)
      text.append(j > 0 ? ", " : "").append(keys[j]).append(jsonOf(frame.cell(row, j)));
    text += "}\n";
  });
}

} // namespace

constinit const Format JsonLinesFormat = {.name = "jsonl", .readFrame = read, .writeFrame = write};

} // namespace tokamak::runtime
