// Utilities for rules: a loop over the operations of a block, and predicates on facts.
//
//   return replaceEach<tok::UnaryOp>(block, [&](tok::UnaryOp op, OpBuilder &) -> Value {
//     return isNegation(op) ? op.getOperand() : Value();   // null: the rule does not fire here
//   });
#ifndef TOKAMAK_REWRITE_RULESUPPORT_H
#define TOKAMAK_REWRITE_RULESUPPORT_H

#include "analysis/FactsAnalysis.h"
#include "ir/tok/ElementTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tokamak::rewrite {

// Rules are about real numbers: sums and products of integers wrap, those of 16-bit floats overflow
// soon, so that other orders have other results.
inline bool isOfRealNumbers(mlir::Operation *op) {
  auto mayRewrite = [](mlir::Type type) {
    std::optional<ElementType> cells = tok::elementTypeOf(type);
    return !tok::isArray(type) || (cells && mayBeSparse(*cells));
  };
  return llvm::all_of(op->getOperandTypes(), mayRewrite) &&
         llvm::all_of(op->getResultTypes(), mayRewrite);
}

// Calls `replacement` for every operation of type Op on real numbers, in program order. If it returns a value (of
// the operation's type), this replaces the operation. True if any operation was replaced. Operands
// without users are left to dead-code elimination.
template <typename Op, typename Replacement>
bool replaceEach(mlir::func::FuncOp block, Replacement replacement) {
  bool fired = false;
  for (Op op : llvm::make_early_inc_range(block.getBody().front().getOps<Op>())) {
    if (!isOfRealNumbers(op))
      continue;
    mlir::OpBuilder builder(op);
    mlir::Value value = replacement(op, builder);
    if (!value)
      continue;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    fired = true;
  }
  return fired;
}

// The number that a scalar literal denotes (booleans: 0 or 1); nullopt if
// `value` is no such literal.
inline std::optional<double> literal(mlir::Value value) {
  auto constant = value.getDefiningOp<tok::ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue()))
    return real.getValueAsDouble();
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(constant.getValue());
  if (!integer)
    return std::nullopt;
  return integer.getType().isInteger(1) ? double(integer.getValue().getBoolValue())
                                        : double(integer.getInt());
}

// Whether both are matrices whose sizes are proved equal.
inline bool sameSizes(const tok::Facts &a, const tok::Facts &b) {
  return a.isMatrix() && b.isMatrix() && a.rows().provedEqual(b.rows()) &&
         a.columns().provedEqual(b.columns());
}

inline bool isSurelyNotOne(const Size &size) { return size.provedDifferent(Size::constant(1)); }

} // namespace tokamak::rewrite
#endif
