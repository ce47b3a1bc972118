// Convolutions, of floats and of integers.
//
//   mlir::Value y = convolution(node, node.operand(0), node.operand(1), mlir::Value());
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_CONVOLUTION_H
#define TOKAMAK_FRONTEND_ONNX_RULES_CONVOLUTION_H

#include "frontend/onnx/NodeImporter.h"

namespace tokamak::onnx {

// Of an image [images, channels, …], which has the sizes of the node's operand 0, with weights
// [filters, channels of a group, …]; `bias`, one number for each filter, may be null. Strides, dilations,
// paddings and groups are the node's. What is added at the ends is 0.
mlir::Value convolution(NodeImporter &node, mlir::Value image, mlir::Value weights,
                        mlir::Value bias);

} // namespace tokamak::onnx
#endif
