// Builtins that read and write files, and that print.
#include "frontend/dml/FunctionGenerator.h"

#include "base/Error.h"
#include "base/FileFormats.h"
#include "base/NearestNames.h"

#include "llvm/ADT/StringSwitch.h"

namespace tokamak::frontend {

using mlir::Value;

// The data or value type of a file: the argument of read or, without one, the metadata beside the
// file.
static std::optional<std::string> declared(Value argument,
                                           const std::optional<std::string> &inMetadata) {
  if (auto text = argument ? constantText(argument) : std::nullopt)
    return text->str();
  return inMetadata;
}

bool FunctionGenerator::refuseTensor(BuiltinCall &call, size_t position) {
  if (!tok::isTensor(call.operands[position].getType()))
    return true;
  module_
      .error(placeOf(*call.arguments[position]),
             "'" + call.expression.callee() + "' is not defined for a tensor")
      .note(std::string(noteOnTensors));
  return false;
}

// An unknown format is an error even in code that never runs. A format that exists but can't be
// read or written is an error only where control reaches it (ReadOp::checkFacts), because scripts
// choose formats by conditions.
bool FunctionGenerator::checkFormat(BuiltinCall &call, size_t position) {
  auto format = call.operands[position] ? constantText(call.operands[position]) : std::nullopt;
  if (!format || llvm::is_contained(knownFormats(), formatNamed(*format)))
    return true;
  module_.error(placeOf(*call.arguments[position]), "unknown format '" + format->str() + "'")
      .candidates = nearestCandidates(formatNamed(*format), knownFormats());
  return false;
}

Value FunctionGenerator::emitWrite(BuiltinCall &call) {
  enum { Content, Path, Format };
  if (!refuseTensor(call, Content) || !checkFormat(call, Format))
    return {};
  return emitOperation(call);
}

Value FunctionGenerator::emitRead(BuiltinCall &call) {
  enum { Path, Format, DataType = 5, ValueType = 6, OperandCount = 17 };
  call.operands.resize(std::max<size_t>(call.operands.size(), OperandCount));
  call.arguments.resize(call.operands.size());
  if (call.builtin.name == "readMM")
    call.operands[Format] = builder_.create<tok::ConstantOp>(call.location, llvm::StringRef("mm"));
  if (!checkFormat(call, Format))
    return {};
  MatrixMetadata metadata;
  if (auto path = constantText(call.operands[Path])) {
    try {
      metadata = module_.options().metadata(path->str()).value_or(MatrixMetadata());
    } catch (const Error &problem) {
      module_.error(placeOf(*call.arguments[Path]), problem.message());
      return {};
    }
  }
  std::string dataType = declared(call.operands[DataType], metadata.dataType).value_or("matrix");
  std::string valueType = declared(call.operands[ValueType], metadata.valueType).value_or("");
  // The scalar's type stays unknown here if it is in metadata that the program itself writes.
  mlir::Type type = llvm::StringSwitch<mlir::Type>(valueType)
                        .Case("double", builder_.getF64Type())
                        .Case("int", builder_.getI64Type())
                        .Case("boolean", builder_.getI1Type())
                        .Case("string", tok::StringType::get(module_.context()))
                        .Default(scalarType());
  SourceRange place =
      call.arguments[DataType] ? placeOf(*call.arguments[DataType]) : call.expression.calleeRange();
  if (dataType == "matrix") {
    type = matrixType();
  } else if (dataType == "list") {
    type = listType();
  } else if (dataType == "frame") {
    type = frameType();
  } else if (dataType != "scalar") {
    const std::string known[] = {"matrix", "scalar", "frame", "list"};
    auto &error = module_.error(place, "unknown data type '" + dataType + "'");
    error.candidates = nearestCandidates(dataType, known);
    if (!call.arguments[DataType])
      error.note("it stands in '" + constantText(call.operands[Path])->str() + ".mtd'");
    return {};
  }
  // The types assumed here become operands of the operation, which checks them when it reads the
  // file.
  llvm::SmallVector<Value> operands(call.operands.begin(), call.operands.begin() + OperandCount);
  auto text = [&](const std::string &value) {
    return builder_.create<tok::ConstantOp>(call.location, llvm::StringRef(value));
  };
  operands[DataType] = text(dataType);
  if (dataType == "scalar" && !valueType.empty())
    operands[ValueType] = text(valueType);
  for (Value &operand : operands)
    if (!operand)
      operand = none(call.location);
  mlir::OperationState state(call.location, tok::ReadOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(type);
  return builder_.create(state)->getResult(0);
}

Value FunctionGenerator::emitPrint(BuiltinCall &call) {
  if (call.operands.empty()) {
    module_.error(call.expression.calleeRange(), "'print' needs a value");
    return {};
  }
  if (call.operands.size() > 1 && !llvm::isa<StringLiteral>(*call.arguments[0]->value)) {
    module_.error(placeOf(*call.arguments[0]),
                  "with several arguments, the first one of 'print' must be a "
                  "string literal: the format");
    return {};
  }
  warnOfUnusedValues(call);
  builder_.create<tok::PrintOp>(call.location, call.operands);
  return {};
}

// In other languages, print("total", x) prints both.
void FunctionGenerator::warnOfUnusedValues(const BuiltinCall &call) {
  auto *format = llvm::dyn_cast<StringLiteral>(call.arguments[0]->value);
  if (call.operands.size() < 2 || !format || llvm::StringRef(format->value()).contains('%'))
    return;
  module_
      .warning(placeOf(*call.arguments[1]),
               "'print' does not show this: the first argument is a format, without a place for it")
      .note("write print(\"%s is %s\", a, b), or join texts: print(a + \" is \" + b)");
}

} // namespace tokamak::frontend
