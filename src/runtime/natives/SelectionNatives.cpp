// Natives whose result depends on the values of cells: sorting, removing and
// replacing; and outer products.
#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/sparse/SparseReorganization.h"
#include "runtime/values/CellOrder.h"

#include <cmath>
#include <numeric>

namespace tokamak::runtime {
void runReplace(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  matrixOperand(operands[0], "replace");
  double pattern = operands[1].asDouble(), replacement = operands[2].asDouble();
  // Cells without an entry match, too.
  if (pattern == 0)
    operands[0] = Array::asDense(operands[0].array());
  ArrayPointer result = takeOrCopy(operands[0]);
  double *data = result->mutableData();
  int64_t count = result->cells();
  if (result->isSparse()) {
    data += result->rowOffsets()[0];
    count = result->entries();
  }
  forEachRange(context, count, parallelGrain, [&](int64_t begin, int64_t end) {
    if (std::isnan(pattern)) {
      for (int64_t i = begin; i < end; ++i)
        data[i] = std::isnan(data[i]) ? replacement : data[i];
    } else {
      for (int64_t i = begin; i < end; ++i)
        data[i] = data[i] == pattern ? replacement : data[i];
    }
  });
  results[0] = std::move(result);
}

namespace {

BudgetedVector<int64_t> sortColumns(const Value &operand, const Array &target) {
  BudgetedVector<int64_t> columns;
  if (operand.isArray())
    for (int64_t i = 0; i < operand.array()->cells(); ++i)
      columns.push_back(truncateToInteger(operand.array()->data()[i]));
  else
    columns.push_back(operand.asInteger());
  for (int64_t &column : columns) {
    if (column < 1 || column > target.columns())
      throw Error(fmt::format("order: there is no column {} in a {} matrix", column,
                              target.shape().text()));
    --column;
  }
  return columns;
}

BudgetedVector<int64_t> sortedRows(const Array &target, const BudgetedVector<int64_t> &columns,
                                   bool decreasing) {
  struct Key {
    double cell;
    int64_t row;
  };
  BudgetedVector<Key> keys(target.rows());
  for (int64_t i = 0; i < target.rows(); ++i)
    keys[i] = {target.at(i, columns[0]), i};
  int sign = decreasing ? -1 : 1;
  std::sort(keys.begin(), keys.end(), [&](const Key &a, const Key &b) {
    int order = sign * compareCells(a.cell, b.cell);
    for (size_t k = 1; order == 0 && k < columns.size(); ++k)
      order = sign * compareCells(target.at(a.row, columns[k]), target.at(b.row, columns[k]));
    return order != 0 ? order < 0 : a.row < b.row;
  });
  BudgetedVector<int64_t> rows(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    rows[i] = keys[i].row;
  return rows;
}

} // namespace

void runOrder(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &target = matrixOperand(operands[0], "order");
  bool asIndex = operands[3].asBoolean();
  BudgetedVector<int64_t> rows =
      sortedRows(target, sortColumns(operands[1], target), operands[2].asBoolean());
  int64_t columns = asIndex ? 1 : target.columns();
  ArrayPointer result = Array::create({target.rows(), columns});
  double *to = result->mutableData();
  forEachRowRange(context, target.rows(), columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (asIndex)
        to[i] = static_cast<double>(rows[i] + 1);
      else
        std::copy_n(target.data() + rows[i] * columns, columns, to + i * columns);
  });
  results[0] = std::move(result);
}

namespace {

// The rows or columns that `select` marks or, without it, those with a non-zero cell.
BudgetedVector<int64_t> keptIndices(const Array &target, bool byRows, const Value &select) {
  int64_t size = byRows ? target.rows() : target.columns();
  BudgetedVector<char> keep(size, 0);
  if (!select.isNothing()) {
    matrixOperand(select, "removeEmpty");
    const Array &selection = *Array::asDense(select.array());
    if (selection.cells() != size)
      throw Error(fmt::format("removeEmpty: select has {} cells, the matrix {} {}",
                              selection.cells(), size, byRows ? "rows" : "columns"));
    for (int64_t i = 0; i < size; ++i)
      keep[i] = selection.data()[i] != 0;
  } else if (target.isSparse()) {
    for (int64_t i = 0; i < target.rows(); ++i) {
      SparseRow row = rowOf(target, i);
      for (int64_t p = 0; p < row.count; ++p)
        keep[byRows ? i : row.columns[p]] |= row.values[p] != 0;
    }
  } else {
    for (int64_t i = 0; i < target.rows(); ++i)
      for (int64_t j = 0; j < target.columns(); ++j)
        keep[byRows ? i : j] |= target.at(i, j) != 0;
  }
  BudgetedVector<int64_t> kept;
  for (int64_t i = 0; i < size; ++i)
    if (keep[i])
      kept.push_back(i);
  return kept;
}

} // namespace

void runRemoveEmpty(ExecutionContext &context, std::span<Value> operands,
                    std::span<Value> results) {
  const Array &target = matrixOperand(operands[0], "removeEmpty");
  const std::string &margin = textOperand(operands[1], "removeEmpty", "margin");
  if (margin != "rows" && margin != "cols")
    throw Error(fmt::format("removeEmpty: unknown margin \"{}\": expected rows or cols", margin));
  bool byRows = margin == "rows";
  BudgetedVector<int64_t> kept = keptIndices(target, byRows, operands[2]);
  auto count = static_cast<int64_t>(kept.size());
  if (kept.empty()) {
    int64_t remaining = operands[3].asBoolean() ? 1 : 0;
    results[0] = byRows ? Array::filled({remaining, target.columns()}, 0)
                        : Array::filled({target.rows(), remaining}, 0);
    return;
  }
  if (target.isSparse()) {
    results[0] =
        byRows ? takeSparseRows(context, target, kept) : takeSparseColumns(context, target, kept);
    return;
  }
  ArrayPointer result =
      Array::create({byRows ? count : target.rows(), byRows ? target.columns() : count});
  double *to = result->mutableData();
  for (int64_t i = 0; i < result->rows(); ++i)
    for (int64_t j = 0; j < result->columns(); ++j)
      *to++ = byRows ? target.at(kept[i], j) : target.at(i, kept[j]);
  results[0] = std::move(result);
}

namespace {

// The most frequent operators of outer products have their own instance, which the C++ compiler
// vectorises.
template <typename Cell>
void outerCells(ExecutionContext &context, const Array &u, const Array &v, Array &result,
                const Cell &cell) {
  int64_t columns = result.columns();
  forEachRowRange(context, result.rows(), columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double a = u.data()[i], *row = result.mutableData() + i * columns;
      const double *b = v.data();
      for (int64_t j = 0; j < columns; ++j)
        row[j] = cell(a, b[j]);
    }
  });
}

} // namespace

void runOuter(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &u = matrixOperand(operands[0], "outer"), &v = matrixOperand(operands[1], "outer");
  const std::string &name = textOperand(operands[2], "outer", "the operator");
  std::optional<BinaryOperator> op = findBinaryBySpelling(name);
  if (!op)
    throw Error(fmt::format("outer: unknown operator \"{}\"", name));
  if (u.columns() != 1 || v.rows() != 1)
    throw Error(fmt::format("outer: expected a column and a row vector, got {} and {}",
                            u.shape().text(), v.shape().text()));
  ArrayPointer result = Array::create({u.rows(), v.columns()});
  auto apply = [&](const auto &cell) { outerCells(context, u, v, *result, cell); };
  switch (*op) {
  case BinaryOperator::Add:
    apply([](double a, double b) { return a + b; });
    break;
  case BinaryOperator::Sub:
    apply([](double a, double b) { return a - b; });
    break;
  case BinaryOperator::Mul:
    apply([](double a, double b) { return a * b; });
    break;
  case BinaryOperator::Div:
    apply([](double a, double b) { return a / b; });
    break;
  case BinaryOperator::Eq:
    apply([](double a, double b) { return a == b ? 1.0 : 0.0; });
    break;
  case BinaryOperator::Lt:
    apply([](double a, double b) { return a < b ? 1.0 : 0.0; });
    break;
  case BinaryOperator::Gt:
    apply([](double a, double b) { return a > b ? 1.0 : 0.0; });
    break;
  default:
    apply([op = *op](double a, double b) { return evaluate(op, a, b); });
    break;
  }
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
