#include "ir/tok/TokDialect.h"

#include "ir/tok/ElementTypes.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

#include "TokDialect.cpp.inc"
#include "TokInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "TokTypes.cpp.inc"

namespace {

// Inlining is always legal: values are immutable and control flow is structured.
struct TokInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  void handleTerminator(Operation *op, ValueRange valuesToReplace) const final {
    for (auto [result, value] : llvm::zip(op->getOperands(), valuesToReplace))
      value.replaceAllUsesWith(result);
  }
};

} // namespace

void TokDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "TokOps.cpp.inc"
      >();
  addInterfaces<TokInlinerInterface>();
}

void TokDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "TokTypes.cpp.inc"
      >();
}

LogicalResult TokDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                   NamedAttribute attribute) {
  bool areSizes = attribute.getName() == sizesAttributeName ||
                  attribute.getName() == expectedSizesAttributeName;
  if (areSizes && !sizesOf(attribute.getValue()))
    return op->emitError() << "argument " << argument << ": expected sizes like [\"s0 + 1\", 10]";
  return success();
}

Operation *TokDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location location) {
  return builder.create<ConstantOp>(location, type, value);
}

RankedTensorType tok::matrixType(MLIRContext *context) {
  return RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                               Float64Type::get(context));
}

bool tok::isScalar(Type type) { return isNumber(type) || isa<StringType, ScalarType>(type); }

StringRef tok::describeType(Type type) {
  if (isArray(type))
    return cast<RankedTensorType>(type).getRank() == 2 ? "a matrix" : "a tensor";
  if (type.isInteger(64))
    return "an integer";
  if (type.isF64())
    return "a double";
  if (type.isInteger(1))
    return "a boolean";
  if (isa<StringType>(type))
    return "a string";
  if (isa<ListType>(type))
    return "a list";
  if (isa<FrameType>(type))
    return "a frame";
  if (isa<NoneType>(type))
    return "nothing";
  return "a scalar";
}

//===- type rules ----------------------------------------------------------------------------===//

static Type scalarResult(MLIRContext *context, CellResult result, bool allIntegers) {
  switch (result) {
  case CellResult::Boolean:
    return IntegerType::get(context, 1);
  case CellResult::Number:
    if (allIntegers)
      return IntegerType::get(context, 64);
    [[fallthrough]];
  case CellResult::Double:
    return Float64Type::get(context);
  }
  return {};
}

Type tok::unaryResultType(UnaryOperator op, Type operand) {
  if (isArray(operand)) {
    std::optional<ElementType> cells = elementTypeOf(operand);
    return cells && takes(op, *cells) ? operand : Type();
  }
  if (isa<ScalarType>(operand))
    return resultOf(op) == CellResult::Number
               ? operand
               : scalarResult(operand.getContext(), resultOf(op), false);
  if (!isNumber(operand) || (op == UnaryOperator::Neg && operand.isInteger(1)))
    return {};
  return scalarResult(operand.getContext(), resultOf(op), operand.isInteger(64));
}

Type tok::broadcastType(Type a, Type b) {
  auto left = cast<RankedTensorType>(a), right = cast<RankedTensorType>(b);
  if (left.getElementType() != right.getElementType())
    return {};
  if (left.getRank() == right.getRank())
    return left == right ? a : Type();
  return left.getRank() > right.getRank() ? a : b;
}

bool tok::goesWith(Type scalar, ElementType cells) {
  if (isFloat(cells))
    return isNumber(scalar) || isa<ScalarType>(scalar);
  return scalar.isInteger(1) || (scalar.isInteger(64) && cells != ElementType::Bool);
}

bool tok::isCellResult(CellResult result, Type inferred, Type actual) {
  if (!inferred || inferred == actual)
    return bool(inferred);
  bool isTruth = result == CellResult::Boolean && isArray(inferred) && isArray(actual);
  return isTruth && elementTypeOf(actual) == ElementType::Bool &&
         cast<RankedTensorType>(inferred).clone(IntegerType::get(actual.getContext(), 1)) == actual;
}

Type tok::binaryResultType(BinaryOperator op, Type lhs, Type rhs) {
  MLIRContext *context = lhs.getContext();
  bool arithmetic = resultOf(op) != CellResult::Boolean;
  auto acceptable = [](Type type) {
    return isArray(type) || isNumber(type) || isa<ScalarType>(type);
  };
  if (isArray(lhs) || isArray(rhs)) {
    if (!acceptable(lhs) || !acceptable(rhs))
      return {};
    Type array = isArray(lhs) ? lhs : rhs;
    std::optional<ElementType> cells = elementTypeOf(array);
    if (!cells || !takes(op, *cells))
      return {};
    if (isArray(lhs) && isArray(rhs))
      return broadcastType(lhs, rhs);
    return goesWith(isArray(lhs) ? rhs : lhs, *cells) ? array : Type();
  }
  if (isa<StringType>(lhs) || isa<StringType>(rhs)) {
    bool comparison = op >= BinaryOperator::Eq && op <= BinaryOperator::Ge;
    return comparison && isScalar(lhs) && isScalar(rhs) ? Type(IntegerType::get(context, 1))
                                                        : Type();
  }
  if (!acceptable(lhs) || !acceptable(rhs))
    return {};
  if (isa<ScalarType>(lhs) || isa<ScalarType>(rhs))
    return resultOf(op) == CellResult::Number ? Type(ScalarType::get(context))
                                              : scalarResult(context, resultOf(op), false);
  if (arithmetic && lhs.isInteger(1) != rhs.isInteger(1))
    return {};
  return scalarResult(context, resultOf(op), lhs.isInteger(64) && rhs.isInteger(64));
}

Type tok::ifElseResultType(Type condition, Type then, Type otherwise) {
  Type operands[] = {condition, then, otherwise};
  if (llvm::any_of(operands, isArray)) {
    // The condition may have another element type than the values, which give that of the result.
    Type values = isArray(then) ? then : isArray(otherwise) ? otherwise : condition;
    auto type = cast<RankedTensorType>(values).getElementType();
    std::optional<ElementType> cells = elementTypeOf(type);
    auto isValue = [&](Type value) {
      return cells && (isArray(value) ? elementTypeOf(value) == cells : goesWith(value, *cells));
    };
    bool isCondition = isArray(condition) || isNumber(condition) || isa<ScalarType>(condition);
    if (!isCondition || !isValue(then) || !isValue(otherwise))
      return {};
    Type result = values;
    for (Type operand : operands)
      if (isArray(operand) && result)
        result = broadcastType(result, cast<RankedTensorType>(operand).clone(type));
    return result;
  }
  if (!isScalar(condition) || isa<StringType>(condition) || !isScalar(then) || !isScalar(otherwise))
    return {};
  if (then == otherwise)
    return then;
  MLIRContext *context = condition.getContext();
  return isNumber(then) && isNumber(otherwise) ? Type(Float64Type::get(context))
                                               : Type(ScalarType::get(context));
}
