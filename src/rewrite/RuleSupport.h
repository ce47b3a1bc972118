// Utilities for rules: a loop over the operations of a block, and predicates on facts.
//
//   return replaceEach<tok::UnaryOp>(block, [&](tok::UnaryOp op, OpBuilder &) -> Value {
//     return isNegation(op) ? op.getOperand() : Value();   // null: the rule does not fire here
//   });
#ifndef TOKAMAK_REWRITE_RULESUPPORT_H
#define TOKAMAK_REWRITE_RULESUPPORT_H

#include "analysis/FactsAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tokamak::rewrite {

// Rules are about real numbers: sums and products of integers wrap, those of 16-bit floats overflow
// soon, so that other orders have other results.
bool isOfRealNumbers(mlir::Operation *op);

// Calls `replacement` for every operation of type Op on real numbers, in program order. If it returns a value (of
// the operation's type), this replaces the operation. True if any operation was replaced. Operands
// without users are left to dead-code elimination. What was replaced is erased at the end, so that no new operation has the
// address of an old one, whose facts would be taken for its own.
template <typename Op, typename Replacement>
bool replaceEach(mlir::func::FuncOp block, Replacement replacement) {
  llvm::SmallVector<Op> replaced;
  for (Op op : llvm::make_early_inc_range(block.getBody().front().getOps<Op>())) {
    if (!isOfRealNumbers(op))
      continue;
    mlir::OpBuilder builder(op);
    mlir::Value value = replacement(op, builder);
    if (!value)
      continue;
    op->getResult(0).replaceAllUsesWith(value);
    op->dropAllReferences();
    replaced.push_back(op);
  }
  for (Op op : replaced)
    op->erase();
  return !replaced.empty();
}

inline int64_t rankOf(mlir::Value array) {
  return mlir::cast<mlir::RankedTensorType>(array.getType()).getRank();
}

// The number that a scalar literal denotes (booleans: 0 or 1); nullopt if
// `value` is no such literal.
std::optional<double> literal(mlir::Value value);

// Whether both are matrices whose sizes are proved equal.
bool sameSizes(const tok::Facts &a, const tok::Facts &b);

inline bool isSurelyNotOne(const Size &size) { return size.provedDifferent(Size::constant(1)); }

} // namespace tokamak::rewrite
#endif
