// A convolution that is multiplied by a weight for each of its filters, as a normalisation does that has learnt, is the
// convolution with filters that are multiplied before:
//
//   foldScales(module, facts);
//
// In MLIR:
//
//   %1 = tok.native "convolve"(%x, %filters, ...)          %0 = tok.binary mul %filters, (a view of %scale)
//   %2 = tok.binary add %1, %bias                    ==>   %1 = tok.native "convolve"(%x, %0, ...)
//   %3 = tok.binary mul %2, %scale                         %2 = tok.binary mul %bias, %scale
//                                                          %3 = tok.binary add %1, %2
//
// %filters, %scale and %bias depend on weights alone, so that their products are computed once (PrepareWeights.h).
#ifndef TOKAMAK_PIPELINE_FOLDSCALES_H
#define TOKAMAK_PIPELINE_FOLDSCALES_H

#include "analysis/FactsAnalysis.h"

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Returns whether there was such a convolution.
bool foldScales(mlir::ModuleOp module, analysis::FactsAnalysis &facts);

} // namespace tokamak::pipeline
#endif
