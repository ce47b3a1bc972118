// Literals of one cell as scalars beside arrays, of which kernels know the number:
//
//   useLiteralsAsScalars(module);
//
// In MLIR:
//
//   %1 = tok.literal dense<8.0> : tensor<f32>            %1 = tok.constant 8.0 : f64
//   %2 = tok.view %1[...]                          ==>   %3 = tok.binary div %x, %1
//   %3 = tok.binary div %x, %2
//
// Models write all numbers as arrays; those that stay arrays are weights, whose cells are known at the run only.
#ifndef TOKAMAK_PIPELINE_LITERALSCALARS_H
#define TOKAMAK_PIPELINE_LITERALSCALARS_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Literals of f64 and f32 that an operator or a selection reads beside an array of the same type and of the result's
// rank.
void useLiteralsAsScalars(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
