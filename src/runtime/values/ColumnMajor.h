// Column-major matrices, as LAPACK takes and returns them.
//
//   ColumnMajor a = columnsOf(array, array.rows());
//   lapack().potrf("L", &n, a.cells.data(), &n, &info);
//   results[0] = arrayOf(a, a.rows);
#ifndef TOKAMAK_RUNTIME_VALUES_COLUMNMAJOR_H
#define TOKAMAK_RUNTIME_VALUES_COLUMNMAJOR_H

#include "runtime/natives/NativeOperands.h"

namespace tokamak::runtime {

struct ColumnMajor {
  ColumnMajor(int64_t rows, int64_t columns)
      : rows(rows), columns(columns),
        cells(checkedProduct(rows, columns, "a dense matrix", "cells")) {}
  double &at(int64_t i, int64_t j) { return cells[j * rows + i]; }
  double at(int64_t i, int64_t j) const { return cells[j * rows + i]; }
  int64_t rows, columns;
  BudgetedVector<double> cells;
};

// `storedRows` may exceed the array's rows: LAPACK returns longer solutions in place of its input.
inline ColumnMajor columnsOf(const Array &array, int64_t storedRows) {
  ColumnMajor result(storedRows, array.columns());
  for (int64_t i = 0; i < array.rows(); ++i)
    for (int64_t j = 0; j < array.columns(); ++j)
      result.at(i, j) = array.data()[i * array.columns() + j];
  return result;
}

// The first `rows` rows.
inline ArrayPointer arrayOf(const ColumnMajor &matrix, int64_t rows) {
  ArrayPointer result = Array::create({rows, matrix.columns});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j)
      result->mutableData()[i * matrix.columns + j] = matrix.at(i, j);
  return result;
}

inline const Array &squareOperand(const Value &operand, std::string_view native) {
  const Array &array = matrixOperand(operand, native);
  if (array.rows() != array.columns())
    throw Error(fmt::format("{}: expected a square matrix, got {}", native, array.shape().text()));
  return array;
}

} // namespace tokamak::runtime
#endif
