// Emits the cell operators on vectors of eight cells: each lane computes what
// base/CellSemantics.cpp defines. For f32 cells the operators that are Exact in
// base/CellOperators.def give the result on doubles, rounded; the others are functions that compute
// in f32 (SinglePrecisionMath.cpp states their errors). For integers see IntegerEmission.h. All
// templates share this code, so a cell has the same bits under every plan.
//
//   mlir::Value sum = emitBinary(vectors, BinaryOperator::Add, x, y);   // x, y: vectors of 8 cells
//   mlir::Value root = emitUnary(vectors, UnaryOperator::Sqrt, sum);
#ifndef TOKAMAK_CODEGEN_CELLEMISSION_H
#define TOKAMAK_CODEGEN_CELLEMISSION_H

#include "base/CellOperators.h"
#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

mlir::Value emitUnary(VectorBuilder &vectors, UnaryOperator op, mlir::Value x);
mlir::Value emitBinary(VectorBuilder &vectors, BinaryOperator op, mlir::Value a, mlir::Value b);

// The element type as which kernels compute a value of `type`: an array's own, i64 for scalars of
// that type, f64 for all other scalars.
ElementType cellsOf(mlir::Type type);
// Its register type.
mlir::Type cellType(VectorBuilder &vectors, mlir::Type type);
// Scalar input number `index` of a kernel, in all lanes.
mlir::Value emitScalar(VectorBuilder &vectors, mlir::Value scalars, unsigned index,
                       mlir::Type type);

// Emits a cell operator (isCell). `operands` are vectors, which are first rounded to the cell type
// of the result.
mlir::Value emitCell(VectorBuilder &vectors, mlir::Operation *op, mlir::ValueRange operands);

// Roughly the number of instructions of one evaluation: decides how far loops are unrolled.
int instructionsOf(mlir::Operation *op);
// True if storing the result in scratch memory is cheaper than computing it twice.
bool isExpensive(mlir::Operation *op);

} // namespace tokamak::codegen
#endif
