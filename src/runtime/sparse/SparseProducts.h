// Matrix products with a CSR operand.
//
//   ArrayReference y = multiplySparse(context, {x, true}, {v, false});      // t(x) %*% v
#ifndef TOKAMAK_RUNTIME_SPARSE_SPARSEPRODUCTS_H
#define TOKAMAK_RUNTIME_SPARSE_SPARSEPRODUCTS_H

#include "runtime/natives/NativeOperands.h"

namespace tokamak::runtime {

// A matrix or its transpose, which is not materialised.
struct Factor {
  ArrayReference array;
  bool transposed = false;
  int64_t rows() const { return transposed ? array->columns() : array->rows(); }
  int64_t columns() const { return transposed ? array->rows() : array->columns(); }
};

// At least one factor is CSR, both are f64, inner dimensions agree. Cells without entry give zero
// whatever they are multiplied by; an entry that is zero is multiplied like any other (0 * Inf is
// NaN). The result is in its best layout, with the same bits for any number of threads.
ArrayReference multiplySparse(ExecutionContext &context, const Factor &lhs, const Factor &rhs);

// The transpose of a CSR matrix, as CSR.
ArrayPointer transposeSparse(ExecutionContext &context, const Array &csr);

} // namespace tokamak::runtime
#endif
