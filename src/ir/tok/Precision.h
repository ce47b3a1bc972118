// Converts a whole program to single precision: every array of f64 becomes an array of f32. Scalars
// stay f64, but are rounded to f32 where they are combined with the cells of an array. Operators
// that are exact (base/CellOperators.def) then give the result on doubles, rounded to f32;
// functions such as exp compute in f32 (codegen/VectorMath.cpp states their errors).
// Aggregates add up in f64 and are rounded once, at the end. Products of dense arrays, and those in
// fused operators, accumulate in f32.
//
//   tok::useSinglePrecision(module);     // tokamak run --precision=f32
#ifndef TOKAMAK_IR_TOK_PRECISION_H
#define TOKAMAK_IR_TOK_PRECISION_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::tok {

void useSinglePrecision(mlir::ModuleOp module);

} // namespace tokamak::tok
#endif
