#include "reference/IndexMeaning.h"

#include "reference/MatrixAccess.h"
#include "runtime/values/Frame.h"
#include "runtime/values/IndexRange.h"

namespace tokamak::reference {
namespace {

// `what` is "row" or "column"; `size` is the number of rows or columns of the matrix.
void checkRange(std::string_view what, int64_t begin, int64_t end, int64_t size, const Array &x) {
  bool isAllOfNothing = begin == 1 && end == 0 && size == 0;
  bool isInside = 1 <= begin && begin <= end && end <= size;
  if (!isAllOfNothing && !isInside)
    throw runtime::badIndexRange(what, begin, end, size, x.shape().text() + " matrix");
}

void checkRange(const Array &x, IndexRange range) {
  checkRange("row", range.rowBegin, range.rowEnd, x.rows(), x);
  checkRange("column", range.columnBegin, range.columnEnd, x.columns(), x);
}

} // namespace

Value rows(const Value &operand) {
  if (operand.isList())
    return static_cast<int64_t>(operand.list()->elements.size());
  if (operand.isFrame())
    return operand.frame()->rows();
  return matrixOf(operand, "nrow").rows();
}

Value columns(const Value &operand) {
  if (operand.isList())
    return int64_t{1};
  if (operand.isFrame())
    return operand.frame()->columns();
  return matrixOf(operand, "ncol").columns();
}

Value length(const Value &operand) {
  if (operand.isList())
    return static_cast<int64_t>(operand.list()->elements.size());
  if (operand.isFrame())
    return operand.frame()->rows() * operand.frame()->columns();
  return operand.isScalar() ? int64_t{1} : arrayOf(operand, "length").cells();
}

Value slice(const Value &operand, IndexRange range) {
  if (operand.isFrame())
    return runtime::sliceFrame(*operand.frame(),
                               {range.rowBegin, range.rowEnd, range.columnBegin, range.columnEnd});
  const Array &x = matrixOf(operand, "indexing");
  checkRange(x, range);
  ArrayPointer result =
      Array::create({range.rowEnd - range.rowBegin + 1, range.columnEnd - range.columnBegin + 1});
  for (int64_t i = 0; i < result->rows(); ++i)
    for (int64_t j = 0; j < result->columns(); ++j)
      cellOf(*result, i, j) = x.at(range.rowBegin - 1 + i, range.columnBegin - 1 + j);
  return result;
}

Value insert(const Value &into, const Value &value, IndexRange range) {
  if (into.isFrame())
    return runtime::insertIntoFrame(
        into.frame(), value, {range.rowBegin, range.rowEnd, range.columnBegin, range.columnEnd});
  const Array &x = matrixOf(into, "left indexing");
  checkRange(x, range);
  int64_t rowCount = range.rowEnd - range.rowBegin + 1,
          columnCount = range.columnEnd - range.columnBegin + 1;
  if (value.isScalar() && (rowCount != 1 || columnCount != 1))
    throw Error(fmt::format(
        "left indexing: a scalar can replace one cell, not {}x{}; use matrix(value, rows, cols)",
        rowCount, columnCount));
  Value source = value.isScalar() ? Value(Array::filled({1, 1}, value.asDouble())) : value;
  const Array &cells = matrixOf(source, "left indexing");
  if (cells.rows() != rowCount || cells.columns() != columnCount)
    throw Error(fmt::format("left indexing: a {} matrix cannot replace {}x{} cells",
                            cells.shape().text(), rowCount, columnCount));
  ArrayPointer result = x.copy();
  for (int64_t i = 0; i < rowCount; ++i)
    for (int64_t j = 0; j < columnCount; ++j)
      cellOf(*result, range.rowBegin - 1 + i, range.columnBegin - 1 + j) = cells.at(i, j);
  return result;
}

} // namespace tokamak::reference
