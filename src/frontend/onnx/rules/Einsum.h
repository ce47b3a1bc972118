// Sums of products that an equation describes.
//
//   mlir::Value product = einsum(graph, "bij, bjk -> bik", {x, y});
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_EINSUM_H
#define TOKAMAK_FRONTEND_ONNX_RULES_EINSUM_H

#include "frontend/onnx/GraphBuilder.h"

namespace tokamak::onnx {

// An array for each term of the equation. Throws Error if the equation is wrong, or the number or the ranks of the
// arrays are.
mlir::Value einsum(GraphBuilder &graph, llvm::StringRef equation,
                   llvm::ArrayRef<mlir::Value> operands);

} // namespace tokamak::onnx
#endif
