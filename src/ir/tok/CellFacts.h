// What a cell of an elementwise operation's result is, as far as its operands' cells are known: the
// proof of what is sparse-safe (base/SparseSafety.h), for operations.
//
//   // What `op` gives where the array `sparse` has no entry:
//   tok::cellOf(op, [&](OpOperand &operand) -> CellFact {
//     return operand.get() == sparse ? CellFact(0.0) : std::nullopt;
//   });
#ifndef TOKAMAK_IR_TOK_CELLFACTS_H
#define TOKAMAK_IR_TOK_CELLFACTS_H

#include "base/SparseSafety.h"
#include "ir/tok/TokDialect.h"

namespace tokamak::tok {

// The number that a value is known to be.
CellFact numberOf(const Facts &facts);

// Of a unary or binary operator or an ifelse. Where the result's cells are of single precision,
// operands and result are rounded to it, as when the operation is computed.
CellFact cellOf(mlir::Operation &operation, llvm::function_ref<CellFact(mlir::OpOperand &)> factOf);

} // namespace tokamak::tok
#endif
