#include "runtime/values/Frame.h"

#include "runtime/values/IndexRange.h"

#include "base/CellOperators.h"
#include "base/Error.h"
#include "base/Sizes.h"
#include "base/SoleOwner.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tokamak::runtime {
namespace {

constexpr std::string_view typeNames[] = {"STRING", "FP64", "INT64", "BOOLEAN"};

double numberOf(const std::string &text) {
  if (std::optional<double> number = parseDouble(text))
    return *number;
  if (std::optional<bool> truth = parseTruth(text))
    return *truth ? 1 : 0;
  throw Error(fmt::format("'{}' is not a number", text));
}

// Of an empty text, too: no number was given.
bool isMissing(const Value &value) {
  return value.isNothing() || (value.isString() && value.text().empty());
}

double numberOf(const Value &value) {
  if (isMissing(value))
    return std::numeric_limits<double>::quiet_NaN();
  return value.isString() ? numberOf(value.text()) : value.asDouble();
}

// "7.00" -> "7", so that integers beyond 2^53 do not pass through a double.
std::string_view withoutZeroFraction(std::string_view text) {
  size_t point = text.find('.');
  bool isZero = point != text.npos && text.find_first_not_of('0', point + 1) == text.npos;
  return isZero ? text.substr(0, point) : text;
}

int64_t integerOf(const Value &value) {
  if (isMissing(value))
    return 0;
  if (value.isInteger())
    return value.asInteger();
  if (value.isString())
    if (std::optional<int64_t> number = parseInteger(withoutZeroFraction(value.text())))
      return *number;
  double number = numberOf(value);
  std::string shown = value.isString() ? fmt::format("'{}'", value.text()) : value.asText();
  constexpr double beyond = 9223372036854775808.0; // 2^63
  if (number >= beyond || number < -beyond)
    throw Error(fmt::format("{} does not fit into {}", shown, nameOf(FrameType::Integer)));
  auto integer = static_cast<int64_t>(number != number ? 0 : number);
  if (static_cast<double>(integer) != number)
    throw Error(fmt::format("{} is not an integer", shown));
  return integer;
}

} // namespace

std::optional<bool> parseTruth(std::string_view text) {
  for (std::string_view yes : {"TRUE", "True", "true", "T", "t"})
    if (text == yes)
      return true;
  for (std::string_view no : {"FALSE", "False", "false", "F", "f"})
    if (text == no)
      return false;
  return std::nullopt;
}

std::string_view nameOf(FrameType type) { return typeNames[static_cast<size_t>(type)]; }

std::optional<FrameType> findFrameType(std::string_view name) {
  std::string upper(name);
  for (char &c : upper)
    c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  if (upper == "STRING" || upper == "CHARACTER")
    return FrameType::String;
  if (upper == "FP64" || upper == "FP32" || upper == "DOUBLE")
    return FrameType::Double;
  if (upper == "INT64" || upper == "INT32" || upper == "UINT8" || upper == "UINT4" ||
      upper == "INT" || upper == "INTEGER")
    return FrameType::Integer;
  if (upper == "BOOLEAN")
    return FrameType::Boolean;
  return std::nullopt;
}

FrameColumn::FrameColumn(FrameType type, int64_t rows) {
  auto size = static_cast<size_t>(rows);
  switch (type) {
  case FrameType::String:
    cells_ = Texts(size);
    break;
  case FrameType::Double:
    cells_ = Doubles(size);
    break;
  case FrameType::Integer:
    cells_ = Integers(size);
    break;
  case FrameType::Boolean:
    cells_ = Booleans(size);
    break;
  }
}

// The bytes of a string outside of its cell (short strings are stored in the cell).
static int64_t bytesBeside(const std::optional<std::string> &text) {
  constexpr size_t withinCell = 15;
  return text && text->capacity() > withinCell ? static_cast<int64_t>(text->capacity()) + 1 : 0;
}

void FrameColumn::chargeTexts() {
  textBytes_ = 0;
  if (const auto *texts = std::get_if<Texts>(&cells_))
    for (const std::optional<std::string> &text : *texts)
      textBytes_ += bytesBeside(text);
  charge_.resize(textBytes_);
}

int64_t FrameColumn::rows() const {
  return std::visit([](const auto &cells) { return static_cast<int64_t>(cells.size()); }, cells_);
}

Value FrameColumn::cell(int64_t row) const {
  switch (type()) {
  case FrameType::String: {
    const std::optional<std::string> &text = std::get<Texts>(cells_)[row];
    return text ? Value(*text) : Value();
  }
  case FrameType::Double:
    return std::get<Doubles>(cells_)[row];
  case FrameType::Integer:
    return std::get<Integers>(cells_)[row];
  case FrameType::Boolean:
    return std::get<Booleans>(cells_)[row] != 0;
  }
  return {};
}

std::string FrameColumn::text(int64_t row) const {
  Value value = cell(row);
  return value.isNothing() ? std::string() : value.asText();
}

void FrameColumn::set(int64_t row, const Value &value) {
  switch (type()) {
  case FrameType::String: {
    std::optional<std::string> &cell = std::get<Texts>(cells_)[row];
    textBytes_ -= bytesBeside(cell);
    cell = value.isNothing() ? std::nullopt : std::optional(value.asText());
    textBytes_ += bytesBeside(cell);
    charge_.atLeast(textBytes_);
    break;
  }
  case FrameType::Double:
    std::get<Doubles>(cells_)[row] = numberOf(value);
    break;
  case FrameType::Integer:
    std::get<Integers>(cells_)[row] = integerOf(value);
    break;
  case FrameType::Boolean:
    std::get<Booleans>(cells_)[row] = !isMissing(value) && numberOf(value) != 0;
    break;
  }
}

std::shared_ptr<FrameColumn> FrameColumn::rowsOf(int64_t begin, int64_t end) const {
  auto column = std::make_shared<FrameColumn>(type(), 0);
  std::visit(
      [&](const auto &cells) {
        column->cells_ = std::decay_t<decltype(cells)>(cells.begin() + begin, cells.begin() + end);
      },
      cells_);
  column->chargeTexts();
  return column;
}

std::shared_ptr<FrameColumn> FrameColumn::repeated(int64_t count) const {
  auto column = std::make_shared<FrameColumn>(type(), 0);
  MemoryCharge texts(checkedProduct(textBytes_, count, "freplicate", "bytes"));
  std::visit(
      [&](const auto &cells) {
        std::decay_t<decltype(cells)> copies;
        copies.reserve(cells.size() * static_cast<size_t>(count));
        for (int64_t i = 0; i < count; ++i)
          copies.insert(copies.end(), cells.begin(), cells.end());
        column->cells_ = std::move(copies);
      },
      cells_);
  texts.resize(0); // the column charges them from here on
  column->chargeTexts();
  return column;
}

std::shared_ptr<FrameColumn> FrameColumn::converted(FrameType type, std::string_view place,
                                                    int64_t number) const {
  auto column = std::make_shared<FrameColumn>(type, rows());
  for (int64_t i = 0; i < rows(); ++i)
    setCell(*column, i, cell(i), place, number);
  return column;
}

void setCell(FrameColumn &column, int64_t row, const Value &value, std::string_view place,
             int64_t number) {
  try {
    column.set(row, value);
  } catch (const Error &error) {
    throw Error(
        fmt::format("{}: row {}, column {}: {}", place, row + 1, number + 1, error.message()));
  }
}

Frame::Frame(int64_t rows, std::vector<ColumnPointer> columns, std::vector<std::string> names,
             Replacements replacements)
    : rows_(rows), columns_(std::move(columns)), names_(std::move(names)),
      replacements_(std::move(replacements)),
      charge_(bytesOfColumns(static_cast<int64_t>(columns_.size()))) {
  for (const ColumnPointer &column : columns_)
    if (column->rows() != rows_)
      internalError("the columns of a frame differ in length");
}

std::string Frame::name(int64_t column) const {
  return names_.empty() ? fmt::format("C{}", column + 1) : names_[column];
}

std::vector<std::string> Frame::names() const {
  std::vector<std::string> names;
  for (int64_t j = 0; j < columns(); ++j)
    names.push_back(name(j));
  return names;
}

std::string Frame::sizeText() const { return fmt::format("{}x{}", rows_, columns()); }

//===- indexing ------------------------------------------------------------------------------===//

static void checkRange(std::string_view what, int64_t begin, int64_t end, int64_t size,
                       const Frame &frame) {
  if (!isIndexRange(begin, end, size))
    throw badIndexRange(what, begin, end, size, frame.sizeText() + " frame");
}

static void checkRange(const Frame &frame, FrameRange range) {
  checkRange("row", range.rowBegin, range.rowEnd, frame.rows(), frame);
  checkRange("column", range.columnBegin, range.columnEnd, frame.columns(), frame);
}

FramePointer sliceFrame(const Frame &frame, FrameRange range) {
  checkRange(frame, range);
  std::vector<ColumnPointer> columns;
  std::vector<std::string> names;
  bool allRows = range.rowBegin == 1 && range.rowEnd == frame.rows();
  for (int64_t j = range.columnBegin - 1; j < range.columnEnd; ++j) {
    const ColumnPointer &column = frame.column(j);
    columns.push_back(allRows ? column : column->rowsOf(range.rowBegin - 1, range.rowEnd));
    if (frame.hasNames())
      names.push_back(frame.name(j));
  }
  return std::make_shared<const Frame>(range.rowEnd - range.rowBegin + 1, std::move(columns),
                                       std::move(names));
}

FramePointer insertIntoFrame(FramePointer frame, const Value &value, FrameRange range) {
  checkRange(*frame, range);
  int64_t rows = range.rowEnd - range.rowBegin + 1,
          columns = range.columnEnd - range.columnBegin + 1;
  if (value.isScalar() && (rows != 1 || columns != 1))
    throw Error(fmt::format("left indexing: a scalar can replace one cell, not {}x{}; use "
                            "frame(value, rows, cols)",
                            rows, columns));
  FramePointer source = frameOf(value);
  if (source->rows() != rows || source->columns() != columns)
    throw Error(fmt::format("left indexing: a {} frame cannot replace {}x{} cells",
                            source->sizeText(), rows, columns));
  std::vector<ColumnPointer> result = frame->allColumns();
  std::vector<std::string> names = frame->givenNames();
  int64_t allRows = frame->rows();
  frame.reset();
  for (int64_t j = 0; j < columns; ++j) {
    const ColumnPointer &before = result[range.columnBegin - 1 + j];
    auto column = hasSoleOwner(before) ? std::const_pointer_cast<FrameColumn>(before)
                                       : std::make_shared<FrameColumn>(*before);
    for (int64_t i = 0; i < rows; ++i)
      setCell(*column, range.rowBegin - 1 + i, source->cell(i, j), "left indexing",
              range.columnBegin - 1 + j);
    result[range.columnBegin - 1 + j] = std::move(column);
  }
  return std::make_shared<const Frame>(allRows, std::move(result), std::move(names));
}

//===- binding -------------------------------------------------------------------------------===//

static std::vector<FramePointer> framesOf(std::span<const Value> inputs) {
  std::vector<FramePointer> frames;
  for (const Value &input : inputs)
    frames.push_back(frameOf(input));
  return frames;
}

FramePointer bindFrameColumns(std::span<const Value> inputs) {
  std::vector<FramePointer> frames = framesOf(inputs);
  std::vector<ColumnPointer> columns;
  std::vector<std::string> names;
  bool named = false;
  for (const FramePointer &frame : frames) {
    if (frame->rows() != frames[0]->rows())
      throw Error(fmt::format("cbind: the frames have different numbers of rows, {} and {}",
                              frames[0]->sizeText(), frame->sizeText()));
    columns.insert(columns.end(), frame->allColumns().begin(), frame->allColumns().end());
    for (const std::string &name : frame->names())
      names.push_back(name);
    named |= frame->hasNames();
  }
  return std::make_shared<const Frame>(frames[0]->rows(), std::move(columns),
                                       named ? std::move(names) : std::vector<std::string>());
}

// The type that can represent the cells of both columns.
static FrameType commonType(FrameType a, FrameType b) {
  if (a == b)
    return a;
  bool hasText = a == FrameType::String || b == FrameType::String;
  return hasText ? FrameType::String
                 : std::min(a == FrameType::Boolean ? b : a, b == FrameType::Boolean ? a : b);
}

FramePointer bindFrameRows(std::span<const Value> inputs) {
  std::vector<FramePointer> frames = framesOf(inputs);
  const Frame &first = *frames[0];
  int64_t rows = 0;
  for (const FramePointer &frame : frames) {
    if (frame->columns() != first.columns())
      throw Error(fmt::format("rbind: the frames have different numbers of columns, {} and {}",
                              first.sizeText(), frame->sizeText()));
    rows = checkedSum(rows, frame->rows(), "rbind", "rows");
  }
  std::vector<ColumnPointer> columns;
  for (int64_t j = 0; j < first.columns(); ++j) {
    FrameType type = first.column(j)->type();
    for (const FramePointer &frame : frames)
      type = commonType(type, frame->column(j)->type());
    auto column = std::make_shared<FrameColumn>(type, rows);
    int64_t row = 0;
    for (const FramePointer &frame : frames)
      for (int64_t i = 0; i < frame->rows(); ++i)
        column->set(row++, frame->cell(i, j));
    columns.push_back(std::move(column));
  }
  return std::make_shared<const Frame>(rows, std::move(columns), first.givenNames());
}

FramePointer repeatFrame(const Frame &frame, int64_t count) {
  int64_t rows = checkedProduct(frame.rows(), count, "freplicate", "rows");
  std::vector<ColumnPointer> columns;
  for (const ColumnPointer &column : frame.allColumns())
    columns.push_back(column->repeated(rows == 0 ? 0 : count));
  return std::make_shared<const Frame>(rows, std::move(columns), frame.givenNames());
}

//===- conversions ---------------------------------------------------------------------------===//

FramePointer frameOfMatrix(const Array &matrix) {
  std::vector<FrameColumn::Doubles> cells;
  for (int64_t j = 0; j < matrix.columns(); ++j) {
    FrameColumn::Doubles &column = cells.emplace_back(matrix.rows(), 0.0);
    for (int64_t i = 0; i < matrix.rows() && !matrix.isSparse(); ++i)
      column[i] = matrix.at(i, j);
  }
  // Looking for each cell among the entries of its row would take longer.
  for (int64_t i = 0; i < matrix.rows() && matrix.isSparse(); ++i)
    for (int64_t p = matrix.rowOffsets()[i]; p < matrix.rowOffsets()[i + 1]; ++p)
      cells[matrix.columnIndices()[p]][i] = matrix.data()[p];
  std::vector<ColumnPointer> columns;
  for (FrameColumn::Doubles &column : cells)
    columns.push_back(std::make_shared<const FrameColumn>(std::move(column)));
  return std::make_shared<const Frame>(matrix.rows(), std::move(columns));
}

FramePointer frameOf(const Value &value) {
  if (value.isFrame())
    return value.frame();
  if (value.isArray())
    return frameOfMatrix(*value.array());
  if (value.isList()) {
    const std::vector<Value> &elements = value.list()->elements;
    if (elements.size() != 1)
      throw Error(
          fmt::format("as.frame: expected a list of one element, got one of {}", elements.size()));
    return frameOf(elements.front());
  }
  if (!value.isScalar())
    throw Error(fmt::format("as.frame: expected a matrix or a scalar, got {}", value.describe()));
  FrameType type = value.isString()    ? FrameType::String
                   : value.isBoolean() ? FrameType::Boolean
                   : value.isInteger() ? FrameType::Integer
                                       : FrameType::Double;
  auto column = std::make_shared<FrameColumn>(type, 1);
  column->set(0, value);
  return std::make_shared<const Frame>(1, std::vector<ColumnPointer>{std::move(column)});
}

ArrayPointer matrixOfFrame(const Frame &frame) {
  ArrayPointer matrix = Array::create({frame.rows(), frame.columns()});
  for (int64_t j = 0; j < frame.columns(); ++j)
    for (int64_t i = 0; i < frame.rows(); ++i) {
      try {
        matrix->mutableData()[i * frame.columns() + j] = numberOf(frame.cell(i, j));
      } catch (const Error &error) {
        throw Error(fmt::format("as.matrix: row {}, column {} of the frame: {}", i + 1, j + 1,
                                error.message()));
      }
    }
  return matrix;
}

Value scalarOfFrame(const Frame &frame) {
  if (frame.rows() != 1 || frame.columns() != 1)
    throw Error(fmt::format("as.scalar: expected a 1x1 frame, got one of {}", frame.sizeText()));
  Value value = frame.cell(0, 0);
  return value.isNothing() ? Value(std::string(missingText)) : value;
}

std::vector<FrameType> parseSchema(std::string_view text, int64_t columns,
                                   std::string_view operation) {
  std::vector<FrameType> schema;
  if (columns == 0 && text.empty())
    return schema;
  if (text.ends_with(',')) // as SystemDS writes it
    text.remove_suffix(1);
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string_view name = text.substr(begin, end - begin);
    while (!name.empty() && name.front() == ' ')
      name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ')
      name.remove_suffix(1);
    std::optional<FrameType> type = findFrameType(name);
    if (!type)
      throw Error(fmt::format("{}: unknown type '{}' in the schema: expected string, double, int "
                              "or boolean",
                              operation, name));
    schema.push_back(*type);
    begin = end + 1;
  }
  auto count = static_cast<int64_t>(schema.size());
  if (count == 1)
    schema.resize(columns, schema[0]);
  else if (count != columns)
    throw Error(fmt::format("{}: the schema has {} types, the frame {} columns", operation, count,
                            columns));
  return schema;
}

std::string schemaText(const Frame &frame) {
  std::string text;
  for (const ColumnPointer &column : frame.allColumns())
    text += (text.empty() ? "" : ",") + std::string(nameOf(column->type()));
  return text;
}

} // namespace tokamak::runtime
