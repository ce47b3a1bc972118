#include "rewrite/RuleSupport.h"

#include "ir/tok/ElementTypes.h"

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
  if (!constant)
    return std::nullopt;
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    return real.getValueAsDouble();
  auto integer = dyn_cast<IntegerAttr>(constant.getValue());
  if (!integer)
    return std::nullopt;
  return integer.getType().isInteger(1) ? double(integer.getValue().getBoolValue())
                                        : double(integer.getInt());
}

bool rewrite::sameSizes(const tok::Facts &a, const tok::Facts &b) {
  return a.isMatrix() && b.isMatrix() && a.rows().provedEqual(b.rows()) &&
         a.columns().provedEqual(b.columns());
}
