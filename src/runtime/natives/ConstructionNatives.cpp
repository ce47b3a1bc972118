// Natives that make matrices: from scalars and strings, by reshaping, and sequences.
#include "runtime/natives/NativeOperands.h"
#include "runtime/sparse/SparseProducts.h"
#include "runtime/sparse/SparseReorganization.h"
#include "runtime/values/ScalarOperations.h"

#include <cmath>

namespace tokamak::runtime {
namespace {

// Blanks separate the numbers; any other character is part of a number. A single number fills the matrix.
template <typename Number>
void parseCells(std::string_view text, int64_t rows, int64_t columns, Number *data) {
  int64_t cells = rows * columns, count = 0;
  constexpr const char *blanks = " \t\r\n";
  for (size_t position = text.find_first_not_of(blanks); position < text.size();
       position = text.find_first_not_of(blanks, position)) {
    size_t end = std::min(text.find_first_of(blanks, position), text.size());
    std::string_view field = text.substr(position, end - position);
    std::optional<double> number = parseDouble(field);
    if (!number)
      throw Error(fmt::format("matrix: '{}' in the text is not a number", field));
    if (count < cells)
      data[count] = static_cast<Number>(*number);
    ++count;
    position = end;
  }
  if (count == 1) {
    if (cells > 0)
      std::fill_n(data, cells, *data);
  } else if (count != cells) {
    throw Error(fmt::format("matrix: the text has {} numbers, {}x{} needs {}", count, rows, columns,
                            cells));
  }
}

ArrayPointer parseMatrix(ElementType type, std::string_view text, int64_t rows, int64_t columns) {
  ArrayPointer result = Array::create({rows, columns}, type);
  withFloatCells(*result, [&]<typename Number>() {
    parseCells(text, rows, columns, result->mutableCellsAs<Number>());
  });
  return result;
}

} // namespace

void runParseMatrix(ExecutionContext &context, std::span<Value> operands,
                    std::span<Value> results) {
  const std::string &text = textOperand(operands[0], "matrix", "the data");
  results[0] = parseMatrix(typeOfNumbers(context), text, sizeOperand(operands[1], "matrix", "rows"),
                           sizeOperand(operands[2], "matrix", "columns"));
}

void runFill(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  int64_t rows = sizeOperand(operands[1], "matrix", "rows");
  int64_t columns = sizeOperand(operands[2], "matrix", "columns");
  if (operands[0].isString()) {
    results[0] = parseMatrix(typeOfNumbers(context), operands[0].text(), rows, columns);
    return;
  }
  double value = operands[0].asDouble();
  ElementType type = context.resultType;
  constexpr int64_t largeCells = int64_t{1} << 20;
  bool isPlainZero = value == 0 && !std::signbit(value);
  // Small matrices of zeros stay dense: most are updated soon.
  if (isPlainZero && mayBeSparse(type) && Array::isBetterSparse({rows, columns}, 0) &&
      static_cast<double>(rows) * static_cast<double>(columns) >= largeCells) {
    ArrayPointer empty = Array::createSparse(rows, columns, 0, type);
    std::fill_n(empty->mutableRowOffsets(), rows + 1, 0);
    results[0] = std::move(empty);
    return;
  }
  results[0] = filledWith(context, {rows, columns}, type, operands[0]);
}

namespace {

// The row-major offset of cell number i in column order.
int64_t columnOrderOffset(int64_t i, int64_t rows, int64_t columns) {
  return i % rows * columns + i / rows;
}

// Reshaping by columns is reshaping the transposed matrices by rows.
ArrayReference reshapeSparseRows(ExecutionContext &context, const ArrayReference &source,
                                 int64_t rows, int64_t columns, bool byRow) {
  if (byRow)
    return reshapeSparse(context, *source, rows, columns);
  ArrayReference transposed = transposeSparse(context, *source);
  ArrayReference result = Array::asSparse(reshapeSparse(context, *transposed, columns, rows));
  return Array::inBestLayout(transposeSparse(context, *result));
}

} // namespace

void runReshape(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseMatrixOperand(operands[0], "matrix");
  int64_t rows = sizeOperand(operands[1], "matrix", "rows");
  int64_t columns = sizeOperand(operands[2], "matrix", "columns");
  int64_t cells = checkedProduct(rows, columns, "matrix", "cells");
  if (cells != source.cells())
    throw Error(fmt::format("matrix: cannot reshape {} to {}x{}: {} cells are not {}",
                            source.shape().text(), rows, columns, source.cells(), cells));
  bool byRow = operands[3].asBoolean();
  if (source.isSparse()) {
    results[0] = reshapeSparseRows(context, operands[0].array(), rows, columns, byRow);
    return;
  }
  if (byRow) {
    results[0] = source.reshaped({rows, columns});
    context.touchedBytes = 0;
    return;
  }
  ArrayPointer result = Array::create({rows, columns}, source.elementType());
  withCellSize(source.elementType(), [&]<typename Cell>() {
    auto *to = result->mutableCellsAs<Cell>();
    const auto *from = source.cellsAs<Cell>();
    forEachRange(context, cells, parallelGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[columnOrderOffset(i, rows, columns)] =
            from[columnOrderOffset(i, source.rows(), source.columns())];
    });
  });
  results[0] = std::move(result);
}

namespace {

int64_t sequenceLength(double from, double to, double by) {
  if (std::isnan(from) || std::isnan(to) || std::isnan(by))
    throw Error("seq: from, to and the increment must be numbers, not NaN");
  if (by == 0)
    throw Error("seq: the increment is zero");
  if ((to > from && by < 0) || (to < from && by > 0))
    throw Error(fmt::format("seq: the increment {} does not lead from {} to {}", textOf(by),
                            textOf(from), textOf(to)));
  double steps = std::floor(to / by - from / by);
  if (!(steps < 0x1p53))
    throw Error(fmt::format("seq: too many values from {} to {}", textOf(from), textOf(to)));
  // Rounding may leave the quotient just below a whole number.
  double next = from + (steps + 1) * by;
  bool oneMore = by > 0 ? next <= to : next >= to;
  return 1 + static_cast<int64_t>(steps) + oneMore;
}

// Whether all sums are integers that doubles can represent, so that they may be added up in any order.
bool hasExactSums(double from, double by, int64_t length) {
  bool isNegativeZero = from == 0 && std::signbit(from); // which is lost if 0 is added
  return from == std::trunc(from) && by == std::trunc(by) && !isNegativeZero &&
         std::abs(from) + std::abs(by) * static_cast<double>(length) <= 0x1p53;
}

template <typename Number>
void writeIntegers(double from, double by, int64_t count, Number *cells) {
  constexpr int64_t lanes = 16;
  double inLanes[lanes];
  for (int64_t lane = 0; lane < lanes; ++lane)
    inLanes[lane] = from + by * static_cast<double>(lane);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      cells[i + lane] = static_cast<Number>(inLanes[lane]);
      inLanes[lane] += by * lanes;
    }
  for (int64_t lane = 0; i < count; ++i, ++lane)
    cells[i] = static_cast<Number>(inLanes[lane]);
}

} // namespace

void runSeq(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  double from = operands[0].asDouble(), to = operands[1].asDouble();
  double by = operands[2].isNothing() ? (from > to ? -1 : 1) : operands[2].asDouble();
  int64_t length = checkedSize(sequenceLength(from, to, by), "seq", "values");
  ArrayPointer result = Array::create({length, 1}, typeOfNumbers(context));
  withFloatCells(*result, [&]<typename Number>() {
    Number *cells = result->mutableCellsAs<Number>();
    if (hasExactSums(from, by, length))
      return forEachRange(context, length, parallelGrain, [&](int64_t begin, int64_t end) {
        writeIntegers(from + by * static_cast<double>(begin), by, end - begin, cells + begin);
      });
    double value = from;
    for (int64_t i = 0; i < length; ++i, value += by)
      cells[i] = static_cast<Number>(value);
  });
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
