// How the values that a parfor carries come about, which decides whether and how its iterations may
// run at the same time:
//
//   %r = tok.parfor ... carrying (%a = %x, %s = %y) {
//     %b = tok.insert(%a, ...)                     "cells": iterations replace cells
//     %t = tok.binary add %s, %v                   "sum":   iterations add, and don't look at it
//     tok.yield %b, %t
//   } attributes {tok.merges = ["cells", "sum"]}
//
// "last" is what the last iteration leaves, where none reads what the one before left. A parfor
// without the attribute has a value of another kind: its iterations run in order.
#ifndef TOKAMAK_PIPELINE_PARFORRESULTS_H
#define TOKAMAK_PIPELINE_PARFORRESULTS_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Of tok.parfor: "cells", "sum" or "last" for each carried value.
inline constexpr llvm::StringLiteral mergesAttributeName = "tok.merges";
// Of a tok.parfor in another one: for each carried value the carried value of the outer loop whose
// cells it replaces, or -1.
inline constexpr llvm::StringLiteral outerValuesAttributeName = "tok.outer_values";

// Sets the attributes above and tok.updates (OutlineBlocks.h), the number of the carried value, at
// each tok.insert that replaces cells of one.
void markParforResults(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
