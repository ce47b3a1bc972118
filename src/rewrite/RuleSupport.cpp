#include "rewrite/RuleSupport.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/ScalarConstant.h"

using namespace mlir;
using namespace tokamak;

bool rewrite::isOfRealNumbers(Operation *op) {
  auto mayRewrite = [](Type type) {
    std::optional<ElementType> cells = tok::elementTypeOf(type);
    return !tok::isArray(type) || (cells && mayBeSparse(*cells));
  };
  return llvm::all_of(op->getOperandTypes(), mayRewrite) &&
         llvm::all_of(op->getResultTypes(), mayRewrite);
}

std::optional<double> rewrite::literal(Value value) {
  auto constant = value.getDefiningOp<tok::ConstantOp>();
  return constant ? tok::numberOf(constant.getValue()) : std::nullopt;
}

bool rewrite::sameSizes(const tok::Facts &a, const tok::Facts &b) {
  return a.isMatrix() && b.isMatrix() && a.rows().provedEqual(b.rows()) &&
         a.columns().provedEqual(b.columns());
}
