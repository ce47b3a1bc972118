// Matrix products of arrays of more than two dimensions: those of the matrices in the last two, one
// for each place in the leading dimensions.
//
//   multiplyBatches(context, *x, *y, false, true)      // 2x3x4x5, 2x1x6x5 -> 2x3x4x6
#ifndef TOKAMAK_RUNTIME_BATCHEDPRODUCTS_H
#define TOKAMAK_RUNTIME_BATCHEDPRODUCTS_H

#include "runtime/Native.h"

namespace tokamak::runtime {

// Dense arrays, both f64 or both f32 and of the same rank, and so is the result; matrices of the
// operands enter as they are or transposed. An operand of size 1 in a leading dimension has the
// same matrix for all places of the other. Throws Error if sizes do not agree.
Value multiplyBatches(ExecutionContext &context, const Array &lhs, const Array &rhs,
                      bool lhsTransposed, bool rhsTransposed);

} // namespace tokamak::runtime
#endif
