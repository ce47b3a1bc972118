// Moves cells of CSR matrices: slices, replacement, binding, permuting and selecting rows and
// columns. Matrices are of doubles; results have the layout that is best for them.
//
//   ArrayReference part = sliceSparse(context, x, {0, 100, 5, 10});
#ifndef TOKAMAK_RUNTIME_SPARSE_SPARSEREORGANIZATION_H
#define TOKAMAK_RUNTIME_SPARSE_SPARSEREORGANIZATION_H

#include "runtime/natives/NativeOperands.h"

#include <vector>

namespace tokamak::runtime {

// Half-open, from 0.
struct CellRange {
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
  int64_t rows() const { return rowEnd - rowBegin; }
  int64_t columns() const { return columnEnd - columnBegin; }
};

ArrayReference sliceSparse(ExecutionContext &context, const Array &csr, CellRange range);

// A copy with the cells of the range replaced; `value` has the range's size. If the range is small,
// the result is dense, since a loop may go on to replace cell by cell, unless that would take too
// much memory, or more time than the sparse copies that led here.
ArrayReference insertSparse(ExecutionContext &context, const ArrayReference &target,
                            const ArrayReference &value, CellRange range);

// Bind matrices side by side or below each other; at least one is CSR, sizes agree.
ArrayReference bindSparseColumns(ExecutionContext &context,
                                 const std::vector<ArrayReference> &arrays);
ArrayReference bindSparseRows(ExecutionContext &context, const std::vector<ArrayReference> &arrays);

// Row i of the result is row rows[i] of the matrix.
ArrayReference takeSparseRows(ExecutionContext &context, const Array &csr,
                              const BudgetedVector<int64_t> &rows);
// Column j of the result is column columns[j] of the matrix; `columns` ascends.
ArrayReference takeSparseColumns(ExecutionContext &context, const Array &csr,
                                 const BudgetedVector<int64_t> &columns);

// The same cells in another shape, read and written by rows.
ArrayReference reshapeSparse(ExecutionContext &context, const Array &csr, int64_t rows,
                             int64_t columns);

// The square matrix with this diagonal (a column vector).
ArrayReference sparseDiagonal(const Array &diagonal);

} // namespace tokamak::runtime
#endif
