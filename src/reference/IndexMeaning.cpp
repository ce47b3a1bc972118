#include "reference/IndexMeaning.h"

#include "reference/MatrixAccess.h"

#include <memory>

namespace tokamak::reference {
namespace {

using runtime::List;

// `what` is "row", "column" or "element", `of` is "matrix" or "list".
void checkRange(std::string_view what, std::string_view of, int64_t begin, int64_t end, int64_t size) {
  if (begin == 1 && end == 0 && size == 0)
    return;
  if (begin < 1)
    throw Error(fmt::format("{} index {} is less than 1", what, begin));
  if (end > size)
    throw Error(fmt::format("{} index {} is out of range: the {} has {} {}s", what, end, of, size, what));
  if (begin > end)
    throw Error(fmt::format("{} range {}:{} ends before it begins", what, begin, end));
}

void checkRange(const Array &x, IndexRange range) {
  checkRange("row", "matrix", range.rowBegin, range.rowEnd, x.rows());
  checkRange("column", "matrix", range.columnBegin, range.columnEnd, x.columns());
}

void checkRange(const List &list, IndexRange range) {
  checkRange("element", "list", range.rowBegin, range.rowEnd, static_cast<int64_t>(list.elements.size()));
}

Value sliceOfList(const List &list, IndexRange range) {
  checkRange(list, range);
  auto result = std::make_shared<List>();
  for (int64_t i = range.rowBegin - 1; i < range.rowEnd; ++i) {
    result->elements.push_back(list.elements[i]);
    if (!list.names.empty())
      result->names.push_back(list.names[i]);
  }
  return std::shared_ptr<const List>(result);
}

Value insertIntoList(const List &list, const Value &value, IndexRange range) {
  checkRange(list, range);
  int64_t count = range.rowEnd - range.rowBegin + 1;
  auto result = std::make_shared<List>(list);
  if (count == 1) {
    result->elements[range.rowBegin - 1] = value;
    return std::shared_ptr<const List>(result);
  }
  if (!value.isList() || static_cast<int64_t>(value.list()->elements.size()) != count)
    throw Error(fmt::format("{} elements of a list can only be replaced by a list of as many, got {}", count,
                            value.describe()));
  for (int64_t i = 0; i < count; ++i)
    result->elements[range.rowBegin - 1 + i] = value.list()->elements[i];
  return std::shared_ptr<const List>(result);
}

} // namespace

Value rows(const Value &operand) {
  if (operand.isList())
    return static_cast<int64_t>(operand.list()->elements.size());
  return matrixOf(operand, "nrow").rows();
}

Value columns(const Value &operand) {
  if (operand.isList())
    return int64_t{1};
  return matrixOf(operand, "ncol").columns();
}

Value length(const Value &operand) {
  if (operand.isList())
    return static_cast<int64_t>(operand.list()->elements.size());
  return operand.isScalar() ? int64_t{1} : arrayOf(operand, "length").cells();
}

Value slice(const Value &operand, IndexRange range) {
  if (operand.isList())
    return sliceOfList(*operand.list(), range);
  const Array &x = matrixOf(operand, "[ ]");
  checkRange(x, range);
  ArrayPointer result =
      Array::create({range.rowEnd - range.rowBegin + 1, range.columnEnd - range.columnBegin + 1});
  for (int64_t i = 0; i < result->rows(); ++i)
    for (int64_t j = 0; j < result->columns(); ++j)
      cellOf(*result, i, j) = x.at(range.rowBegin - 1 + i, range.columnBegin - 1 + j);
  return result;
}

Value insert(const Value &into, const Value &value, IndexRange range) {
  if (into.isList())
    return insertIntoList(*into.list(), value, range);
  const Array &x = matrixOf(into, "[ ]");
  checkRange(x, range);
  int64_t rowCount = range.rowEnd - range.rowBegin + 1, columnCount = range.columnEnd - range.columnBegin + 1;
  if (value.isNumber() && (rowCount != 1 || columnCount != 1))
    throw Error(fmt::format("a scalar can be assigned to one cell only, this range is {}x{}; use "
                            "matrix(value, rows, cols)",
                            rowCount, columnCount));
  Value source = value.isNumber() ? Value(Array::filled({1, 1}, value.asDouble())) : value;
  const Array &cells = matrixOf(source, "assignment to a range");
  if (cells.rows() != rowCount || cells.columns() != columnCount)
    throw Error(fmt::format("a {} matrix is assigned to a range of {}x{}", cells.shape().text(), rowCount,
                            columnCount));
  ArrayPointer result = x.copy();
  for (int64_t i = 0; i < rowCount; ++i)
    for (int64_t j = 0; j < columnCount; ++j)
      cellOf(*result, range.rowBegin - 1 + i, range.columnBegin - 1 + j) = cells.at(i, j);
  return result;
}

} // namespace tokamak::reference
