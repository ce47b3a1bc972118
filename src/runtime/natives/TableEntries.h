// The operands of the native table: what it counts at which position.
//
//   TableEntries entries(rowKeys, /*columnKeys=*/Value(1.0), /*weights=*/Value());
//   entries.forEach([&](int64_t row, int64_t column, double weight) {
//     cells[row * columns + column] += weight;
//   });
#ifndef TOKAMAK_RUNTIME_NATIVES_TABLEENTRIES_H
#define TOKAMAK_RUNTIME_NATIVES_TABLEENTRIES_H

#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <cmath>

namespace tokamak::runtime {

// A parameter of table(): a vector, a scalar for every position, or absent (1 for every position).
class TableColumn {
public:
  TableColumn(const Value &operand, int64_t length) {
    if (operand.isNothing())
      return;
    if (!operand.isArray()) {
      scalar_ = operand.asDouble();
      return;
    }
    const Array &array = matrixOperand(operand, "table");
    if (array.cells() != length)
      throw Error(fmt::format("table: the vectors have different lengths, {} and {}", length,
                              array.cells()));
    data_ = array.data();
  }
  double operator[](int64_t i) const { return data_ ? data_[i] : scalar_; }

private:
  const double *data_ = nullptr;
  double scalar_ = 1;
};

inline int64_t tableKey(double cell) {
  int64_t key = truncateToInteger(cell);
  if (key < 1)
    throw Error(fmt::format("table: keys must be at least 1, got {}", textOf(cell + 0.0)));
  return key;
}

// The entries that table() counts: positions whose keys are not NaN. Keys are
// converted to count from 0.
class TableEntries {
public:
  TableEntries(const Array &rowKeys, const Value &columnKeys, const Value &weights)
      : rowKeys_(rowKeys), columnKeys_(columnKeys, rowKeys.cells()),
        weights_(weights, rowKeys.cells()) {}

  // Calls body(row, column, weight). Throws Error at a key that is not positive.
  template <typename Body> void forEach(const Body &body) const {
    for (int64_t i = 0; i < rowKeys_.cells(); ++i) {
      double row = rowKeys_.data()[i], column = columnKeys_[i];
      if (!std::isnan(row) && !std::isnan(column))
        body(tableKey(row) - 1, tableKey(column) - 1, weights_[i]);
    }
  }

private:
  const Array &rowKeys_;
  TableColumn columnKeys_, weights_;
};

} // namespace tokamak::runtime
#endif
