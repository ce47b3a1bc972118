// What goes between a script and a model that it calls. Scripts have matrices of doubles and numbers; a model's
// arrays have any rank and element type.
//
//   mlir::Value image = modelInput(matrix, shape, {}, elementType, graph);   // 10 x 64 as float [10, 1, 8, 8]
//   mlir::Value scores = scriptValue(result, graph);                     // float [10, 5] as 10 x 5
//
// Cells stay in row-major order: the first size is the number of rows, the others together are the columns. An array
// of one dimension is a column, of none a number.
#ifndef TOKAMAK_FRONTEND_DML_MODELBORDER_H
#define TOKAMAK_FRONTEND_DML_MODELBORDER_H

#include "frontend/onnx/GraphBuilder.h"
#include "frontend/onnx/file/Model.h"

namespace tokamak::frontend {

// Whether a matrix's columns tell all sizes but the first: at most one of them is not known.
bool areToldByColumns(const std::vector<onnx::Dimension> &shape);

// A matrix, or a number (as a 1 x 1 matrix), as an array of this shape, as far as it says, and element type.
// `given`: integers, the sizes of all dimensions but the first; or empty if areToldByColumns holds.
mlir::Value modelInput(mlir::Value matrix, const std::vector<onnx::Dimension> &shape,
                       llvm::ArrayRef<mlir::Value> given, mlir::Type element,
                       onnx::GraphBuilder &graph);

// An array of any rank and type as a matrix of doubles, or, without dimensions, as a number.
mlir::Value scriptValue(mlir::Value array, onnx::GraphBuilder &graph);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_MODELBORDER_H
