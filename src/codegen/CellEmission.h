// Emits the cell operators on vectors: each lane computes what base/CellOperators.def says, and for
// integers and i1 what base/IntegerSemantics.cpp defines. For f32 cells the operators that are Exact
// there give the result on doubles, rounded; the others are functions that compute in f32. All
// templates share this code, so a cell has the same bits under every plan.
//
//   mlir::Value sum = emitBinary(vectors, BinaryOperator::Add, x, y);   // x, y: vectors of 8 cells
//   mlir::Value root = emitUnary(vectors, UnaryOperator::Sqrt, sum);
#ifndef TOKAMAK_CODEGEN_CELLEMISSION_H
#define TOKAMAK_CODEGEN_CELLEMISSION_H

#include "base/CellOperators.h"
#include "codegen/VectorBuilder.h"
#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

// Operands are registers of `cells` (VectorBuilder.h). So is the result; comparisons and logic give
// 1 and 0.
mlir::Value emitUnary(VectorBuilder &vectors, UnaryOperator op, mlir::Value x,
                      ElementType cells = ElementType::F64);
mlir::Value emitBinary(VectorBuilder &vectors, BinaryOperator op, mlir::Value a, mlir::Value b,
                       ElementType cells = ElementType::F64);
// The mask of lanes for which a comparison (Eq to Ge) holds.
mlir::Value emitComparison(VectorBuilder &vectors, BinaryOperator op, mlir::Value a, mlir::Value b,
                           ElementType cells = ElementType::F64);

// Emits a cell operator (schedule::isCell) on vectors of the types of its operands.
mlir::Value emitCell(VectorBuilder &vectors, mlir::Operation *op, mlir::ValueRange operands);

} // namespace tokamak::codegen
#endif
