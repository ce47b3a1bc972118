// Builtins that create frames, or that accept both frames and matrices.
#include "frontend/dml/FunctionGenerator.h"

#include "llvm/ADT/StringSwitch.h"

namespace tokamak::frontend {

using mlir::Value;

static bool isFrame(Value value) { return llvm::isa<tok::FrameType>(value.getType()); }

Value FunctionGenerator::native(BuiltinCall &call, llvm::StringRef name, mlir::Type type,
                                mlir::ValueRange operands) {
  return builder_.create<tok::CallNativeOp>(call.location, mlir::TypeRange(type), name, operands)
      .getResult(0);
}

// The elements of [a, b] or list(a, b); nothing if this is no list that is written out.
static std::optional<llvm::SmallVector<const Expression *>>
elementsOf(const Expression &expression) {
  if (const auto *list = llvm::dyn_cast<ListExpression>(&expression))
    return llvm::to_vector(list->elements());
  const auto *call = llvm::dyn_cast<CallExpression>(&expression);
  if (!call || call->callee() != "list")
    return std::nullopt;
  llvm::SmallVector<const Expression *> elements;
  for (const CallArgument &argument : call->arguments())
    elements.push_back(argument.value);
  return elements;
}

// schema=["string", "double"] and schema="string,double" are equivalent.
Value FunctionGenerator::schema(const Expression &expression) {
  auto elements = elementsOf(expression);
  if (!elements)
    return generate(expression);
  std::string text;
  for (const Expression *element : *elements) {
    auto type = constantText(generate(*element));
    if (!type) {
      module_.error(element->range(), "a schema holds names of types: \"string\", \"double\", "
                                      "\"int\", \"boolean\"");
      return {};
    }
    text += (text.empty() ? "" : ",") + type->str();
  }
  return builder_.create<tok::ConstantOp>(location(expression.range()), llvm::StringRef(text));
}

// as.frame(x), as.frame(x, names).
Value FunctionGenerator::emitAsFrame(BuiltinCall &call) {
  if (!refuseTensor(call, 0))
    return {};
  Value frame = castTo(call.operands[0], frameType(), call.expression.calleeRange());
  if (!call.operands[1])
    return frame;
  return native(call, "frame_with_names", frameType(), {frame, call.operands[1]});
}

Value FunctionGenerator::emitReplace(BuiltinCall &call) {
  Value target = call.operands[0], pattern = call.operands[1], replacement = call.operands[2];
  if (isFrame(target))
    return native(call, "frame_replace", frameType(), {target, pattern, replacement});
  target = convert(target, ParameterType::Matrix, "'target' of 'replace'",
                   call.arguments[0]->value->range());
  // Numbers may be given as strings: replacement="Infinity".
  auto number = [&](Value value, const char *purpose, SourceRange place) {
    bool isText = llvm::isa<tok::StringType>(value.getType());
    return isText ? castTo(value, builder_.getF64Type(), place)
                  : convert(value, ParameterType::Double, purpose, place);
  };
  pattern = number(pattern, "'pattern' of 'replace'", call.arguments[1]->value->range());
  replacement =
      number(replacement, "'replacement' of 'replace'", call.arguments[2]->value->range());
  if (!target || !pattern || !replacement)
    return {};
  return builder_.create<tok::ReplaceOp>(call.location, matrixType(), target, pattern, replacement);
}

Value FunctionGenerator::emitRemoveEmpty(BuiltinCall &call) {
  Value target = call.operands[0], margin = call.operands[1], emptyReturn = call.operands[3];
  Value select = call.operands[2] ? call.operands[2] : none(call.location);
  if (isFrame(target))
    return native(call, "frame_remove_empty", frameType(), {target, margin, select, emptyReturn});
  target = convert(target, ParameterType::Matrix, "'target' of 'removeEmpty'",
                   call.arguments[0]->value->range());
  if (!target)
    return {};
  return builder_.create<tok::RemoveEmptyOp>(call.location, matrixType(), target, margin, select,
                                             emptyReturn);
}

// Converts all operands to frames and binds them by columns or rows.
Value FunctionGenerator::emitBindFrames(BuiltinCall &call) {
  for (auto [operand, argument] : llvm::zip(call.operands, call.arguments)) {
    if (llvm::isa<tok::ListType>(operand.getType())) {
      module_.error(argument->value->range(), "expected a frame, a matrix or a scalar for '" +
                                                  call.expression.callee() + "', got " +
                                                  describe(operand));
      return {};
    }
    operand = castTo(operand, frameType(), argument->value->range());
  }
  if (call.builtin.name == "cbind")
    return builder_.create<tok::CbindOp>(call.location, frameType(), call.operands);
  return builder_.create<tok::RbindOp>(call.location, frameType(), call.operands);
}

// transformencode(target, spec) and its relatives, whose target may be a matrix of numbers.
Value FunctionGenerator::emitTransform(BuiltinCall &call) {
  llvm::StringRef name = call.builtin.name;
  if (name == "transformencode" || name == "transformapply") {
    if (tok::isScalar(call.operands[0].getType()))
      return convert(call.operands[0], ParameterType::Frame, "'target' of '" + name.str() + "'",
                     call.arguments[0]->value->range());
    call.operands[0] = castTo(call.operands[0], frameType(), call.arguments[0]->value->range());
  }
  for (Value &operand : call.operands)
    if (!operand)
      operand = none(call.location);
  llvm::StringRef target = llvm::StringSwitch<llvm::StringRef>(name)
                               .Case("transformencode", "transform_encode")
                               .Case("transformapply", "transform_apply")
                               .Case("transformdecode", "transform_decode")
                               .Case("transformcolmap", "transform_column_map")
                               .Default("transform_mask");
  llvm::SmallVector<mlir::Type> types = {resultType(call)};
  if (name == "transformencode")
    types.push_back(frameType());
  return builder_.create<tok::CallNativeOp>(call.location, types, target, call.operands)
      .getResult(0);
}

} // namespace tokamak::frontend
