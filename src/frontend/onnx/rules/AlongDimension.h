// What several operators compute along one dimension of an array.
//
//   mlir::Value shares = softmax(graph, scores, 1);       // of each row
//
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_ALONGDIMENSION_H
#define TOKAMAK_FRONTEND_ONNX_RULES_ALONGDIMENSION_H

#include "frontend/onnx/GraphBuilder.h"

namespace tokamak::onnx {

mlir::Value reversed(GraphBuilder &graph, mlir::Value array, int64_t dimension);

// The place of an extreme (an aggregate of which isIndex() holds) from 0.
mlir::Value placeFromZero(GraphBuilder &graph, AggregateKind kind, mlir::Value array,
                          int64_t dimension, KeepDimensions keep);

// exp(x - m) / sum(exp(x - m)), m the largest cell.
mlir::Value softmax(GraphBuilder &graph, mlir::Value x, int64_t dimension);

} // namespace tokamak::onnx
#endif
