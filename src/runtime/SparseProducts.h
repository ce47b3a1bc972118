// Matrix products with a CSR operand.
//
//   ArrayReference y = multiplySparse(context, {x, true}, {v, false});      // t(x) %*% v
#ifndef TOKAMAK_RUNTIME_SPARSEPRODUCTS_H
#define TOKAMAK_RUNTIME_SPARSEPRODUCTS_H

#include "runtime/NativeOperands.h"

namespace tokamak::runtime {

// A matrix or, without its copy, its transpose.
struct Factor {
  ArrayReference array;
  bool transposed = false;
  int64_t rows() const { return transposed ? array->columns() : array->rows(); }
  int64_t columns() const { return transposed ? array->rows() : array->columns(); }
};

// At least one factor is CSR, both are f64, inner dimensions agree. Entries that are zero count as
// cells without entry, whatever they are multiplied by. The result has the layout that is best for
// it, and the same bits for any number of threads.
ArrayReference multiplySparse(ExecutionContext &context, const Factor &lhs, const Factor &rhs);

// The transpose of a CSR matrix, as CSR.
ArrayPointer transposeSparse(ExecutionContext &context, const Array &csr);

} // namespace tokamak::runtime
#endif
