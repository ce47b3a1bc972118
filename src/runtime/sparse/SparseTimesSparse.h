// The product of two CSR matrices of doubles, row by row.
//
//   ArrayReference product = sparseTimesSparse(context, x, x);     // of k x k: dense or sparse
#ifndef TOKAMAK_RUNTIME_SPARSE_SPARSETIMESSPARSE_H
#define TOKAMAK_RUNTIME_SPARSE_SPARSETIMESSPARSE_H

#include "runtime/natives/NativeOperands.h"

namespace tokamak::runtime {

// Of m x k and k x n: m x n, in the layout that takes less memory. Throws Error if there is not enough memory for it.
ArrayReference sparseTimesSparse(ExecutionContext &context, const Array &lhs, const Array &rhs);

} // namespace tokamak::runtime
#endif
