// Inference of facts about the cells of a result from facts about the cells of the operands: proves
// which operations are sparse-safe (base/SparseSafety.h).
//
//   // The result cell of `op` where the array `sparse` has no entry:
//   tok::cellOf(*op, [&](OpOperand &operand) {
//     return operand.get() == sparse ? CellFact::withoutEntry() : CellFact::anything();
//   });
#ifndef TOKAMAK_IR_TOK_CELLFACTS_H
#define TOKAMAK_IR_TOK_CELLFACTS_H

#include "base/SparseSafety.h"
#include "ir/tok/TokDialect.h"

namespace tokamak::tok {

// Unit attribute of a block's function: its operations follow ZeroRule::Strict.
inline constexpr llvm::StringLiteral strictZerosAttributeName = "tok.strict_zeros";
// Attribute of an argument of a block's function: the facts known about its cells, or about the
// number if it is a scalar.
inline constexpr llvm::StringLiteral cellsAttributeName = "tok.cells";
ZeroRule zeroRuleOf(mlir::Operation &operation);
mlir::Attribute cellsAttribute(mlir::MLIRContext *context, const CellFact &cells);
CellFact statedCellsOf(mlir::BlockArgument argument);

// The number that the value is known to be; otherwise a fact that allows anything.
CellFact numberOf(const Facts &facts);

// The cell facts of the result of a unary or binary operator or an ifelse. If the result has cells
// of single precision, operands and result are rounded to it, as in the computation.
CellFact cellOf(mlir::Operation &operation, llvm::function_ref<CellFact(mlir::OpOperand &)> factOf);

// The facts of all cells (or of the number) that any other operation returns. `facts` are those of
// the operands.
CellFact allCellsOf(mlir::Operation &operation, llvm::ArrayRef<Facts> facts,
                    llvm::function_ref<CellFact(mlir::Value)> factOf);

} // namespace tokamak::tok
#endif
