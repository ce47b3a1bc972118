// Tensors of a model as literals of the program.
//
//   mlir::Value weights = graph.literal(constantTensor(initializer, graph, &external));
//
#ifndef TOKAMAK_FRONTEND_ONNX_CONSTANTTENSOR_H
#define TOKAMAK_FRONTEND_ONNX_CONSTANTTENSOR_H

#include "frontend/onnx/GraphBuilder.h"
#include "frontend/onnx/file/TensorCells.h"

namespace tokamak::onnx {

// Copies the cells; narrow ones are widened. Throws Error if they make no sense, or are of a type in which Tokamak
// keeps no arrays.
mlir::DenseElementsAttr constantTensor(const Tensor &tensor, GraphBuilder &graph,
                                       ExternalData *external);

} // namespace tokamak::onnx
#endif
