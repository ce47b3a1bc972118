#include "runtime/sparse/SparseMatrix.h"

#include <numeric>

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

ArrayPointer createFromCounts(int64_t columns, BudgetedVector<int64_t> &offsets) {
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  ArrayPointer result = Array::createSparse(std::ssize(offsets) - 1, columns, offsets.back());
  std::copy(offsets.begin(), offsets.end(), result->mutableRowOffsets());
  return result;
}

} // namespace tokamak::runtime
