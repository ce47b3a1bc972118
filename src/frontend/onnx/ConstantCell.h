// The number that an array of one integer or truth value has, as far as it follows from numbers of the model: what
// decides which branch of an If is taken, how often a Loop runs.
//
//   constantCell(graph.binary(BinaryOperator::Eq, rate, sixteenThousand), [](mlir::Value other) {}) == 1
//
#ifndef TOKAMAK_FRONTEND_ONNX_CONSTANTCELL_H
#define TOKAMAK_FRONTEND_ONNX_CONSTANTCELL_H

#include "frontend/onnx/GraphBuilder.h"

namespace tokamak::onnx {

// Nothing if the number is not known; `unknown` then gets a parameter or a carried value on which it depends, if
// such a one is what keeps it from being known.
std::optional<int64_t> constantCell(mlir::Value array,
                                    llvm::function_ref<void(mlir::Value)> unknown);

} // namespace tokamak::onnx
#endif
