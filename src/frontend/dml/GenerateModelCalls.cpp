// Calls of models: onnx("net.onnx", X).
#include "frontend/dml/FunctionGenerator.h"
#include "frontend/dml/ModelBorder.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/file/TypeText.h"

#include "llvm/Support/Path.h"

namespace tokamak::frontend {

using mlir::Value;

std::optional<llvm::SmallVector<Value>>
FunctionGenerator::callModel(const CallExpression &expression) {
  if (!callFreeZone_.empty()) {
    module_
        .error(expression.calleeRange(),
               "a model can't be called in the head of '" + callFreeZone_.str() + "'")
        .note("assign its result to a variable before");
    return std::nullopt;
  }
  llvm::ArrayRef<CallArgument> arguments = expression.arguments();
  if (arguments.empty() || arguments[0].isNamed()) {
    module_.error(expression.calleeRange(), "'onnx' needs the path of a model before its inputs");
    return std::nullopt;
  }
  SourceRange place = arguments[0].value->range();
  Value path = generate(*arguments[0].value);
  auto text = path ? constantText(path) : std::nullopt;
  if (path && !text)
    module_
        .error(place, "the path of a model must be known before the run, got " +
                          tok::describeType(path.getType()).str())
        .note("write it as a string, or as a $ argument");
  const CalledModel *model =
      text ? module_.modelAt(module_.loader().pathIn(place.file, text->str()), place) : nullptr;
  if (!model) {
    // Report errors in the inputs as well.
    for (const CallArgument &argument : arguments.drop_front())
      generate(*argument.value);
    return std::nullopt;
  }
  std::string name = "'" + llvm::sys::path::filename(model->file.path()).str() + "'";
  std::optional<llvm::SmallVector<Value>> operands = modelOperands(
      {name, expression.calleeRange(), arguments.drop_front(), "input", "input"}, *model);
  if (!operands)
    return std::nullopt;
  onnx::GraphBuilder graph(builder_);
  graph.setLocation(location(expression.calleeRange()));
  mlir::func::FuncOp callee = model->operation;
  auto call = graph.builder().create<tok::CallOp>(graph.location(), callee.getResultTypes(),
                                                  callee.getSymName(), *operands);
  llvm::SmallVector<Value> results;
  for (Value result : call.getResults())
    results.push_back(scriptValue(result, graph));
  return results;
}

std::optional<llvm::SmallVector<Value>> FunctionGenerator::modelOperands(const CallToBind &call,
                                                                         const CalledModel &model) {
  std::vector<std::string> names;
  for (const onnx::ValueInfo *input : model.inputs)
    names.push_back(onnx::printableName(input->name));
  llvm::SmallVector<ParameterNames> parameters;
  for (const std::string &name : names)
    parameters.push_back({name, {}});
  auto slots = bindArguments(call, parameters, PositionalArguments::ByPlaceInCall, module_);
  if (!slots)
    return std::nullopt;
  mlir::func::FuncOp callee = model.operation;
  llvm::SmallVector<Value> operands(model.inputs.size());
  // In the order of the call.
  for (const CallArgument &argument : call.arguments) {
    size_t position = llvm::find(*slots, &argument) - slots->begin();
    const onnx::Type &type = model.inputs[position]->type;
    auto array = llvm::cast<mlir::RankedTensorType>(callee.getArgumentTypes()[position]);
    operands[position] =
        modelOperand(*argument.value, type, array.getElementType(),
                     "input '" + names[position] + "' of " + call.name, location(call.place));
  }
  for (auto [position, slot] : llvm::enumerate(*slots))
    if (!slot) {
      module_.error(call.place, call.name + " needs a value for its input '" + names[position] +
                                    "', " + onnx::typeText(model.inputs[position]->type));
      return std::nullopt;
    }
  bool isComplete = !llvm::is_contained(operands, Value());
  return isComplete ? std::optional(std::move(operands)) : std::nullopt;
}

// A value, or list(X, 3, 48, 192): with the sizes behind the first. Null after errors.
Value FunctionGenerator::modelOperand(const Expression &argument, const onnx::Type &type,
                                      mlir::Type element, const std::string &name,
                                      mlir::Location place) {
  std::string what = name + " is " + onnx::typeText(type);
  const Expression *array = &argument;
  llvm::SmallVector<Value> sizes;
  const auto *list = llvm::dyn_cast<CallExpression>(&argument);
  if (list && list->callee() == "list" && !list->arguments().empty()) {
    array = list->arguments().front().value;
    for (const CallArgument &size : llvm::drop_begin(list->arguments()))
      sizes.push_back(convert(generate(*size.value), ParameterType::Integer, "a size of " + name,
                              size.value->range()));
    if (llvm::is_contained(sizes, Value()))
      return {};
    if (sizes.size() + 1 != type.shape->size()) {
      module_.error(argument.range(),
                    what + ", got " + std::to_string(sizes.size()) + " sizes behind the matrix");
      return {};
    }
  }
  Value value = generate(*array);
  Value matrix = value ? asMatrix(value, array->range()) : Value();
  if (value && !matrix)
    module_.error(array->range(), what + ", got " + describe(value));
  if (!matrix)
    return {};
  if (sizes.empty() && !areToldByColumns(*type.shape)) {
    module_
        .error(array->range(),
               what + ": columns of a matrix can't tell more than one size that is not known")
        .note("give all sizes but the first with it, as in list(X, 3, 48, 192)");
    return {};
  }
  onnx::GraphBuilder graph(builder_);
  graph.setLocation(place);
  return modelInput(matrix, *type.shape, sizes, element, graph);
}

// A number is a matrix of one cell. Null for what is neither.
Value FunctionGenerator::asMatrix(Value value, SourceRange place) {
  mlir::Type type = value.getType();
  if (tok::isArray(type))
    return value;
  if (!tok::isNumber(type) && !llvm::isa<tok::ScalarType>(type))
    return {};
  Value one = constant(1, location(place));
  return builder_.create<tok::FillOp>(location(place), matrixType(),
                                      castTo(value, builder_.getF64Type(), place), one, one);
}

} // namespace tokamak::frontend
