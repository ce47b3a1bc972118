// The weights with which four neighbours are interpolated.
//
//   mlir::Value weight = cubicWeight(graph, distance, -0.75);
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_CUBICWEIGHT_H
#define TOKAMAK_FRONTEND_ONNX_RULES_CUBICWEIGHT_H

#include "frontend/onnx/GraphBuilder.h"

namespace tokamak::onnx {

// (a + 2) |d|^3 - (a + 3) |d|^2 + 1 for |d| <= 1, a |d|^3 - 5 a |d|^2 + 8 a |d| - 4 a up to 2 (Keys 1981). Distances
// are not negative.
mlir::Value cubicWeight(GraphBuilder &graph, mlir::Value distance, double a);

} // namespace tokamak::onnx
#endif
