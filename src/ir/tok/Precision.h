// Runs whole programs in single precision: every array of f64 becomes one of f32. Scalars stay as
// they are, but are rounded to f32 where they meet the cells of an array. What an operation means
// is still computed in f64, on such cells, and rounded to f32 where it becomes a cell again;
// aggregates and products are rounded at the end, but products of two dense arrays
// that stand alone, which OpenBLAS adds up in f32.
//
//   tok::useSinglePrecision(module);     // tokamak run --precision=f32
#ifndef TOKAMAK_IR_TOK_PRECISION_H
#define TOKAMAK_IR_TOK_PRECISION_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::tok {

void useSinglePrecision(mlir::ModuleOp module);

} // namespace tokamak::tok
#endif
