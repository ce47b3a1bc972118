// Constant folding of scalars, by the same functions that execute the operators at run time.
#include "ir/tok/ScalarConstant.h"
#include "ir/tok/TokDialect.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

std::optional<double> tok::numberOf(Attribute constant) {
  if (auto real = dyn_cast_or_null<FloatAttr>(constant))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(constant))
    return integer.getType().isInteger(1) ? double(integer.getValue().getBoolValue())
                                          : double(integer.getInt());
  return std::nullopt;
}

static std::optional<int64_t> asInteger(Attribute attribute) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!integer || !integer.getType().isInteger(64))
    return std::nullopt;
  return integer.getInt();
}

static Attribute attributeOf(Type type, double value) {
  Builder builder(type.getContext());
  if (type.isF64())
    return builder.getF64FloatAttr(value);
  return type.isInteger(1) ? Attribute(builder.getBoolAttr(value != 0)) : Attribute();
}

OpFoldResult UnaryOp::fold(FoldAdaptor adaptor) {
  if (auto integer = asInteger(adaptor.getOperand()); integer && getType().isInteger(64)) {
    auto value = evaluateInteger(getKind(), *integer);
    return value ? OpFoldResult(Builder(getContext()).getI64IntegerAttr(*value)) : OpFoldResult();
  }
  auto operand = numberOf(adaptor.getOperand());
  return operand ? OpFoldResult(attributeOf(getType(), evaluate(getKind(), *operand)))
                 : OpFoldResult();
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  auto leftInteger = asInteger(adaptor.getLhs()), rightInteger = asInteger(adaptor.getRhs());
  if (leftInteger && rightInteger && getType().isInteger(64)) {
    auto value = evaluateInteger(getKind(), *leftInteger, *rightInteger);
    return value ? OpFoldResult(Builder(getContext()).getI64IntegerAttr(*value)) : OpFoldResult();
  }
  // Don't fold integers that doubles can't represent exactly: the run time compares them as
  // integers.
  constexpr int64_t exact = int64_t{1} << 53;
  for (auto integer : {leftInteger, rightInteger})
    if (integer && (*integer > exact || *integer < -exact))
      return {};
  auto lhs = numberOf(adaptor.getLhs()), rhs = numberOf(adaptor.getRhs());
  return lhs && rhs ? OpFoldResult(attributeOf(getType(), evaluate(getKind(), *lhs, *rhs)))
                    : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  auto lhs = dyn_cast_or_null<StringAttr>(adaptor.getLhs());
  auto rhs = dyn_cast_or_null<StringAttr>(adaptor.getRhs());
  if (!lhs || !rhs)
    return {};
  return StringAttr::get(getContext(), lhs.getValue() + rhs.getValue());
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto value = numberOf(adaptor.getOperand());
  if (!value)
    return {};
  if (!getType().isInteger(64))
    return isNumber(getType()) ? OpFoldResult(attributeOf(getType(), *value)) : OpFoldResult();
  return Builder(getContext()).getI64IntegerAttr(truncateToInteger(*value));
}
