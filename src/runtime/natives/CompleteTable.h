// Tables of which all keys are present: numbers from 1 on, one for each position. They are the most common ones, and
// need no checks at each position.
//
//   CompleteTable table(context, rowKeys, columnKeys, weights);
//   if (table.isComplete())
//     result = table.matrix(table.rows(), table.columns());
#ifndef TOKAMAK_RUNTIME_NATIVES_COMPLETETABLE_H
#define TOKAMAK_RUNTIME_NATIVES_COMPLETETABLE_H

#include "runtime/natives/TableEntries.h"

#include <span>
#include <utility>
#include <vector>

namespace tokamak::runtime {

class CompleteTable {
public:
  // Operands of the native table, of at least one position.
  CompleteTable(ExecutionContext &context, const Array &rowKeys, const Value &columnKeys,
                const Value &weights);

  // Whether all keys are numbers from 1 on.
  bool isComplete() const { return isComplete_; }
  // The largest keys.
  int64_t rows() const { return mostRow_; }
  int64_t columns() const { return mostColumn_; }

  // The table, without the positions that lie outside of it.
  ArrayPointer matrix(int64_t rows, int64_t columns) const;

private:
  void findBounds();
  bool isCounted(int64_t rows, int64_t columns) const;
  ArrayPointer countedMatrix(int64_t rows, int64_t columns) const;
  // By part of the positions, and an end: how many positions before it have keys within the table.
  std::vector<int64_t> withinBefore(int64_t rows, int64_t columns) const;
  ArrayPointer denseMatrix(int64_t rows, int64_t columns) const;
  ArrayPointer sortedMatrix(int64_t rows, int64_t columns, int64_t within) const;
  ArrayPointer ascendingMatrix(int64_t rows, int64_t columns,
                               std::span<const int64_t> before) const;
  // Threads look at a part of the positions each, from the first to the second of these.
  std::pair<int64_t, int64_t> positionsOf(int64_t part) const;
  template <typename Body> void forEachPart(const Body &body) const;
  // Calls body(position, row, column) for positions within the table.
  template <typename Body>
  void forEachWithin(int64_t rows, int64_t columns, const Body &body) const;

  // truncateToInteger(key) - 1 of a key that is at least 1.
  static int64_t keyAt(double key) { return static_cast<int64_t>(key + 0x1p-53) - 1; }
  int64_t rowAt(int64_t i) const { return keyAt(rowKeys_[i]); }
  int64_t columnAt(int64_t i) const { return columnKeys_ ? keyAt(columnKeys_[i]) : 0; }
  double sparseWeight(int64_t i) const { return weights_[i] + 0.0; } // -0 counts as 0
  // Whether this key is of a later row than the one before it.
  bool isBehind(int64_t i) const { return rowAt(i) > rowAt(i - 1); }
  bool holdsAll(int64_t rows, int64_t columns) const {
    return mostRow_ <= rows && mostColumn_ <= columns;
  }

  ExecutionContext &context_;
  int64_t count_;
  const double *rowKeys_, *columnKeys_ = nullptr; // null: the column is 1
  TableColumn weights_;
  int64_t parts_;
  bool countsOnce_; // weights are all 1
  bool isComplete_ = false;
  bool isAscending_ = true; // each row has at most one entry, in order, as in table(seq(1, n), ...)
  int64_t mostRow_ = 0, mostColumn_ = 0;
};

} // namespace tokamak::runtime
#endif
