// Matrix products of integers, with the signature of the products of floats in Blas.h. The lowest
// bits of sums and products do not depend on signs, so cells are unsigned whatever their type is.
//
//   gemm({.rows = 2, .columns = 2, .inner = 3}, x, 3, y, 2, result, 2);    // uint8_t to uint64_t
#ifndef TOKAMAK_RUNTIME_NATIVES_INTEGERPRODUCT_H
#define TOKAMAK_RUNTIME_NATIVES_INTEGERPRODUCT_H

#include "runtime/natives/Blas.h"
#include "runtime/natives/NativeOperands.h"

#include <algorithm>

namespace tokamak::runtime {

// Row by row of the result, so that the innermost loop goes along rows, as the compiler's vectors
// do; products of two uint16_t are multiplied as uint32_t, because int would overflow.
template <typename Number>
  requires std::is_unsigned_v<Number>
void gemm(const GemmShape &shape, const Number *lhs, int64_t lhsStride, const Number *rhs,
          int64_t rhsStride, Number *result, int64_t resultStride) {
  using Wide = std::conditional_t<sizeof(Number) < 4, uint32_t, Number>;
  for (int64_t i = 0; i < shape.rows; ++i) {
    Number *row = result + i * resultStride;
    std::fill_n(row, shape.columns, Number(0));
    for (int64_t k = 0; k < shape.inner; ++k) {
      Wide factor = lhs[shape.lhsTransposed ? k * lhsStride + i : i * lhsStride + k];
      const Number *first = shape.rhsTransposed ? rhs + k : rhs + k * rhsStride;
      int64_t step = shape.rhsTransposed ? rhsStride : 1;
      for (int64_t j = 0; j < shape.columns; ++j)
        row[j] = static_cast<Number>(row[j] + factor * first[j * step]);
    }
  }
}

// Calls body.operator()<Number>() for the type in which products of such arrays are computed:
// double, float, or an unsigned integer.
template <typename Body> void withProductCells(const Array &array, const Body &body) {
  if (isFloat(array.elementType()))
    withFloatCells(array, body);
  else
    withCellSize(array.elementType(), body);
}

} // namespace tokamak::runtime
#endif
