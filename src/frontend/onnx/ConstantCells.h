// The numbers that a small array of integers or truth values has, as far as they follow from numbers of the model and from
// sizes that are known: what decides which branch of an If is taken, how often a Loop runs, by how much Pad pads.
//
//   mlir::Value isFast = graph.binary(Binary::Eq, rate, sixteenThousand);
//   std::optional<Numbers> cells = constantCells(graph, isFast, visits, [](mlir::Value) {}); // {1}
//
#ifndef TOKAMAK_FRONTEND_ONNX_CONSTANTCELLS_H
#define TOKAMAK_FRONTEND_ONNX_CONSTANTCELLS_H

#include "frontend/onnx/GraphBuilder.h"

namespace tokamak::onnx {

// In row-major order; arrays may have any number of dimensions, but few cells. Nothing if a number is not known;
// `unknown` then gets what keeps it from being known, if that is a parameter, a carried value, or an array whose size is
// not known. At most `visits` values are looked at, each of which is taken off.
std::optional<Numbers> constantCells(GraphBuilder &graph, mlir::Value array, int64_t &visits,
                                     llvm::function_ref<void(mlir::Value)> unknown);

} // namespace tokamak::onnx
#endif
