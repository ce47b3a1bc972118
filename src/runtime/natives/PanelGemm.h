// Products of matrices with panels of one factor (PanelProduct.h), for gemm(). The other factor is
// read where it lies: one whose rows lie along the inner dimension or, of two, the larger one. Where
// neither does (t(a) %*% b), some rows of it at a time are copied, too.
//
//   if (suitsPanels(shape))
//     gemmInPanels(shape, lhs, lhsStride, rhs, rhsStride, result, resultStride);
#ifndef TOKAMAK_RUNTIME_NATIVES_PANELGEMM_H
#define TOKAMAK_RUNTIME_NATIVES_PANELGEMM_H

#include "runtime/natives/Blas.h"

namespace tokamak::runtime {

// Whether the machine has PanelProduct, and vectors of both factors fill most of a tile.
bool suitsPanels(const GemmShape &shape);

// See partsOfGemm() in Blas.h.
template <typename Number> std::optional<GemmParts> partsOfPanels(const GemmShape &shape);

// See gemm() in Blas.h; for float and double. Throws Error if there is no memory.
template <typename Number>
void gemmInPanels(const GemmShape &shape, const Number *lhs, int64_t lhsStride, const Number *rhs,
                  int64_t rhsStride, Number *result, int64_t resultStride);

} // namespace tokamak::runtime
#endif
