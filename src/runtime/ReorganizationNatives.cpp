// Cells moved, not computed: transpose, slices, binding, diagonals.
#include "runtime/Frame.h"
#include "runtime/NativeOperands.h"
#include "runtime/NativeTables.h"

#include <cstring>

namespace tokamak::runtime {
namespace {

void copyCells(const double *from, int64_t count, double *to) {
  if (count > 0)
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(double));
}

void transpose(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = matrixOperand(operands[0], "t");
  int64_t rows = source.rows(), columns = source.columns();
  if (rows == 1 || columns == 1) {
    results[0] = source.reshaped({columns, rows});
    return;
  }
  ArrayPointer result = Array::create({columns, rows});
  const double *from = source.data();
  double *to = result->mutableData();
  // Square blocks that fit the first-level cache: one side is read, the other written with a
  // stride. The longer side is shared among the threads.
  constexpr int64_t block = 16;
  auto moveBlocks = [&](int64_t rowBegin, int64_t rowEnd, int64_t columnBegin, int64_t columnEnd) {
    for (int64_t j0 = columnBegin; j0 < columnEnd; j0 += block)
      for (int64_t i0 = rowBegin; i0 < rowEnd; i0 += block) {
        int64_t j1 = std::min(columnEnd, j0 + block), i1 = std::min(rowEnd, i0 + block);
        for (int64_t j = j0; j < j1; ++j)
          for (int64_t i = i0; i < i1; ++i)
            to[j * rows + i] = from[i * columns + j];
      }
  };
  int64_t shorter = std::max<int64_t>(1, std::min(rows, columns));
  int64_t grain = std::max(block, parallelGrain / shorter / block * block);
  forEachRange(context, std::max(rows, columns), grain, [&](int64_t begin, int64_t end) {
    if (rows >= columns)
      moveBlocks(begin, end, 0, columns);
    else
      moveBlocks(0, rows, begin, end);
  });
  results[0] = std::move(result);
}

struct Range {
  int64_t rowBegin, rowEnd, columnBegin, columnEnd; // half-open, from 0
  int64_t rows() const { return rowEnd - rowBegin; }
  int64_t columns() const { return columnEnd - columnBegin; }
};

void checkBounds(std::string_view what, int64_t begin, int64_t end, int64_t size,
                 const Array &array) {
  // The whole of an empty dimension is 1:0.
  if (begin == 1 && end == 0 && size == 0)
    return;
  if (begin < 1 || end > size || begin > size)
    throw Error(begin == end ? fmt::format("index out of range: {} {} of a {} matrix", what, begin,
                                           array.shape().text())
                             : fmt::format("index out of range: {}s {}:{} of a {} matrix", what,
                                           begin, end, array.shape().text()));
  if (begin > end)
    throw Error(fmt::format("invalid range: {}s {}:{} end before they begin", what, begin, end));
}

FrameRange frameRangeOf(std::span<const Value> bounds) {
  return {bounds[0].asInteger(), bounds[1].asInteger(), bounds[2].asInteger(),
          bounds[3].asInteger()};
}

Range rangeOf(const Array &array, std::span<const Value> bounds) {
  int64_t rowBegin = bounds[0].asInteger(), rowEnd = bounds[1].asInteger();
  int64_t columnBegin = bounds[2].asInteger(), columnEnd = bounds[3].asInteger();
  checkBounds("row", rowBegin, rowEnd, array.rows(), array);
  checkBounds("column", columnBegin, columnEnd, array.columns(), array);
  return {rowBegin - 1, rowEnd, columnBegin - 1, columnEnd};
}

void slice(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  if (operands[0].isFrame()) {
    results[0] = sliceFrame(*operands[0].frame(), frameRangeOf(operands.subspan(1, 4)));
    return;
  }
  const Array &source = matrixOperand(operands[0], "indexing");
  Range range = rangeOf(source, operands.subspan(1, 4));
  if (range.rows() == source.rows() && range.columns() == source.columns()) {
    results[0] = operands[0];
    return;
  }
  if (range.columns() == source.columns()) {
    results[0] = source.rowView(range.rowBegin, range.rowEnd);
    return;
  }
  ArrayPointer result = Array::create({range.rows(), range.columns()});
  for (int64_t i = 0; i < range.rows(); ++i)
    copyCells(source.data() + (range.rowBegin + i) * source.columns() + range.columnBegin,
              range.columns(), result->mutableData() + i * range.columns());
  results[0] = std::move(result);
}

void insert(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  if (operands[0].isFrame()) {
    results[0] =
        insertIntoFrame(*operands[0].frame(), operands[1], frameRangeOf(operands.subspan(2, 4)));
    return;
  }
  const Array &target = matrixOperand(operands[0], "left indexing");
  Range range = rangeOf(target, operands.subspan(2, 4));
  int64_t columns = target.columns();
  if (operands[1].isScalar()) {
    if (range.rows() != 1 || range.columns() != 1)
      throw Error(fmt::format(
          "left indexing: a scalar can replace one cell, not {}x{}; use matrix(value, rows, "
          "cols)",
          range.rows(), range.columns()));
    double value = operands[1].asDouble();
    ArrayPointer result = takeOrCopy(operands[0]);
    result->mutableData()[range.rowBegin * columns + range.columnBegin] = value;
    results[0] = std::move(result);
    return;
  }
  const Array &value = matrixOperand(operands[1], "left indexing");
  if (value.rows() != range.rows() || value.columns() != range.columns())
    throw Error(fmt::format("left indexing: a {} matrix cannot replace {}x{} cells",
                            value.shape().text(), range.rows(), range.columns()));
  ArrayPointer result = takeOrCopy(operands[0]);
  for (int64_t i = 0; i < range.rows(); ++i)
    copyCells(value.data() + i * range.columns(), range.columns(),
              result->mutableData() + (range.rowBegin + i) * columns + range.columnBegin);
  results[0] = std::move(result);
}

// The operands of cbind and rbind as matrices: scalars are 1x1, a single list stands for its
// elements.
std::vector<ArrayReference> boundMatrices(std::span<const Value> operands,
                                          std::string_view native) {
  if (operands.size() == 1 && operands[0].isList())
    return boundMatrices(operands[0].list()->elements, native);
  std::vector<ArrayReference> arrays;
  for (const Value &operand : operands) {
    if (operand.isNumber()) {
      arrays.push_back(Array::filled({1, 1}, operand.asDouble()));
      continue;
    }
    matrixOperand(operand, native);
    arrays.push_back(operand.array());
  }
  if (arrays.empty())
    throw Error(fmt::format("{}: nothing to bind", native));
  return arrays;
}

// The elements of a single list are bound as they would be one by one.
bool bindFrames(std::span<const Value> operands, bool byRows, Value &result) {
  if (operands.size() == 1 && operands[0].isList())
    operands = operands[0].list()->elements;
  if (operands.empty() || !operands[0].isFrame())
    return false;
  result = byRows ? bindFrameRows(operands) : bindFrameColumns(operands);
  return true;
}

// A list grows by the elements of further lists and by other values as they are; texts join line by
// line.
bool bindOthers(std::span<const Value> operands, bool byRows, Value &result) {
  if (operands.size() > 1 && operands[0].isList()) {
    auto list = std::make_shared<List>(*operands[0].list());
    for (const Value &operand : operands.subspan(1)) {
      if (!operand.isList()) {
        list->elements.push_back(operand);
        if (!list->names.empty())
          list->names.emplace_back();
        continue;
      }
      const List &more = *operand.list();
      if (list->names.empty() && !more.names.empty())
        list->names.resize(list->elements.size());
      list->elements.insert(list->elements.end(), more.elements.begin(), more.elements.end());
      list->names.insert(list->names.end(), more.names.begin(), more.names.end());
      if (!list->names.empty())
        list->names.resize(list->elements.size());
    }
    result = Value(std::shared_ptr<const List>(std::move(list)));
    return true;
  }
  bool areTexts = !operands.empty();
  for (const Value &operand : operands)
    areTexts &= operand.isString();
  if (!areTexts)
    return bindFrames(operands, byRows, result);
  std::string text = operands[0].text();
  for (const Value &operand : operands.subspan(1))
    text += '\n' + operand.text();
  result = Value(std::move(text));
  return true;
}

void cbind(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  if (bindOthers(operands, false, results[0]))
    return;
  std::vector<ArrayReference> arrays = boundMatrices(operands, "cbind");
  int64_t rows = arrays[0]->rows(), columns = 0;
  for (const ArrayReference &array : arrays) {
    if (array->rows() != rows)
      throw Error(fmt::format("cbind: the matrices have different numbers of rows, {} and {}",
                              arrays[0]->shape().text(), array->shape().text()));
    columns += array->columns();
  }
  ArrayPointer result = Array::create({rows, columns});
  double *to = result->mutableData();
  forEachRowRange(context, rows, columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double *row = to + i * columns;
      for (const ArrayReference &array : arrays) {
        copyCells(array->data() + i * array->columns(), array->columns(), row);
        row += array->columns();
      }
    }
  });
  results[0] = std::move(result);
}

void rbind(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  if (bindOthers(operands, true, results[0]))
    return;
  std::vector<ArrayReference> arrays = boundMatrices(operands, "rbind");
  int64_t columns = arrays[0]->columns(), rows = 0;
  for (const ArrayReference &array : arrays) {
    if (array->columns() != columns)
      throw Error(fmt::format("rbind: the matrices have different numbers of columns, {} and {}",
                              arrays[0]->shape().text(), array->shape().text()));
    rows += array->rows();
  }
  ArrayPointer result = Array::create({rows, columns});
  double *to = result->mutableData();
  for (const ArrayReference &array : arrays) {
    copyCells(array->data(), array->cells(), to);
    to += array->cells();
  }
  results[0] = std::move(result);
}

void diag(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &source = matrixOperand(operands[0], "diag");
  int64_t size = source.rows();
  if (source.columns() == 1) {
    ArrayPointer result = Array::filled({size, size}, 0);
    for (int64_t i = 0; i < size; ++i)
      result->mutableData()[i * size + i] = source.data()[i];
    results[0] = std::move(result);
    return;
  }
  if (source.columns() != size)
    throw Error(fmt::format("diag: expected a column vector or a square matrix, got {}",
                            source.shape().text()));
  ArrayPointer result = Array::create({size, 1});
  for (int64_t i = 0; i < size; ++i)
    result->mutableData()[i] = source.at(i, i);
  results[0] = std::move(result);
}

// Row i of the result is row (i + offset) mod rows, or counted from the end.
template <typename RowOf>
Value permuteRows(ExecutionContext &context, const Array &source, const RowOf &rowOf) {
  ArrayPointer result = Array::create(source.shape());
  int64_t columns = source.columns();
  double *to = result->mutableData();
  forEachRowRange(context, source.rows(), columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      copyCells(source.data() + rowOf(i) * columns, columns, to + i * columns);
  });
  return result;
}

void rev(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = matrixOperand(operands[0], "rev");
  results[0] = permuteRows(context, source, [&](int64_t i) { return source.rows() - 1 - i; });
}

void roll(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = matrixOperand(operands[0], "roll");
  int64_t rows = std::max<int64_t>(1, source.rows());
  int64_t shift = operands[1].asInteger() % rows;
  results[0] = permuteRows(context, source, [&](int64_t i) { return (i - shift + rows) % rows; });
}

template <typename IsInside>
void triangle(std::span<Value> operands, std::span<Value> results, std::string_view native,
              const IsInside &isInside) {
  const Array &source = matrixOperand(operands[0], native);
  bool withDiagonal = operands[1].asBoolean(), keepValues = operands[2].asBoolean();
  if (source.rows() != source.columns())
    throw Error(fmt::format("{}: expected a square matrix, got {}", native, source.shape().text()));
  ArrayPointer result = Array::create(source.shape());
  for (int64_t i = 0; i < source.rows(); ++i)
    for (int64_t j = 0; j < source.columns(); ++j) {
      bool inside = isInside(i, j) || (withDiagonal && i == j);
      result->mutableData()[i * source.columns() + j] = !inside      ? 0
                                                        : keepValues ? source.at(i, j)
                                                                     : 1;
    }
  results[0] = std::move(result);
}

void lowerTriangle(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  triangle(operands, results, "lower.tri", [](int64_t i, int64_t j) { return j < i; });
}

void upperTriangle(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  triangle(operands, results, "upper.tri", [](int64_t i, int64_t j) { return j > i; });
}

constexpr Native natives[] = {{"cbind", cbind},         {"diag", diag},
                              {"insert", insert},       {"lower_tri", lowerTriangle},
                              {"rbind", rbind},         {"rev", rev},
                              {"roll", roll},           {"slice", slice},
                              {"transpose", transpose}, {"upper_tri", upperTriangle}};

} // namespace

std::span<const Native> reorganizationNatives() { return natives; }

} // namespace tokamak::runtime
