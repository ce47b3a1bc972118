// What is known of the cells of a value, as far as its operands' cells are known: the proof of what
// is sparse-safe (base/SparseSafety.h), for operations.
//
//   // What `op` gives where the array `sparse` has no entry:
//   tok::cellOf(op, [&](OpOperand &operand) {
//     return operand.get() == sparse ? CellFact(0.0) : CellFact::anything();
//   });
#ifndef TOKAMAK_IR_TOK_CELLFACTS_H
#define TOKAMAK_IR_TOK_CELLFACTS_H

#include "base/SparseSafety.h"
#include "ir/tok/TokDialect.h"

namespace tokamak::tok {

// Unit attribute of a block's function: ZeroRule::Strict holds in it.
inline constexpr llvm::StringLiteral strictZerosAttributeName = "tok.strict_zeros";
// On an argument of a block's function: what is known of its cells, or of the number.
inline constexpr llvm::StringLiteral cellsAttributeName = "tok.cells";
ZeroRule zeroRuleOf(mlir::Operation &operation);
mlir::Attribute cellsAttribute(mlir::MLIRContext *context, const CellFact &cells);
CellFact statedCellsOf(mlir::BlockArgument argument);

// The number that a value is known to be; else anything.
CellFact numberOf(const Facts &facts);

// Of a unary or binary operator or an ifelse. Where the result's cells are of single precision,
// operands and result are rounded to it, as when the operation is computed.
CellFact cellOf(mlir::Operation &operation, llvm::function_ref<CellFact(mlir::OpOperand &)> factOf);

// Of all cells of the result of any other operation, or of the number that it gives. `facts`: of
// the operands.
CellFact allCellsOf(mlir::Operation &operation, llvm::ArrayRef<Facts> facts,
                    llvm::function_ref<CellFact(mlir::Value)> factOf);

} // namespace tokamak::tok
#endif
