// The cell operators on vectors of eight cells: exactly what base/CellSemantics.cpp says, in every
// lane; on f32, that computed in doubles and rounded. There is one emission for all templates, so a
// cell has the same bits under every plan.
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

// The type, f64 or f32, of the cells of a value of this type; numbers are doubles.
mlir::Type cellType(VectorBuilder &vectors, mlir::Type type);

// A cell operator (isCell) whose operands are already vectors. They are rounded to the result's
// cells first.
mlir::Value emitCell(VectorBuilder &vectors, mlir::Operation *op, mlir::ValueRange operands);

// Instructions that one evaluation takes, roughly: decides how far loops are unrolled.
int instructionsOf(mlir::Operation *op);
// True for what is worth keeping in memory rather than computing twice.
bool isExpensive(mlir::Operation *op);

} // namespace tokamak::codegen
#endif
