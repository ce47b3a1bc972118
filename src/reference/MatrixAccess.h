// Helpers with which the reference operations read their operands and write their results.
//
//   const Array &x = matrixOf(operand, "rev");         // Error unless it is a matrix
//   ArrayPointer y = Array::create({x.rows(), x.columns()});
//   cellOf(*y, 0, 0) = x.at(0, 0);
#ifndef TOKAMAK_REFERENCE_MATRIXACCESS_H
#define TOKAMAK_REFERENCE_MATRIXACCESS_H

#include "base/Error.h"
#include "base/Sizes.h"
#include "runtime/values/Array.h"
#include "runtime/values/Value.h"

#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string_view>

namespace tokamak::reference {

using runtime::Array;
using runtime::ArrayPointer;
using runtime::Value;

// An array of doubles, of any rank. `operation` names the operation in the message.
inline const Array &arrayOf(const Value &value, std::string_view operation) {
  if (!value.isArray())
    throw Error(fmt::format("{}: expected a matrix, got {}", operation, value.describe()));
  if (value.array()->elementType() != ElementType::F64)
    throw Error(fmt::format("{}: expected a matrix of doubles", operation));
  return *value.array();
}

// An array of doubles of rank 2.
inline const Array &matrixOf(const Value &value, std::string_view operation) {
  const Array &array = arrayOf(value, operation);
  if (array.shape().rank() != 2)
    throw Error(fmt::format("{}: expected a matrix of doubles", operation));
  return array;
}

// A writable cell; rows and columns count from 0.
inline double &cellOf(Array &matrix, int64_t row, int64_t column) {
  return matrix.mutableData()[row * matrix.columns() + column];
}

// All cells, row by row.
inline std::span<const double> cellsOf(const Array &array) {
  return {array.data(), static_cast<size_t>(array.cells())};
}

// Checks a number of rows or columns that the program computed; `what` is "rows" or "columns".
inline int64_t sizeOf(const Value &value, std::string_view operation, std::string_view what) {
  return checkedSize(value.asInteger(), operation, what);
}

} // namespace tokamak::reference
#endif
