// Batched matrix products: multiplies the matrices in the last two dimensions, for every index of
// the leading dimensions.
//
//   multiplyBatches(context, *x, *y, false, true)      // 2x3x4x5, 2x1x6x5 -> 2x3x4x6
#ifndef TOKAMAK_RUNTIME_NATIVES_BATCHEDPRODUCTS_H
#define TOKAMAK_RUNTIME_NATIVES_BATCHEDPRODUCTS_H

#include "runtime/natives/Native.h"

namespace tokamak::runtime {

// Operands and result are dense, of the same element type (f64 or f32) and rank. A flag
// transposes the matrices of an operand. Leading dimensions of size 1 are broadcast. Throws
// Error if sizes do not agree.
Value multiplyBatches(ExecutionContext &context, const Array &lhs, const Array &rhs,
                      bool lhsTransposed, bool rhsTransposed);

} // namespace tokamak::runtime
#endif
