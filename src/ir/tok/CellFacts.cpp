#include "ir/tok/CellFacts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

CellFact tok::numberOf(const Facts &facts) {
  if (auto number = dyn_cast_or_null<FloatAttr>(facts.value))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(facts.value))
    return number.getType().isInteger(1) ? double(number.getValue().getBoolValue())
                                         : double(number.getInt());
  return std::nullopt;
}

CellFact tok::cellOf(Operation &operation, llvm::function_ref<CellFact(OpOperand &)> factOf) {
  bool isSingle = getElementTypeOrSelf(operation.getResult(0).getType()).isF32();
  auto rounded = [&](CellFact fact) { return isSingle ? inSinglePrecision(fact) : fact; };
  auto operand = [&](unsigned number) { return rounded(factOf(operation.getOpOperand(number))); };
  if (auto unary = dyn_cast<UnaryOp>(operation))
    return rounded(factAt(unary.getKind(), operand(0)));
  if (auto binary = dyn_cast<BinaryOp>(operation))
    return rounded(factAt(binary.getKind(), operand(0), operand(1)));
  return factAtIfElse(operand(0), operand(1), operand(2));
}
