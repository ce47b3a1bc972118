// The facts of an operation's results from those of its operands: what is certain (FactsOpInterface)
// and what is estimated (Density.h). Analyses of whole programs, of blocks and of fused bodies all
// call this function.
//
//   SmallVector<Facts> results(op->getNumResults());
//   tok::inferFacts(op, {Facts::matrix(n, m), Facts::matrix(m, k)}, results);
//   // of a product: results[0] is n x k
#ifndef TOKAMAK_IR_TOK_INFERFACTS_H
#define TOKAMAK_IR_TOK_INFERFACTS_H

#include "ir/tok/TokDialect.h"

namespace tokamak::tok {

void inferFacts(mlir::Operation *operation, llvm::ArrayRef<Facts> operands,
                llvm::MutableArrayRef<Facts> results);

} // namespace tokamak::tok
#endif
