// Emits the cell operators on vectors of eight integers or i1: each lane computes what
// base/IntegerSemantics.cpp defines.
//
//   mlir::Value sum = emitIntegerBinary(vectors, BinaryOperator::Add, ElementType::I8, x, y);
#ifndef TOKAMAK_CODEGEN_INTEGEREMISSION_H
#define TOKAMAK_CODEGEN_INTEGEREMISSION_H

#include "base/CellOperators.h"
#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// Operands are registers of `cells` (VectorBuilder.h). So is the result; comparisons and logic give
// 1 and 0.
mlir::Value emitIntegerUnary(VectorBuilder &vectors, UnaryOperator op, ElementType cells,
                             mlir::Value x);
mlir::Value emitIntegerBinary(VectorBuilder &vectors, BinaryOperator op, ElementType cells,
                              mlir::Value a, mlir::Value b);

} // namespace tokamak::codegen
#endif
