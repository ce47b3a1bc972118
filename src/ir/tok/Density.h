// Estimates the density of results, and whether they will be sparse arrays: for natives, by the rule
// in runtime/values/Array.h; for cell operators, by evaluating them at zero. Complements FactsOpInterface,
// which infers only facts that are certain.
//
//   inference.inferFacts(operands, results);
//   tok::inferDensity(operation, operands, results);     // fills in what inferFacts leaves unknown
#ifndef TOKAMAK_IR_TOK_DENSITY_H
#define TOKAMAK_IR_TOK_DENSITY_H

#include "ir/tok/TokDialect.h"

namespace tokamak::tok {

void inferDensity(mlir::Operation *operation, llvm::ArrayRef<Facts> operands,
                  llvm::MutableArrayRef<Facts> results);

} // namespace tokamak::tok
#endif
