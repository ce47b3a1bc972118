// Calls of functions of the program, and evaluation and conversion of the arguments of builtins.
#include "frontend/dml/ArgumentValue.h"
#include "frontend/dml/FunctionGenerator.h"

#include "llvm/ADT/StringExtras.h"

namespace tokamak::frontend {

using mlir::Value;

namespace {

/// Parameters that defaults read before the variables of the caller, which come back at the end. No copy of all
/// variables: a long script has many, and many calls.
class BoundParameters {
public:
  explicit BoundParameters(Scope &scope) : scope_(scope) {}
  ~BoundParameters() {
    for (auto &[name, variable] : llvm::reverse(hidden_)) {
      if (variable)
        scope_[name] = *variable;
      else
        scope_.erase(name);
    }
  }
  BoundParameters(const BoundParameters &) = delete;
  BoundParameters &operator=(const BoundParameters &) = delete;

  void bind(const std::string &name, const Variable &variable) {
    auto place = scope_.find(name);
    hidden_.emplace_back(name, place == scope_.end() ? std::nullopt
                                                     : std::optional<Variable>(place->second));
    scope_[name] = variable;
  }

private:
  Scope &scope_;
  std::vector<std::pair<std::string, std::optional<Variable>>> hidden_;
};

} // namespace

Value FunctionGenerator::callForValue(const CallExpression &expression) {
  auto values = call(expression);
  if (!values)
    return {};
  if (values->empty()) {
    module_.error(expression.calleeRange(), "'" + expression.callee() + "' gives no value");
    return {};
  }
  return values->front();
}

std::optional<llvm::SmallVector<Value>> FunctionGenerator::call(const CallExpression &expression,
                                                                bool isStatement) {
  Callee callee = module_.loader().resolve(expression);
  if (callee.function)
    return callFunction(expression, *callee.function);
  if (!callee.builtin) {
    module_.reportUnknownFunction(expression, isStatement);
    // Report errors in the arguments as well.
    for (const CallArgument &argument : expression.arguments())
      generate(*argument.value);
    return std::nullopt;
  }
  if (callee.builtin->name == "onnx")
    return callModel(expression);
  Value value = callBuiltin(expression, *callee.builtin);
  // A native may have several results.
  if (auto native = value ? value.getDefiningOp<tok::CallNativeOp>() : tok::CallNativeOp())
    return llvm::SmallVector<Value>(native.getResults());
  if (value)
    return llvm::SmallVector<Value>{value};
  if (callee.builtin->result == BuiltinResult::None)
    return llvm::SmallVector<Value>();
  return std::nullopt;
}

//===-- Functions of the program --===//

std::optional<llvm::SmallVector<Value>>
FunctionGenerator::callFunction(const CallExpression &expression, const Function &function) {
  const FunctionDefinition &definition = *function.definition;
  if (!callFreeZone_.empty()) {
    module_
        .error(expression.calleeRange(),
               "a function can't be called in the head of '" + callFreeZone_.str() + "'")
        .note("assign its result to a variable before");
    return std::nullopt;
  }
  llvm::SmallVector<ParameterNames> names;
  for (const Parameter &parameter : definition.parameters)
    names.push_back({parameter.name, {}});
  auto slots =
      bindArguments(bindingOf(expression), names, PositionalArguments::ByPlaceInCall, module_);
  if (!slots)
    return std::nullopt;

  // Evaluate arguments in the order of the call, then defaults in the order of the parameters.
  Scope bound;
  bool isComplete = true;
  for (const CallArgument &argument : expression.arguments()) {
    size_t position = llvm::find(*slots, &argument) - slots->begin();
    const Parameter &parameter = definition.parameters[position];
    SourceRange place = argument.value->range();
    Value value = convertArgument(generate(*argument.value), parameter, function, place);
    isComplete &= value != nullptr;
    bound[parameter.name] = {value, place};
  }
  BoundParameters parameters(scope_);
  if (llvm::is_contained(*slots, nullptr))
    for (const auto &[name, variable] : bound)
      parameters.bind(name, variable);
  llvm::SmallVector<Value> operands;
  for (auto [parameter, slot] : llvm::zip(definition.parameters, *slots)) {
    if (!slot && !parameter.defaultValue) {
      module_
          .error(expression.calleeRange(),
                 "'" + expression.callee() + "' needs a value for '" + parameter.name + "'")
          .notes.push_back(module_.noteAt(parameter.nameRange, "the parameter has no default"));
      return std::nullopt;
    }
    if (!slot) {
      Value value = defaultValue(parameter, definition, bound);
      value = convertArgument(value, parameter, function, parameter.defaultValue->range());
      isComplete &= value != nullptr;
      bound[parameter.name] = {value, parameter.nameRange};
      parameters.bind(parameter.name, bound[parameter.name]);
    }
    operands.push_back(bound[parameter.name].value);
  }

  const GeneratedFunction &target = module_.functionFor(function);
  if (!isComplete || llvm::is_contained(target.resultTypes, mlir::Type()))
    return std::nullopt;
  mlir::func::FuncOp operation = target.operation;
  auto result = builder_.create<tok::CallOp>(location(expression.calleeRange()), target.resultTypes,
                                             operation.getSymName(), operands);
  return llvm::SmallVector<Value>(result.getResults());
}

Value FunctionGenerator::defaultValue(const Parameter &parameter,
                                      const FunctionDefinition &definition, const Scope &bound) {
  SourceRange place = parameter.defaultValue->range();
  if (llvm::is_contained(defaults_, &parameter)) {
    module_.error(place, "the default of '" + parameter.name + "' needs itself");
    return {};
  }
  NameSet missing;
  forEachRead(*parameter.defaultValue, flow_.resolve(), [&](const VariableRead &read) {
    bool isParameter = llvm::any_of(
        definition.parameters, [&](const Parameter &other) { return other.name == read.name; });
    if (isParameter && !bound.contains(read.name))
      missing.insert(read.name);
  });
  for (const std::string &name : missing)
    module_.error(place, "the default of '" + parameter.name + "' needs '" + name +
                             "', which has no value yet; expected parameters that are given or "
                             "stand before '" +
                             parameter.name + "'");
  if (!missing.empty())
    return {};
  defaults_.push_back(&parameter);
  Value value = generate(*parameter.defaultValue);
  defaults_.pop_back();
  return value;
}

void FunctionGenerator::checkDefaults(const Function &function, mlir::Block &block) {
  Scope bound;
  BoundParameters parameters(scope_);
  for (const Parameter &parameter : function.definition->parameters) {
    // Other names may be variables of a caller.
    NameSet names;
    if (parameter.defaultValue)
      forEachRead(*parameter.defaultValue, flow_.resolve(),
                  [&](const VariableRead &read) { names.insert(read.name); });
    bool isIndependent =
        llvm::all_of(names, [&](const std::string &name) { return bound.contains(name); });
    if (parameter.defaultValue && isIndependent)
      convertArgument(defaultValue(parameter, *function.definition, bound), parameter, function,
                      parameter.defaultValue->range());
    Value value =
        block.addArgument(module_.declaredType(parameter.type), location(parameter.nameRange));
    bound[parameter.name] = {value, parameter.nameRange};
    parameters.bind(parameter.name, bound[parameter.name]);
  }
}

Value FunctionGenerator::convertArgument(Value value, const Parameter &parameter,
                                         const Function &function, SourceRange place) {
  if (!value)
    return {};
  mlir::Type type = value.getType(), declared = module_.declaredType(parameter.type);
  // A text may hold a number, which shows when the program runs, unless it is written out.
  auto text = constantText(value);
  bool holdsNoNumber = text && (declared.isF64() || declared.isInteger(64)) &&
                       std::holds_alternative<std::string>(parseArgumentValue(text->trim()));
  bool fits = type == declared || (tok::isScalar(type) && tok::isScalar(declared));
  if (fits && !holdsNoNumber)
    return castTo(value, declared, place);
  module_
      .error(place, "parameter '" + parameter.name + "' of '" + function.displayName + "' is " +
                        tok::describeType(declared).str() + ", got " +
                        (holdsNoNumber ? "\"" + text->str() + "\"" : describe(value)))
      .notes.push_back(module_.noteAt(parameter.nameRange, "it is declared here"));
  return {};
}

//===-- Arguments of builtins --===//

std::optional<BuiltinCall> FunctionGenerator::evaluate(const CallExpression &expression,
                                                       const Builtin &builtin) {
  BuiltinCall result{expression, builtin, location(expression.calleeRange()), {}, {}};
  auto parameters = builtin.parameters();
  bool isVariadic = !parameters.empty() && parameters[0].presence == ParameterPresence::Variadic;
  bool isComplete = true;
  if (isVariadic) {
    for (const CallArgument &argument : expression.arguments()) {
      bool mayBeNamed =
          builtin.result == BuiltinResult::List || builtin.group == BuiltinGroup::SecondOrder;
      if (argument.isNamed() && !mayBeNamed) {
        module_.error(argument.nameRange,
                      "the arguments of '" + expression.callee() + "' have no names");
        isComplete = false;
      }
      Value value = convert(generate(*argument.value), parameters[0].type,
                            "'" + expression.callee() + "'", argument.value->range());
      isComplete &= value != nullptr;
      result.operands.push_back(value);
      result.arguments.push_back(&argument);
    }
    return isComplete ? std::optional(std::move(result)) : std::nullopt;
  }

  llvm::SmallVector<ParameterNames> names;
  for (const BuiltinParameter &parameter : parameters)
    names.push_back({parameter.name, parameter.otherName});
  auto slots = bindArguments(bindingOf(expression), names, PositionalArguments::InOrder, module_);
  if (!slots)
    return std::nullopt;
  result.operands.resize(parameters.size());
  result.arguments = *slots;
  for (const CallArgument &argument : expression.arguments()) {
    size_t position = llvm::find(*slots, &argument) - slots->begin();
    const BuiltinParameter &parameter = parameters[position];
    if (parameter.presence == ParameterPresence::Unsupported) {
      module_.unsupported(argument.isNamed() ? argument.nameRange : argument.value->range(),
                          "parameter '" + parameter.name.str() + "' of '" + expression.callee() +
                              "'");
      isComplete = false;
      continue;
    }
    std::string purpose = "'" + parameter.name.str() + "' of '" + expression.callee() + "'";
    Value value =
        convert(parameter.name == "schema" ? schema(*argument.value) : generate(*argument.value),
                parameter.type, purpose, argument.value->range());
    isComplete &= value != nullptr;
    result.operands[position] = value;
  }
  for (auto [parameter, slot, operand] : llvm::zip(parameters, *slots, result.operands)) {
    if (slot)
      continue;
    if (parameter.presence == ParameterPresence::Required) {
      module_.error(expression.calleeRange(), "'" + expression.callee() + "' needs a value for '" +
                                                  parameter.name.str() + "'");
      return std::nullopt;
    }
    if (parameter.presence == ParameterPresence::Default)
      operand = literal(parameter, result.location);
  }
  return isComplete ? std::optional(std::move(result)) : std::nullopt;
}

// Tensors go without saying: few programs have them.
static const char *nounOf(ParameterType type) {
  switch (type) {
  case ParameterType::Matrix:
  case ParameterType::Array:
    return "a matrix";
  case ParameterType::Cell:
  case ParameterType::Cells:
    return "a matrix or a number";
  case ParameterType::Scalar:
    return "a scalar";
  case ParameterType::Integer:
  case ParameterType::Double:
    return "a number";
  case ParameterType::Boolean:
    return "a boolean";
  case ParameterType::String:
    return "a string";
  case ParameterType::List:
    return "a list";
  case ParameterType::Frame:
    return "a frame";
  case ParameterType::Value:
    break;
  }
  return "a value";
}

Value FunctionGenerator::convert(Value value, ParameterType wanted, const std::string &purpose,
                                 SourceRange place) {
  if (!value)
    return {};
  mlir::Type type = value.getType();
  bool isNumber = tok::isNumber(type) || llvm::isa<tok::ScalarType>(type);
  switch (wanted) {
  case ParameterType::Value:
    return value;
  case ParameterType::Matrix:
  case ParameterType::Cell:
    if (tok::isTensor(type))
      break;
    [[fallthrough]];
  case ParameterType::Array:
  case ParameterType::Cells: {
    bool takesNumbers = wanted == ParameterType::Cell || wanted == ParameterType::Cells;
    if (tok::isArray(type) || (takesNumbers && isNumber))
      return value;
    break;
  }
  case ParameterType::Scalar:
    if (tok::isScalar(type))
      return value;
    break;
  case ParameterType::Integer:
    if (isNumber)
      return castTo(value, builder_.getI64Type(), place);
    break;
  case ParameterType::Double:
    if (isNumber)
      return castTo(value, builder_.getF64Type(), place);
    break;
  case ParameterType::Boolean:
    if (isNumber)
      return castTo(value, builder_.getI1Type(), place);
    break;
  case ParameterType::String:
    if (llvm::isa<tok::StringType, tok::ScalarType>(type))
      return castTo(value, tok::StringType::get(module_.context()), place);
    break;
  case ParameterType::List:
    if (llvm::isa<tok::ListType>(type))
      return value;
    break;
  case ParameterType::Frame:
    if (llvm::isa<tok::FrameType>(type))
      return value;
    break;
  }
  auto &error = module_.error(place, std::string("expected ") + nounOf(wanted) + " for " + purpose +
                                         ", got " + describe(value));
  bool wantsNumber = wanted == ParameterType::Integer || wanted == ParameterType::Double ||
                     wanted == ParameterType::Boolean || wanted == ParameterType::Scalar;
  if (tok::isTensor(type))
    error.note(std::string(noteOnTensors));
  else if (wantsNumber && tok::isArray(type))
    error.note("as.scalar turns a 1x1 matrix into a number");
  else if ((wanted == ParameterType::Matrix || wanted == ParameterType::Array) && isNumber)
    error.note("as.matrix turns a number into a 1x1 matrix");
  else if ((wanted == ParameterType::Matrix || wanted == ParameterType::Array) &&
           llvm::isa<tok::FrameType>(type))
    error.note("as.matrix makes a matrix of a frame of numbers");
  return {};
}

Value FunctionGenerator::literal(const BuiltinParameter &parameter, mlir::Location place) {
  llvm::StringRef text = parameter.defaultText;
  if (text.front() == '\'')
    return builder_.create<tok::ConstantOp>(place, text.drop_front().drop_back());
  if (text == "TRUE" || text == "FALSE")
    return builder_.create<tok::ConstantOp>(place, text == "TRUE");
  int64_t integer = 0;
  bool isInteger = !text.getAsInteger(10, integer);
  if (isInteger && parameter.type != ParameterType::Double)
    return constant(integer, place);
  double number = 0;
  text.getAsDouble(number);
  return builder_.create<tok::ConstantOp>(place, number);
}

} // namespace tokamak::frontend
