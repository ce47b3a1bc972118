// Finds out how the iterations of a parfor change the values it carries. This decides whether and
// how its iterations may run at the same time.
//
//   markParforResults(module);
//
// A loop with its attribute, in MLIR:
//
//   %r = tok.parfor ... carrying (%a = %x, %s = %y) {
//     %b = tok.insert(%a, ...)                     "cells": iterations replace cells
//     %t = tok.binary add one_repeated %s, %v        "sum":   iterations add to it, but don't read it
//     tok.yield %b, %t
//   } attributes {tok.merges = ["cells", "sum"]}
//
// "last": the result is the value of the last iteration, and no iteration reads that of the
// previous one. A parfor without the attribute carries a value of another kind: its iterations run
// in order.
#ifndef TOKAMAK_PIPELINE_PARFORRESULTS_H
#define TOKAMAK_PIPELINE_PARFORRESULTS_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Attribute of tok.parfor: "cells", "sum" or "last" for each carried value.
inline constexpr llvm::StringLiteral mergesAttributeName = "tok.merges";
// Attribute of a tok.parfor in another one: for each carried value, the number of the outer loop's
// carried value whose cells it replaces, or -1.
inline constexpr llvm::StringLiteral outerValuesAttributeName = "tok.outer_values";

// Sets the attributes above. Each tok.insert that replaces cells of a carried value gets
// tok.updates (OutlineBlocks.h), the number of this value.
void markParforResults(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
