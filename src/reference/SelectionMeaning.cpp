#include "reference/SelectionMeaning.h"

#include "base/CellOperators.h"
#include "reference/MatrixAccess.h"
#include "reference/MatrixMeaning.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tokamak::reference {
namespace {

Value removeEmptyRows(const Array &x, const Value &select, bool emptyReturn) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < x.rows(); ++i) {
    bool keep = false;
    if (select.isNothing())
      for (int64_t j = 0; j < x.columns(); ++j)
        keep |= x.at(i, j) != 0;
    else
      keep = cellsOf(*select.array())[i] != 0;
    if (keep)
      kept.push_back(i);
  }
  if (kept.empty())
    return Array::filled({emptyReturn ? 1 : 0, x.columns()}, 0);
  ArrayPointer result = Array::create({static_cast<int64_t>(kept.size()), x.columns()});
  for (int64_t i = 0; i < result->rows(); ++i)
    for (int64_t j = 0; j < x.columns(); ++j)
      cellOf(*result, i, j) = x.at(kept[i], j);
  return result;
}

// NaN sorts after all other values.
bool comesBefore(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// The columns to sort by, counted from 0.
std::vector<int64_t> sortColumns(const Array &x, const Value &by) {
  std::vector<int64_t> columns;
  if (by.isArray())
    for (double column : cellsOf(matrixOf(by, "order")))
      columns.push_back(truncateToInteger(column) - 1);
  else
    columns.push_back(by.asInteger() - 1);
  if (columns.empty())
    throw Error("order: 'by' names no column");
  for (int64_t column : columns)
    if (column < 0 || column >= x.columns())
      throw Error(
          fmt::format("order: there is no column {} in a {} matrix", column + 1, x.shape().text()));
  return columns;
}

} // namespace

Value removeEmpty(const Value &operand, const Value &marginValue, const Value &select,
                  const Value &emptyReturn) {
  const Array &x = matrixOf(operand, "removeEmpty");
  const std::string margin = marginValue.asText();
  bool byRows = margin == "rows";
  if (!byRows && margin != "cols")
    throw Error(fmt::format("removeEmpty: unknown margin \"{}\": expected rows or cols", margin));
  int64_t size = byRows ? x.rows() : x.columns();
  if (!select.isNothing() && matrixOf(select, "removeEmpty").cells() != size)
    throw Error(fmt::format("removeEmpty: select has {} cells, the matrix {} {}",
                            select.array()->cells(), size, byRows ? "rows" : "columns"));
  if (byRows)
    return removeEmptyRows(x, select, emptyReturn.asBoolean());
  Value transposed = transpose(operand);
  return transpose(removeEmptyRows(*transposed.array(), select, emptyReturn.asBoolean()));
}

Value order(const Value &operand, const Value &by, const Value &decreasingValue,
            const Value &indexReturn) {
  const Array &x = matrixOf(operand, "order");
  std::vector<int64_t> columns = sortColumns(x, by);
  bool decreasing = decreasingValue.asBoolean();
  std::vector<int64_t> rows(x.rows());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) {
    for (int64_t column : columns) {
      double left = x.at(decreasing ? b : a, column), right = x.at(decreasing ? a : b, column);
      if (comesBefore(left, right))
        return true;
      if (comesBefore(right, left))
        return false;
    }
    // Rows with equal keys keep their order (a stable sort).
    return a < b;
  });

  bool index = indexReturn.asBoolean();
  ArrayPointer result = Array::create({x.rows(), index ? 1 : x.columns()});
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < result->columns(); ++j)
      cellOf(*result, i, j) = index ? static_cast<double>(rows[i] + 1) : x.at(rows[i], j);
  return result;
}

} // namespace tokamak::reference
