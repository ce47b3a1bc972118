// The cell operators on vectors of eight doubles: exactly what base/CellSemantics.cpp says, in
// every lane. There is one emission for all templates, so a cell has the same bits under every
// plan.
#ifndef TOKAMAK_CODEGEN_CELLEMISSION_H
#define TOKAMAK_CODEGEN_CELLEMISSION_H

#include "base/CellOperators.h"
#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

mlir::Value emitUnary(VectorBuilder &vectors, UnaryOperator op, mlir::Value x);
mlir::Value emitBinary(VectorBuilder &vectors, BinaryOperator op, mlir::Value a, mlir::Value b);

// A tok.unary, tok.binary, tok.ifelse or tok.constant whose operands are already vectors.
mlir::Value emitCell(VectorBuilder &vectors, mlir::Operation *op, mlir::ValueRange operands);

// Instructions that one evaluation takes, roughly: decides how far loops are unrolled.
int instructionsOf(mlir::Operation *op);
// True for what is worth keeping in memory rather than computing twice.
bool isExpensive(mlir::Operation *op);

} // namespace tokamak::codegen
#endif
