// Estimates of how many cells of a result are not zero, and whether it is going to be a CSR array:
// what its natives give (runtime/Array.h says when), or, for cell operators, what follows from
// evaluating them at zero. Beside FactsOpInterface, which infers what is certain.
//
//   inference.inferFacts(operands, results);
//   tok::inferDensity(operation, operands, results);     // what inferFacts left open
#ifndef TOKAMAK_IR_TOK_DENSITY_H
#define TOKAMAK_IR_TOK_DENSITY_H

#include "ir/tok/TokDialect.h"

namespace tokamak::tok {

void inferDensity(mlir::Operation *operation, llvm::ArrayRef<Facts> operands,
                  llvm::MutableArrayRef<Facts> results);

} // namespace tokamak::tok
#endif
