#include "reference/MatrixMeaning.h"

#include "reference/ListMeaning.h"
#include "reference/MatrixAccess.h"
#include "reference/ScalarMeaning.h"
#include "reference/TensorMeaning.h"
#include "runtime/values/Frame.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tokamak::reference {
namespace {

template <typename IsInside>
Value triangle(std::string_view operation, const Value &operand, const Value &values,
               IsInside isInside) {
  const Array &x = matrixOf(operand, operation);
  if (x.rows() != x.columns())
    throw Error(fmt::format("{}: expected a square matrix, got {}", operation, x.shape().text()));
  ArrayPointer result = Array::create(x.shape());
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.columns(); ++j)
      cellOf(*result, i, j) = !isInside(i, j) ? 0 : values.asBoolean() ? x.at(i, j) : 1;
  return result;
}

Value joinTexts(std::span<const Value> inputs) {
  std::string text = inputs[0].text();
  for (const Value &input : inputs.subspan(1))
    text += "\n" + input.text();
  return text;
}

Value bindColumns(std::span<const Value> inputs) {
  std::vector<Value> matrices;
  int64_t columns = 0;
  for (const Value &input : inputs) {
    matrices.push_back(castToMatrix(input));
    const Array &x = matrixOf(matrices.back(), "cbind"), &first = *matrices.front().array();
    if (x.rows() != first.rows())
      throw Error(fmt::format("cbind: the matrices have different numbers of rows, {} and {}",
                              first.shape().text(), x.shape().text()));
    columns = checkedSum(columns, x.columns(), "cbind", "columns");
  }
  int64_t rows = matrices.front().array()->rows();
  ArrayPointer result = Array::create({rows, columns});
  int64_t offset = 0;
  for (const Value &matrix : matrices) {
    const Array &x = *matrix.array();
    for (int64_t i = 0; i < x.rows(); ++i)
      for (int64_t j = 0; j < x.columns(); ++j)
        cellOf(*result, i, offset + j) = x.at(i, j);
    offset += x.columns();
  }
  return result;
}

Value bindRows(std::span<const Value> inputs) {
  std::vector<Value> matrices;
  int64_t rows = 0;
  for (const Value &input : inputs) {
    matrices.push_back(castToMatrix(input));
    const Array &x = matrixOf(matrices.back(), "rbind"), &first = *matrices.front().array();
    if (x.columns() != first.columns())
      throw Error(fmt::format("rbind: the matrices have different numbers of columns, {} and {}",
                              first.shape().text(), x.shape().text()));
    rows = checkedSum(rows, x.rows(), "rbind", "rows");
  }
  int64_t columns = matrices.front().array()->columns();
  ArrayPointer result = Array::create({rows, columns});
  int64_t offset = 0;
  for (const Value &matrix : matrices) {
    const Array &x = *matrix.array();
    for (int64_t i = 0; i < x.rows(); ++i)
      for (int64_t j = 0; j < x.columns(); ++j)
        cellOf(*result, offset + i, j) = x.at(i, j);
    offset += x.rows();
  }
  return result;
}

// The types of the inputs select what binding does; `bindMatrices` is bindColumns or bindRows.
Value bindInputs(std::string_view operation, std::span<const Value> inputs,
                 Value (*bindMatrices)(std::span<const Value>)) {
  if (inputs.size() == 1 && inputs[0].isList())
    inputs = inputs[0].list()->elements;
  else if (!inputs.empty() && inputs[0].isList())
    return appendToList(inputs);
  if (inputs.empty())
    throw Error(fmt::format("{}: nothing to bind", operation));
  if (std::all_of(inputs.begin(), inputs.end(),
                  [](const Value &input) { return input.isString(); }))
    return joinTexts(inputs);
  if (inputs[0].isFrame())
    return operation == "cbind" ? runtime::bindFrameColumns(inputs)
                                : runtime::bindFrameRows(inputs);
  return bindMatrices(inputs);
}

} // namespace

Value matmul(const Value &lhs, const Value &rhs) {
  if (lhs.isArray() && lhs.array()->shape().rank() > 2)
    return multiplyMatrices(arrayOf(lhs, "%*%"), arrayOf(rhs, "%*%"));
  const Array &x = matrixOf(lhs, "%*%"), &y = matrixOf(rhs, "%*%");
  if (x.columns() != y.rows())
    throw Error(fmt::format("%*%: the inner dimensions differ: {} %*% {}", x.shape().text(),
                            y.shape().text()));
  std::span<const double> left = cellsOf(x), right = cellsOf(y);
  ArrayPointer result = Array::create({x.rows(), y.columns()});
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < y.columns(); ++j) {
      double sum = 0;
      for (int64_t k = 0; k < x.columns(); ++k)
        sum += left[i * x.columns() + k] * right[k * y.columns() + j];
      cellOf(*result, i, j) = sum;
    }
  }
  return result;
}

Value transpose(const Value &operand) {
  if (operand.isArray() && operand.array()->shape().rank() > 2)
    return transposeMatrices(arrayOf(operand, "t"));
  const Array &x = matrixOf(operand, "t");
  ArrayPointer result = Array::create({x.columns(), x.rows()});
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.columns(); ++j)
      cellOf(*result, j, i) = x.at(i, j);
  return result;
}

Value diag(const Value &operand) {
  const Array &x = matrixOf(operand, "diag");
  if (x.columns() == 1) {
    ArrayPointer result = Array::filled({x.rows(), x.rows()}, 0);
    for (int64_t i = 0; i < x.rows(); ++i)
      cellOf(*result, i, i) = x.at(i, 0);
    return result;
  }
  if (x.rows() != x.columns())
    throw Error(
        fmt::format("diag: expected a column vector or a square matrix, got {}", x.shape().text()));
  ArrayPointer result = Array::create({x.rows(), 1});
  for (int64_t i = 0; i < x.rows(); ++i)
    cellOf(*result, i, 0) = x.at(i, i);
  return result;
}

Value trace(const Value &operand) {
  const Array &x = matrixOf(operand, "trace");
  if (x.rows() != x.columns())
    throw Error(fmt::format("trace: expected a square matrix, got {}", x.shape().text()));
  double sum = 0;
  for (int64_t i = 0; i < x.rows(); ++i)
    sum += x.at(i, i);
  return sum;
}

Value reverse(const Value &operand) {
  const Array &x = matrixOf(operand, "rev");
  ArrayPointer result = Array::create(x.shape());
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.columns(); ++j)
      cellOf(*result, i, j) = x.at(x.rows() - 1 - i, j);
  return result;
}

Value roll(const Value &operand, const Value &shift) {
  const Array &x = matrixOf(operand, "roll");
  ArrayPointer result = Array::create(x.shape());
  if (x.rows() == 0)
    return result;
  int64_t down = (shift.asInteger() % x.rows() + x.rows()) % x.rows();
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.columns(); ++j)
      cellOf(*result, (i + down) % x.rows(), j) = x.at(i, j);
  return result;
}

Value lowerTriangle(const Value &operand, const Value &diagonal, const Value &values) {
  bool withDiagonal = diagonal.asBoolean();
  return triangle("lower.tri", operand, values, [&](int64_t row, int64_t column) {
    return column < row || (withDiagonal && column == row);
  });
}

Value upperTriangle(const Value &operand, const Value &diagonal, const Value &values) {
  bool withDiagonal = diagonal.asBoolean();
  return triangle("upper.tri", operand, values, [&](int64_t row, int64_t column) {
    return column > row || (withDiagonal && column == row);
  });
}

Value reshape(const Value &operand, const Value &rowsOfResult, const Value &columnsOfResult,
              const Value &byRow) {
  const Array &x = matrixOf(operand, "matrix");
  int64_t rows = sizeOf(rowsOfResult, "matrix", "rows"),
          columns = sizeOf(columnsOfResult, "matrix", "columns");
  int64_t cells = checkedProduct(rows, columns, "matrix", "cells");
  if (cells != x.cells())
    throw Error(fmt::format("matrix: cannot reshape {} to {}x{}: {} cells are not {}",
                            x.shape().text(), rows, columns, x.cells(), cells));
  ArrayPointer result = Array::create({rows, columns});
  for (int64_t k = 0; k < x.cells(); ++k) {
    if (byRow.asBoolean())
      cellOf(*result, k / columns, k % columns) = x.at(k / x.columns(), k % x.columns());
    else
      cellOf(*result, k % rows, k / rows) = x.at(k % x.rows(), k / x.rows());
  }
  return result;
}

Value cbind(std::span<const Value> inputs) { return bindInputs("cbind", inputs, bindColumns); }
Value rbind(std::span<const Value> inputs) { return bindInputs("rbind", inputs, bindRows); }

} // namespace tokamak::reference
