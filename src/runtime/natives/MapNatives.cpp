// The natives map and tokenize: texts of frames.
#include "runtime/natives/NativeOperands.h"
#include "runtime/transform/CellFunction.h"
#include "runtime/transform/CellTexts.h"
#include "runtime/transform/FrameFunctions.h"
#include "runtime/transform/Tokenizer.h"
#include "runtime/values/Frame.h"

namespace tokamak::runtime {
namespace {

// A column whose cells a function takes.
struct MappedColumn {
  const FrameColumn &column;
  bool isWhole; // all its numbers are: then their texts have no point, as for transformencode
};

MappedColumn mappedColumn(const FrameColumn &column) {
  bool isWhole = column.type() == FrameType::Double;
  for (int64_t i = 0; isWhole && i < column.rows(); ++i)
    isWhole = isWholeNumber(column.cell(i).asDouble());
  return {column, isWhole};
}

CellFunctionValue cellValue(const MappedColumn &mapped, int64_t row) {
  Value cell = mapped.column.cell(row);
  if (mapped.isWhole)
    return cell.asInteger();
  if (cell.isNothing())
    return {};
  if (cell.isString())
    return cell.text();
  if (cell.isBoolean())
    return cell.asBoolean();
  if (cell.isInteger())
    return cell.asInteger();
  return cell.asDouble();
}

std::optional<std::string> textOfResult(const CellFunctionValue &value) {
  return std::holds_alternative<std::monostate>(value) ? std::nullopt
                                                       : std::optional(textOfCell(value));
}

[[noreturn]] void failAt(const Error &error, int64_t row, int64_t column) {
  throw Error(fmt::format("{} (row {}, column {})", error.message(), row + 1, column + 1));
}

Value frameOfTexts(std::vector<FrameColumn::Texts> columns, int64_t rows,
                   std::vector<std::string> names) {
  std::vector<ColumnPointer> made;
  for (FrameColumn::Texts &column : columns)
    made.push_back(std::make_shared<const FrameColumn>(std::move(column)));
  return Value(std::make_shared<const Frame>(rows, std::move(made), std::move(names)));
}

std::vector<FrameColumn::Texts> emptyTexts(int64_t rows, int64_t columns) {
  return std::vector<FrameColumn::Texts>(static_cast<size_t>(columns),
                                         FrameColumn::Texts(static_cast<size_t>(rows)));
}

// One value for each cell.
Value mapCells(ExecutionContext &context, const Frame &frame, const CellFunction &function) {
  std::vector<FrameColumn::Texts> texts = emptyTexts(frame.rows(), frame.columns());
  for (int64_t j = 0; j < frame.columns(); ++j) {
    MappedColumn column = mappedColumn(*frame.column(j));
    forEachRange(context, frame.rows(), parallelGrain / 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        CellFunctionValue cell = cellValue(column, i);
        // What is missing stays so.
        if (std::holds_alternative<std::monostate>(cell))
          continue;
        try {
          texts[j][i] = textOfResult(function.call({&cell, 1}));
        } catch (const Error &error) {
          failAt(error, i, j);
        }
      }
    });
  }
  return frameOfTexts(std::move(texts), frame.rows(), frame.givenNames());
}

// For each pair of cells of a column, in the upper triangle; "0.0" in the rest.
Value mapPairs(const Frame &frame, const CellFunction &function) {
  if (frame.columns() != 1)
    throw Error(fmt::format(
        "map: a function of two values compares the cells of one column, the frame has {}",
        frame.columns()));
  std::vector<FrameColumn::Texts> texts = emptyTexts(frame.rows(), frame.rows());
  MappedColumn column = mappedColumn(*frame.column(0));
  for (int64_t i = 0; i < frame.rows(); ++i)
    for (int64_t k = 0; k < frame.rows(); ++k) {
      texts[k][i] = "0.0";
      if (k <= i)
        continue;
      CellFunctionValue pair[] = {cellValue(column, i), cellValue(column, k)};
      try {
        texts[k][i] = textOfResult(function.call(pair));
      } catch (const Error &error) {
        failAt(error, i, k);
      }
    }
  return frameOfTexts(std::move(texts), frame.rows(), {});
}

// The function takes a whole row (or column) as an array of texts and gives another one, of the same length.
Value mapArrays(const Frame &frame, const CellFunction &function, bool byRows) {
  int64_t count = byRows ? frame.rows() : frame.columns(),
          length = byRows ? frame.columns() : frame.rows();
  std::vector<FrameColumn::Texts> texts = emptyTexts(frame.rows(), frame.columns());
  std::vector<MappedColumn> columns;
  for (const ColumnPointer &column : frame.allColumns())
    columns.push_back(mappedColumn(*column));
  auto textOf = [&](int64_t row, int64_t column) {
    return columns[column].isWhole ? textOfCell(cellValue(columns[column], row))
                                   : frame.column(column)->text(row);
  };
  for (int64_t k = 0; k < count; ++k) {
    CellTextArray array;
    for (int64_t l = 0; l < length; ++l)
      array.push_back(byRows ? textOf(k, l) : textOf(l, k));
    CellFunctionValue argument = std::move(array);
    CellFunctionValue result = function.call({&argument, 1});
    const auto *made = std::get_if<CellTextArray>(&result);
    if (!made || std::ssize(*made) != length)
      throw Error(
          fmt::format("map: of a {} of {} cells the function must make an array of as many, got {}",
                      byRows ? "row" : "column", length,
                      made ? fmt::format("{}", made->size()) : textOfCell(result)));
    for (int64_t l = 0; l < length; ++l)
      (byRows ? texts[l][k] : texts[k][l]) = (*made)[l];
  }
  return frameOfTexts(std::move(texts), frame.rows(), {});
}

} // namespace

// map(target, function, margin): 0 by cells, 1 by rows, 2 by columns.
void runFrameMap(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Frame &frame = *operands[0].frame();
  std::string_view text = textOperand(operands[1], "map", "the function");
  if (std::optional<FramePointer> made = callFrameFunction(frame, text)) {
    results[0] = Value(*made);
    return;
  }
  CellFunction function(text);
  int64_t margin = operands[2].asInteger();
  if (margin < 0 || margin > 2)
    throw Error(fmt::format("map: margin is 0 (cells), 1 (rows) or 2 (columns), got {}", margin));
  bool isPair = function.parameters() == 2 && margin == 0;
  if (function.parameters() != 1 && !isPair)
    throw Error(fmt::format("map: the function must have one parameter{}, it has {}",
                            margin == 0 ? " or two" : "", function.parameters()));
  results[0] = isPair        ? mapPairs(frame, function)
               : margin == 0 ? mapCells(context, frame, function)
                             : mapArrays(frame, function, margin == 1);
}

// tokenize(target, spec, max_tokens).
void runTokenize(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &frame = *operands[0].frame();
  TokenizeSpec spec = TokenizeSpec::parse(textOperand(operands[1], "tokenize", "spec"), frame);
  if (!operands[2].isNothing())
    spec.mostTokens = sizeOperand(operands[2], "tokenize", "tokens");
  results[0] = Value(tokenize(frame, spec));
}

} // namespace tokamak::runtime
