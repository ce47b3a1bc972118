// Runs whole programs in single precision: every array of f64 becomes one of f32. Scalars stay as
// they are, but are rounded to f32 where they meet the cells of an array. What an operation means
// is still computed in f64, on such cells, and rounded to f32 where it becomes a cell again;
// aggregates and products are rounded at the end. The exception is a product of two dense arrays
// that is not fused: OpenBLAS accumulates it in f32.
//
//   tok::useSinglePrecision(module);     // tokamak run --precision=f32
#ifndef TOKAMAK_IR_TOK_PRECISION_H
#define TOKAMAK_IR_TOK_PRECISION_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::tok {

void useSinglePrecision(mlir::ModuleOp module);

} // namespace tokamak::tok
#endif
