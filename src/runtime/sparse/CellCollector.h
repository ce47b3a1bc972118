// Builds a matrix from cells in any order. A matrix that stays sparse never takes dense memory.
//
//   CellCollector collector(rows, columns);
//   collector.add(std::move(cells));
//   ArrayReference matrix = collector.finish(context);
#ifndef TOKAMAK_RUNTIME_SPARSE_CELLCOLLECTOR_H
#define TOKAMAK_RUNTIME_SPARSE_CELLCOLLECTOR_H

#include "runtime/memory/MemoryCharge.h"
#include "runtime/natives/Native.h"

#include <vector>

namespace tokamak::runtime {

struct Cell {
  int64_t row, column; // from 0
  double value;
};

class CellCollector {
public:
  // Throws Error if a size is negative or too large.
  CellCollector(int64_t rows, int64_t columns);
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  // The cells must lie within the matrix. Of several at the same place the last one counts.
  void add(BudgetedVector<Cell> cells);
  // The matrix in the best layout; cells that were not added are 0.
  ArrayReference finish(ExecutionContext &context);

private:
  void scatter(const BudgetedVector<Cell> &cells);
  ArrayPointer compressed(ExecutionContext &context);

  int64_t rows_, columns_, count_ = 0;
  BudgetedVector<BudgetedVector<Cell>> cells_; // collected until a dense matrix is better
  ArrayPointer dense_;
};

} // namespace tokamak::runtime
#endif
