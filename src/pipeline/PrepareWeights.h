// What a model computes from its weights alone is the same in every call. Moves it out of `main` into a function
// that is called once, before all calls of `main`:
//
//   prepareWeights(module, facts);
//
// In MLIR:
//
//   main(%x, %gamma, %spread)   attributes {tok.weights = 2}        prepare_weights(%gamma, %spread)
//     %1 = tok.unary sqrt %spread                                     %1 = tok.unary sqrt %spread
//     %2 = tok.binary div %gamma, %1                       ==>        %2 = tok.binary div %gamma, %1
//     %3 = tok.binary mul %x, %2                                      return %2
//     return %3                                                     main(%x, %2)   attributes {tok.weights = 1}
//                                                                     %3 = tok.binary mul %x, %2
//                                                                     return %3
//
// The results of `prepare_weights` are the weights that `main` takes now: those it still reads, and what was computed.
//
// What moves are the values of WeightValues.h, but for transpositions: products that read them absorb them.
#ifndef TOKAMAK_PIPELINE_PREPAREWEIGHTS_H
#define TOKAMAK_PIPELINE_PREPAREWEIGHTS_H

#include "analysis/FactsAnalysis.h"

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

inline constexpr llvm::StringLiteral preparationName = "prepare_weights";

// Returns whether there was anything to move. `main` is the function with tok::weightsAttributeName; where there is
// none, or a function `prepare_weights` is there already, nothing changes.
bool prepareWeights(mlir::ModuleOp module, analysis::FactsAnalysis &facts);

} // namespace tokamak::pipeline
#endif
