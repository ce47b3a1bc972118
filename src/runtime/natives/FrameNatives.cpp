// Natives on frames: construction, names and types of columns, cleaning of cells.
#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/Characters.h"
#include "runtime/values/Frame.h"
#include "runtime/values/ScalarOperations.h"

namespace tokamak::runtime {
namespace {

const Frame &frameOperand(const Value &value, std::string_view native) {
  if (!value.isFrame())
    throw Error(fmt::format("{}: expected a frame, got {}", native, value.describe()));
  return *value.frame();
}

Value makeFrame(int64_t rows, std::vector<ColumnPointer> columns,
                std::vector<std::string> names = {}) {
  return Value(std::make_shared<const Frame>(rows, std::move(columns), std::move(names)));
}

// A frame of one row of strings.
Value rowOfTexts(const std::vector<std::string> &texts) {
  std::vector<ColumnPointer> columns;
  for (const std::string &text : texts)
    columns.push_back(std::make_shared<const FrameColumn>(FrameColumn::Texts{text}));
  return makeFrame(1, std::move(columns));
}

} // namespace

// Fills all cells with a scalar, or row by row with the elements of a list, converted to the type of each column.
void runFrame(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  int64_t rows = sizeOperand(operands[1], "frame", "rows"),
          columns = sizeOperand(operands[2], "frame", "columns");
  checkedProduct(rows, columns, "frame", "cells");
  MemoryCharge charge(Frame::bytesOfColumns(columns)); // frames without cells need this, too
  std::vector<FrameType> schema =
      parseSchema(textOperand(operands[3], "frame", "schema"), columns, "frame");
  const Value &data = operands[0];
  if (!data.isScalar() && !data.isList())
    throw Error(fmt::format("frame: the cells are a scalar or a list, got {}", data.describe()));
  if (data.isList() && std::ssize(data.list()->elements) != rows * columns)
    throw Error(fmt::format("frame: a {}x{} frame has {} cells, the list {} elements", rows,
                            columns, rows * columns, data.list()->elements.size()));
  bool isEmptyText = data.isString() && data.text().empty();
  std::vector<ColumnPointer> made;
  for (FrameType type : schema) {
    auto column = std::make_shared<FrameColumn>(type, rows);
    for (int64_t i = 0; i < rows && (type == FrameType::String || !isEmptyText); ++i)
      setCell(*column, i,
              data.isList() ? data.list()->elements[i * columns + std::ssize(made)] : data, "frame",
              std::ssize(made));
    made.push_back(std::move(column));
  }
  charge.resize(0); // the frame charges them from here on
  results[0] = makeFrame(rows, std::move(made));
}

void runFrameWithNames(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "as.frame");
  const std::vector<Value> &elements = operands[1].list()->elements;
  if (static_cast<int64_t>(elements.size()) != source.columns())
    throw Error(fmt::format("as.frame: {} names for the columns of a {} frame", elements.size(),
                            source.sizeText()));
  std::vector<std::string> names;
  for (const Value &element : elements)
    names.push_back(element.asText());
  results[0] = makeFrame(source.rows(), source.allColumns(), std::move(names));
}

void runFrameNames(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  results[0] = rowOfTexts(frameOperand(operands[0], "colnames").names());
}

void runFrameTypes(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  std::vector<std::string> types;
  for (const ColumnPointer &column : frameOperand(operands[0], "typeof").allColumns())
    types.emplace_back(nameOf(column->type()));
  results[0] = rowOfTexts(types);
}

// A frame with the sizes and names of `like`, all of whose rows are the one of `row`.
static Value rowOf(const Frame &row, const Frame &like) {
  if (row.rows() != 1 || row.columns() != like.columns())
    throw Error(fmt::format("freplicate: expected a frame of one row and {} columns to repeat, got "
                            "{}x{}",
                            like.columns(), row.rows(), row.columns()));
  return makeFrame(like.rows(), repeatFrame(row, like.rows())->allColumns(), like.givenNames());
}

void runFrameReplicate(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &frame = frameOperand(operands[0], "freplicate");
  if (operands[1].isFrame()) {
    results[0] = rowOf(*operands[1].frame(), frame);
    return;
  }
  if (!operands[1].isNumber())
    throw Error(fmt::format("freplicate: expected how many copies, or a frame of one row, got {}",
                            operands[1].describe()));
  int64_t count = operands[1].asInteger();
  if (count < 1)
    throw Error(fmt::format("freplicate: the number of copies must be at least 1, got {}", count));
  results[0] = Value(repeatFrame(frame, checkedSize(count, "freplicate", "copies")));
}

//===- types of cells ------------------------------------------------------------------------===//

namespace {

bool isMissing(const Value &cell) {
  return cell.isNothing() || (cell.isString() && cell.text().empty());
}

// The narrowest type that can represent the cell.
FrameType typeOfCell(const Value &cell) {
  if (cell.isBoolean())
    return FrameType::Boolean;
  if (!cell.isString()) // a double at 2^63 or beyond becomes another integer
    return cell.isInteger() || (std::abs(cell.asDouble()) < 0x1p63 &&
                                cell.asDouble() == std::trunc(cell.asDouble()))
               ? FrameType::Integer
               : FrameType::Double;
  const std::string &text = cell.text();
  if (parseTruth(text))
    return FrameType::Boolean;
  if (parseInteger(text))
    return FrameType::Integer;
  return parseDouble(text) ? FrameType::Double : FrameType::String;
}

// The common type of two cells of a column; of a boolean and a number it is String.
FrameType widened(FrameType a, FrameType b) {
  if (a == b)
    return a;
  bool numbers = a != FrameType::String && a != FrameType::Boolean && b != FrameType::String &&
                 b != FrameType::Boolean;
  return numbers ? FrameType::Double : FrameType::String;
}

// Whether the cell is a truth, or the number 0 or 1, which may stand for one.
bool mayBeTruth(const Value &cell) {
  if (!cell.isString())
    return cell.asDouble() == 0 || cell.asDouble() == 1;
  constexpr std::string_view numbers[] = {"0", "1", "0.0", "1.0"};
  return parseTruth(cell.text()) || std::ranges::count(numbers, cell.text()) > 0;
}

// Whether a column of this type can hold the cell.
bool fits(const Value &cell, FrameType type) {
  return type == FrameType::String || widened(type, typeOfCell(cell)) == type;
}

} // namespace

void runFrameDetectSchema(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "detectSchema");
  std::vector<std::string> types;
  for (int64_t j = 0; j < source.columns(); ++j) {
    std::optional<FrameType> type;
    bool areTruths = true;
    for (int64_t i = 0; i < source.rows(); ++i)
      if (Value cell = source.cell(i, j); !isMissing(cell)) {
        type = type ? widened(*type, typeOfCell(cell)) : typeOfCell(cell);
        areTruths = areTruths && mayBeTruth(cell);
      }
    types.emplace_back(nameOf(!type ? FrameType::String : areTruths ? FrameType::Boolean : *type));
  }
  results[0] = rowOfTexts(types);
}

namespace {

// The schema in a frame of one row, a type name for each column of `frame`.
std::vector<FrameType> schemaOperand(const Value &operand, const Frame &frame,
                                     std::string_view native) {
  const Frame &row = frameOperand(operand, native);
  if (row.rows() == 0)
    throw Error(
        fmt::format("{}: the schema is a {} frame: expected a row with a type for each column",
                    native, row.sizeText()));
  std::string text;
  for (int64_t j = 0; j < row.columns(); ++j)
    text += (j > 0 ? "," : "") + row.column(j)->text(0);
  return parseSchema(text, frame.columns(), native);
}

} // namespace

void runFrameApplySchema(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "applySchema");
  std::vector<FrameType> schema = schemaOperand(operands[1], source, "applySchema");
  std::vector<ColumnPointer> columns;
  for (int64_t j = 0; j < source.columns(); ++j)
    columns.push_back(source.column(j)->converted(schema[j], "applySchema", j));
  results[0] = makeFrame(source.rows(), std::move(columns), source.givenNames());
}

namespace {

// Converts columns to strings and removes the cells for which `isInvalid(column, text)` is true.
template <typename IsInvalid>
Value dropCells(const Frame &source, std::string_view native, const IsInvalid &isInvalid) {
  std::vector<ColumnPointer> columns;
  for (int64_t j = 0; j < source.columns(); ++j) {
    std::shared_ptr<FrameColumn> column = source.column(j)->converted(FrameType::String, native, j);
    for (int64_t i = 0; i < source.rows(); ++i)
      if (Value cell = column->cell(i); !cell.isNothing() && isInvalid(j, cell))
        column->set(i, Value());
    columns.push_back(std::move(column));
  }
  return makeFrame(source.rows(), std::move(columns), source.givenNames());
}

} // namespace

void runFrameDropInvalidType(ExecutionContext &, std::span<Value> operands,
                             std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "dropInvalidType");
  std::vector<FrameType> schema = schemaOperand(operands[1], source, "dropInvalidType");
  results[0] = dropCells(source, "dropInvalidType", [&](int64_t column, const Value &cell) {
    return !fits(cell, schema[column]);
  });
}

void runFrameDropInvalidLength(ExecutionContext &, std::span<Value> operands,
                               std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "dropInvalidLength");
  const Array &lengths = matrixOperand(operands[1], "dropInvalidLength");
  if (lengths.cells() != source.columns())
    throw Error(fmt::format("dropInvalidLength: {} lengths for the columns of a {} frame",
                            lengths.cells(), source.sizeText()));
  results[0] = dropCells(source, "dropInvalidLength", [&](int64_t column, const Value &cell) {
    double limit = lengths.data()[column];
    return limit >= 0 && static_cast<double>(countCharacters(cell.text())) > limit;
  });
}

namespace {

// The column whose cell of the row goes to `column` and takes its cell instead, so that both fit: first one with a cell
// that doesn't fit where it is, then one whose type could be narrower. -1: there is none.
int64_t partnerOf(int64_t column, const std::vector<std::shared_ptr<FrameColumn>> &columns,
                  const std::vector<FrameType> &schema, int64_t row) {
  int64_t found = -1;
  Value cell = columns[column]->cell(row);
  for (int64_t j = 0; j < std::ssize(columns); ++j) {
    Value other = columns[j]->cell(row);
    if (j == column || isMissing(other) || !fits(cell, schema[j]) || !fits(other, schema[column]))
      continue;
    if (!fits(other, schema[j]))
      return j;
    if (found < 0 && typeOfCell(other) != schema[j])
      found = j;
  }
  return found;
}

} // namespace

// Exchanges cells of a row that stand in each other's column, by the types of the schema.
void runFrameSwapValues(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "valueSwap");
  std::vector<FrameType> schema = schemaOperand(operands[1], source, "valueSwap");
  std::vector<std::shared_ptr<FrameColumn>> columns;
  for (int64_t j = 0; j < source.columns(); ++j)
    columns.push_back(source.column(j)->converted(FrameType::String, "valueSwap", j));
  for (int64_t i = 0; i < source.rows(); ++i)
    for (int64_t j = 0; j < source.columns(); ++j) {
      Value cell = columns[j]->cell(i);
      if (isMissing(cell) || fits(cell, schema[j]))
        continue;
      if (int64_t other = partnerOf(j, columns, schema, i); other >= 0) {
        columns[j]->set(i, columns[other]->cell(i));
        columns[other]->set(i, cell);
      }
    }
  results[0] = makeFrame(source.rows(), {columns.begin(), columns.end()}, source.givenNames());
}

//===- cells ---------------------------------------------------------------------------------===//

// Compares cells of string columns as strings, those of other columns as numbers.
void runFrameReplace(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "replace");
  const Value &pattern = operands[1], &replacement = operands[2];
  std::optional<double> number =
      pattern.isString() ? parseDouble(pattern.text()) : std::optional(pattern.asDouble());
  std::string text = pattern.asText();
  std::vector<ColumnPointer> columns;
  for (const ColumnPointer &column : source.allColumns()) {
    auto result = std::make_shared<FrameColumn>(*column);
    for (int64_t i = 0; i < source.rows(); ++i) {
      Value cell = column->cell(i);
      if (cell.isNothing())
        continue;
      bool matches = cell.isString()
                         ? cell.text() == text
                         : number && (cell.asDouble() == *number ||
                                      (cell.asDouble() != cell.asDouble() && *number != *number));
      if (matches)
        result->set(i, replacement);
    }
    columns.push_back(std::move(result));
  }
  results[0] = makeFrame(source.rows(), std::move(columns), source.givenNames());
}

namespace {

bool isEmptyCell(const Value &cell) {
  if (cell.isString())
    return cell.text().empty() || cell.text() == "0";
  return cell.isNothing() || cell.asDouble() == 0;
}

} // namespace

// Keeps the rows or columns that `select` marks or, without it, those in which a cell is neither
// missing, empty, 0 (a text, too, as in SystemDS) nor FALSE.
void runFrameRemoveEmpty(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &source = frameOperand(operands[0], "removeEmpty");
  const std::string &margin = textOperand(operands[1], "removeEmpty", "margin");
  if (margin != "rows" && margin != "cols")
    throw Error(fmt::format("removeEmpty: unknown margin \"{}\": expected rows or cols", margin));
  bool byRows = margin == "rows";
  int64_t size = byRows ? source.rows() : source.columns();
  std::vector<int64_t> kept;
  const Array *select =
      operands[2].isNothing() ? nullptr : &matrixOperand(operands[2], "removeEmpty");
  if (select && select->cells() != size)
    throw Error(fmt::format("removeEmpty: select has {} cells, the frame {} {}", select->cells(),
                            size, byRows ? "rows" : "columns"));
  for (int64_t k = 0; k < size; ++k) {
    bool keep = select && select->data()[k] != 0;
    for (int64_t l = 0; !select && l < (byRows ? source.columns() : source.rows()) && !keep; ++l)
      keep = !isEmptyCell(byRows ? source.cell(k, l) : source.cell(l, k));
    if (keep)
      kept.push_back(k);
  }
  auto count = static_cast<int64_t>(kept.size());
  bool addsEmpty = count == 0 && operands[3].asBoolean();
  std::vector<ColumnPointer> columns;
  std::vector<std::string> names;
  if (byRows) {
    for (const ColumnPointer &column : source.allColumns()) {
      auto result = std::make_shared<FrameColumn>(column->type(), addsEmpty ? 1 : count);
      for (int64_t i = 0; i < count; ++i)
        result->set(i, column->cell(kept[i]));
      columns.push_back(std::move(result));
    }
    results[0] = makeFrame(addsEmpty ? 1 : count, std::move(columns), source.givenNames());
    return;
  }
  for (int64_t j : kept) {
    columns.push_back(source.column(j));
    if (source.hasNames())
      names.push_back(source.name(j));
  }
  if (addsEmpty)
    columns.push_back(std::make_shared<const FrameColumn>(FrameType::String, source.rows()));
  results[0] = makeFrame(source.rows(), std::move(columns), std::move(names));
}

// F == G, F < "b": of two frames of the same size, or of a frame and a scalar; FALSE where a cell is missing, but missing
// cells are equal to each other.
void runFrameCompare(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const std::string &spelling = operands[2].text();
  BinaryOperator op = *findBinaryBySpelling(spelling);
  for (const Value &operand : operands.first(2))
    if (!operand.isFrame() && !operand.isScalar())
      throw Error(fmt::format("{}: a frame is compared with a frame or a scalar, not with {}",
                              spelling, operand.describe()));
  const Frame &shape = *(operands[0].isFrame() ? operands[0] : operands[1]).frame();
  for (const Value &operand : operands.first(2))
    if (operand.isFrame() && operand.frame()->sizeText() != shape.sizeText())
      throw Error(fmt::format("{}: the frames are {} and {}", spelling,
                              operands[0].frame()->sizeText(), operands[1].frame()->sizeText()));
  auto cellOf = [](const Value &operand, int64_t row, int64_t column) {
    return operand.isFrame() ? operand.frame()->cell(row, column) : operand;
  };
  std::vector<ColumnPointer> columns;
  for (int64_t j = 0; j < shape.columns(); ++j) {
    auto column = std::make_shared<FrameColumn>(FrameType::Boolean, shape.rows());
    for (int64_t i = 0; i < shape.rows(); ++i) {
      Value left = cellOf(operands[0], i, j), right = cellOf(operands[1], i, j);
      bool holds = false;
      if (left.isNothing() || right.isNothing())
        holds = op == BinaryOperator::Eq   ? left.isNothing() && right.isNothing()
                : op == BinaryOperator::Ne ? left.isNothing() != right.isNothing()
                                           : false;
      else
        holds = binaryScalar(op, left, right).asBoolean();
      column->set(i, Value(holds));
    }
    columns.push_back(std::move(column));
  }
  results[0] = makeFrame(shape.rows(), std::move(columns), shape.givenNames());
}

} // namespace tokamak::runtime
