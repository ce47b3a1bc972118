#include "api/ScriptFunction.h"

#include <fmt/format.h>
#include <sstream>
#include <utility>

using namespace tokamak;
using namespace tokamak::api;
using runtime::Value;

//===- arguments -----------------------------------------------------------------------------===//

static Signature signatureOf(const frontend::FunctionSignature &function) {
  Signature signature{function.name, {}, {}, function.comment};
  for (const auto &parameter : function.parameters)
    signature.parameters.push_back({parameter.name, parameter.typeText(), parameter.defaultText});
  for (const auto &result : function.outputs)
    signature.results.push_back({result.name, result.typeText()});
  return signature;
}

ScriptFunction::ScriptFunction(Script &script, const frontend::FunctionSignature &signature)
    : Function(signatureOf(signature)), script_(script) {
  for (const auto &parameter : signature.parameters)
    types_.push_back(parameter.type);
}

// Which floats there are, in lists, too.
static void findFloats(const Value &value, bool &hasSingle, bool &hasDouble) {
  if (value.isList())
    for (const Value &element : value.list()->elements)
      findFloats(element, hasSingle, hasDouble);
  if (!value.isArray() || !isFloat(value.array()->elementType()))
    return;
  (value.array()->elementType() == ElementType::F64 ? hasDouble : hasSingle) = true;
}

static ElementType cellTypeOf(std::span<const Argument> arguments, Precision precision) {
  bool hasSingle = precision == Precision::Single, hasDouble = precision == Precision::Double;
  if (precision == Precision::Automatic)
    for (const Argument &argument : arguments)
      findFloats(argument.value, hasSingle, hasDouble);
  return hasSingle && !hasDouble ? ElementType::F32 : ElementType::F64;
}

// The only cell; integers stay exact.
static Value scalarOf(const runtime::ArrayReference &array) {
  runtime::ArrayReference dense = runtime::Array::asDense(array);
  if (isFloat(dense->elementType()))
    return runtime::Array::withElementType(dense, ElementType::F64)->data()[0];
  return withCellType(dense->elementType(), [&]<typename Cell>() -> Value {
    if constexpr (std::is_same_v<Cell, bool>) {
      return *dense->cellsAs<bool>();
    } else if constexpr (!isFloatCell<Cell>) {
      Cell cell = *dense->cellsAs<Cell>();
      if (!std::in_range<int64_t>(cell))
        throw Error(fmt::format("the integer {} doesn't fit 64 bits with a sign", cell));
      return static_cast<int64_t>(cell);
    }
    internalError("an array of integers has floats");
  });
}

// A matrix of cells of this type, or the number that the array of no dimensions is. `what`: the argument, for messages.
static Value matrixOf(const runtime::ArrayReference &array, ElementType type,
                      const std::string &what) {
  const runtime::Shape &shape = array->shape();
  if (shape.rank() > 2)
    throw Error(fmt::format("a matrix has two dimensions, {} has size {}", what, shape.text()))
        .note("give it one row for each first index, as reshape(n, -1) does in NumPy");
  if (shape.rank() == 0)
    return scalarOf(array);
  return runtime::Array::withElementType(shape.rank() == 1 ? array->reshaped({shape[0], 1}) : array,
                                         type);
}

static Value listOf(const runtime::List &given, ElementType type, const std::string &what) {
  auto list = std::make_shared<runtime::List>(given);
  for (Value &element : list->elements) {
    if (element.isList())
      element = listOf(*element.list(), type, what);
    else if (element.isArray())
      element = matrixOf(element.array(), type, "an element of " + what);
  }
  return Value(std::shared_ptr<const runtime::List>(std::move(list)));
}

Value ScriptFunction::converted(Value value, size_t place, ElementType type) const {
  using frontend::DeclaredDataType;
  using frontend::DeclaredValueType;
  const Signature::Parameter &parameter = signature().parameters[place];
  const frontend::DeclaredType &declared = types_[place];
  bool wantsScalar = declared.dataType == DeclaredDataType::Scalar;
  auto refuse = [&](const std::string &given) -> Error {
    return Error(fmt::format("{}: '{}' is of type {}, got {}", signature().name, parameter.name,
                             parameter.type, given))
        .note(signature().text());
  };
  if (declared.dataType == DeclaredDataType::List ? !value.isList() : wantsScalar && value.isList())
    throw refuse(std::string(value.describe()));
  if (declared.dataType == DeclaredDataType::Matrix && value.isString())
    throw refuse("a string");
  if (value.isList())
    return listOf(*value.list(), type, parameter.name);
  if (value.isArray() && wantsScalar) {
    if (value.array()->cells() != 1)
      throw refuse(fmt::format("an array of size {}", value.array()->shape().text()));
    value = scalarOf(value.array());
  } else if (value.isArray()) {
    value = matrixOf(value.array(), type, parameter.name);
  }
  if (!wantsScalar)
    return value;
  // One compiled function serves calls with 5 and with 5.0.
  if (declared.valueType == DeclaredValueType::Double && value.isInteger())
    return value.asDouble();
  if (declared.valueType == DeclaredValueType::Integer && value.isDouble() &&
      value.asDouble() == static_cast<double>(value.asInteger()))
    return value.asInteger();
  return value;
}

ScriptFunction::Bound ScriptFunction::bind(std::span<Argument> arguments) const {
  const auto &parameters = signature().parameters;
  ElementType type = cellTypeOf(arguments, script_.options_.precision);
  Bound bound;
  bound.singlePrecision = type == ElementType::F32;
  bound.values.resize(parameters.size());
  std::vector<bool> given(parameters.size());
  bound.key.assign(parameters.size() + 1, ' ');
  bound.key.back() = bound.singlePrecision ? 's' : 'd';
  for (size_t position = 0; position < arguments.size(); ++position) {
    Argument &argument = arguments[position];
    size_t place = signature().take(argument, position, given);
    Value &value = bound.values[place];
    value = converted(std::move(argument.value), place, type);
    bound.key[place] = static_cast<char>('a' + static_cast<int>(kindOf(value)));
  }
  signature().checkComplete(given);
  return bound;
}

//===- calls ---------------------------------------------------------------------------------===//

std::unique_ptr<CompiledFunction> ScriptFunction::compile(const Bound &bound,
                                                          exec::ProgramOptions program) const {
  frontend::LateCall call{
      signature().name, script_.path_, {}, frontend::LateCall::Result::AllAsList};
  for (size_t place = 0; place < bound.values.size(); ++place)
    if (!bound.values[place].isNothing())
      call.arguments.push_back({kindOf(bound.values[place]), signature().parameters[place].name});
  ScriptOptions options = script_.compileOptions_;
  options.singlePrecision = bound.singlePrecision;
  options.program = std::move(program);
  auto diagnostics = script_.diagnostics();
  auto made = CompiledFunction::compile(script_.text_, call, options, *diagnostics);
  if (!made)
    script_.reject(*diagnostics);
  return made;
}

CompiledFunction &ScriptFunction::compiled(const Bound &bound) {
  auto find = [&]() -> CompiledFunction * {
    for (const auto &[key, function] : compiled_)
      if (key == bound.key)
        return function.get();
    return nullptr;
  };
  return findOrMake(mutex_, find, [&] {
    auto made = compile(bound, script_.compileOptions_.program);
    return compiled_.emplace_back(bound.key, std::move(made)).second.get();
  });
}

std::shared_ptr<const runtime::List> ScriptFunction::run(CompiledFunction &compiled,
                                                         Bound bound) const {
  Program::Run run(script_, &script_.named_);
  std::erase_if(bound.values, [](const Value &value) { return value.isNothing(); });
  try {
    return compiled.call(std::move(bound.values), run.context).at(0).list();
  } catch (const Error &error) {
    throw withoutEntry(error);
  }
}

std::shared_ptr<const runtime::List> ScriptFunction::call(std::span<Argument> arguments) {
  Bound bound = script_.orRejected([&] { return bind(arguments); });
  CompiledFunction &function = compiled(bound);
  return run(function, std::move(bound));
}

std::string ScriptFunction::explain(std::span<Argument> arguments,
                                    const exec::Explanations &explain) {
  Bound bound = script_.orRejected([&] { return bind(arguments); });
  std::ostringstream text;
  std::unique_ptr<CompiledFunction> function = compile(bound, script_.explaining(explain, text));
  run(*function, std::move(bound));
  return text.str();
}

exec::RunCounts ScriptFunction::counts() {
  std::shared_lock lock(mutex_);
  exec::RunCounts sum;
  for (const auto &[key, function] : compiled_)
    addCounts(function->counts(), sum);
  return sum;
}
