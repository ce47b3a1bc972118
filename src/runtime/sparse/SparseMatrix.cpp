#include "runtime/sparse/SparseMatrix.h"

namespace tokamak::runtime {

bool hasSparse(std::span<const Value> operands) {
  return std::any_of(operands.begin(), operands.end(), [](const Value &operand) {
    return operand.isArray() && operand.array()->isSparse();
  });
}

BudgetedVector<int64_t> entryRanges(const Array &csr, int64_t workOfEntry) {
  const int64_t *offsets = csr.rowOffsets();
  return workRanges(csr.rows(), parallelGrain,
                    [&](int64_t row) { return (offsets[row] - offsets[0]) * workOfEntry + row; });
}

ArrayPointer joinPieces(ExecutionContext &context, int64_t rows, int64_t columns,
                        const std::vector<CsrPiece> &pieces) {
  BudgetedVector<int64_t> firstEntry(pieces.size() + 1, 0), firstRow(pieces.size() + 1, 0);
  for (size_t i = 0; i < pieces.size(); ++i) {
    firstEntry[i + 1] = firstEntry[i] + static_cast<int64_t>(pieces[i].columns.size());
    firstRow[i + 1] = firstRow[i] + static_cast<int64_t>(pieces[i].counts.size());
  }
  if (firstRow.back() != rows)
    internalError("the pieces of a sparse matrix do not have all rows");
  ArrayPointer result = Array::createSparse(rows, columns, firstEntry.back());
  int64_t *offsets = result->mutableRowOffsets();
  int32_t *indices = result->mutableColumnIndices();
  double *values = result->mutableData();
  forEachRange(context, static_cast<int64_t>(pieces.size()), 1, [&](int64_t i, int64_t) {
    const CsrPiece &piece = pieces[i];
    int64_t next = firstEntry[i];
    for (size_t row = 0; row < piece.counts.size(); ++row) {
      offsets[firstRow[i] + static_cast<int64_t>(row)] = next;
      next += piece.counts[row];
    }
    std::copy(piece.columns.begin(), piece.columns.end(), indices + firstEntry[i]);
    std::copy(piece.values.begin(), piece.values.end(), values + firstEntry[i]);
  });
  offsets[rows] = firstEntry.back();
  return result;
}

} // namespace tokamak::runtime
