#include "api/Script.h"

#include "api/EmbeddedKernels.h"
#include "api/EmbeddedLibrary.h"
#include "base/Interrupt.h"
#include "base/NearestNames.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/Precision.h"
#include "ir/tok/TokDialect.h"
#include "runtime/image/DeepStack.h"

#include <atomic>
#include <fmt/format.h>
#include <sstream>

using namespace tokamak;
using namespace tokamak::api;
using runtime::Value;

namespace {

// A request to stop is for the calls that run when it is made.
class RunningCall {
public:
  RunningCall() {
    if (running.fetch_add(1) == 0)
      clearInterrupt();
  }
  ~RunningCall() { running.fetch_sub(1); }
  RunningCall(const RunningCall &) = delete;
  RunningCall &operator=(const RunningCall &) = delete;

private:
  static inline std::atomic<int> running = 0;
};

// With the sources that are not on disk.
std::unique_ptr<support::DiagnosticEngine> diagnosticsOf(const std::string &path,
                                                         const std::string &text) {
  auto diagnostics = std::make_unique<support::DiagnosticEngine>();
  diagnostics->addSource(path, text);
  for (const EmbeddedSource &source : embeddedLibrary())
    diagnostics->addSource({source.path.data(), source.path.size()},
                           {source.text.data(), source.text.size()});
  return diagnostics;
}

// Without the place in the function that passes the arguments on, which is in no file of the user.
support::Diagnostic shown(support::Diagnostic diagnostic) {
  auto forget = [](auto &placed) {
    if (placed.file.starts_with("eval(\"")) {
      placed.file.clear();
      placed.line = placed.column = 0;
    }
  };
  forget(diagnostic);
  llvm::for_each(diagnostic.notes, forget);
  return diagnostic;
}

std::string rendered(support::DiagnosticEngine &diagnostics,
                     const support::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream out(text);
  diagnostics.render(shown(diagnostic), out);
  return out.str();
}

ElementType cellTypeOf(std::span<const Script::Argument> arguments, Precision precision) {
  bool hasSingle = precision == Precision::Single, hasDouble = precision == Precision::Double;
  if (precision == Precision::Automatic)
    for (const Script::Argument &argument : arguments)
      if (argument.value.isArray()) {
        ElementType type = argument.value.array()->elementType();
        hasDouble |= type == ElementType::F64;
        hasSingle |= isFloat(type) && type != ElementType::F64;
      }
  return hasSingle && !hasDouble ? ElementType::F32 : ElementType::F64;
}

Value scalarOf(const runtime::Array &array) {
  double cell = array.shape().rank() == 2
                    ? array.at(0, 0)
                    : runtime::Array::withElementType(array.copy(), ElementType::F64)->data()[0];
  if (array.elementType() == ElementType::Bool)
    return cell != 0;
  if (isFloat(array.elementType()))
    return cell;
  return static_cast<int64_t>(cell);
}

} // namespace

//===- functions -----------------------------------------------------------------------------===//

size_t Script::Function::placeOf(const Argument &argument, size_t position) const {
  const auto &parameters = signature_.parameters;
  if (argument.name.empty()) {
    if (position < parameters.size())
      return position;
    throw Error(fmt::format("{} takes {} argument{}, but {} were given", signature_.name,
                            parameters.size(), parameters.size() == 1 ? "" : "s", position + 1))
        .note(signature_.text());
  }
  std::vector<std::string> names;
  for (size_t place = 0; place < parameters.size(); ++place) {
    if (parameters[place].name == argument.name)
      return place;
    names.push_back(parameters[place].name);
  }
  Error error(fmt::format("{} has no parameter '{}'", signature_.name, argument.name));
  std::vector<std::string> near = nearestCandidates(argument.name, names);
  if (!near.empty())
    error.note(fmt::format("did you mean '{}'?", near.front()));
  throw error.note(signature_.text());
}

// A matrix of cells of this type, or the number that the array of no dimensions is. `what`: the argument, for messages.
static Value matrixOf(const runtime::ArrayReference &array, ElementType type,
                      const std::string &what) {
  const runtime::Shape &shape = array->shape();
  if (shape.rank() > 2)
    throw Error(fmt::format("a matrix has two dimensions, {} has size {}", what, shape.text()))
        .note("give it one row for each first index, as reshape(n, -1) does in NumPy");
  if (shape.rank() == 0)
    return scalarOf(*array);
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

Value Script::Function::converted(Value value,
                                  const frontend::FunctionSignature::Parameter &parameter,
                                  ElementType type) const {
  using frontend::DeclaredDataType;
  using frontend::DeclaredValueType;
  bool wantsScalar = parameter.type.dataType == DeclaredDataType::Scalar;
  auto refuse = [&](const std::string &given) -> Error {
    return Error(fmt::format("{}: '{}' is of type {}, got {}", signature_.name, parameter.name,
                             parameter.typeText(), given))
        .note(signature_.text());
  };
  if (parameter.type.dataType == DeclaredDataType::List ? !value.isList()
                                                        : wantsScalar && value.isList())
    throw refuse(std::string(value.describe()));
  if (parameter.type.dataType == DeclaredDataType::Matrix && value.isString())
    throw refuse("a string");
  if (value.isList())
    return listOf(*value.list(), type, parameter.name);
  if (value.isArray() && wantsScalar) {
    if (value.array()->cells() != 1)
      throw refuse(fmt::format("an array of size {}", value.array()->shape().text()));
    value = scalarOf(*value.array());
  } else if (value.isArray()) {
    value = matrixOf(value.array(), type, parameter.name);
  }
  if (!wantsScalar)
    return value;
  // One compiled function serves calls with 5 and with 5.0.
  if (parameter.type.valueType == DeclaredValueType::Double && value.isInteger())
    return value.asDouble();
  if (parameter.type.valueType == DeclaredValueType::Integer && value.isDouble() &&
      value.asDouble() == static_cast<double>(value.asInteger()))
    return value.asInteger();
  return value;
}

Script::Function::Bound Script::Function::bind(std::span<Argument> arguments) const {
  const auto &parameters = signature_.parameters;
  ElementType type = cellTypeOf(arguments, script_.options_.precision);
  Bound bound;
  bound.singlePrecision = type == ElementType::F32;
  bound.values.resize(parameters.size());
  bound.key.assign(parameters.size() + 1, ' ');
  bound.key.back() = bound.singlePrecision ? 's' : 'd';
  for (size_t position = 0; position < arguments.size(); ++position) {
    Argument &argument = arguments[position];
    size_t place = placeOf(argument, position);
    if (bound.key[place] != ' ')
      throw Error(fmt::format("{}: the argument '{}' is given twice", signature_.name,
                              parameters[place].name));
    Value &value = bound.values[place];
    value = converted(std::move(argument.value), parameters[place], type);
    bound.key[place] = static_cast<char>('a' + static_cast<int>(kindOf(value)));
  }
  for (size_t place = 0; place < parameters.size(); ++place)
    if (bound.key[place] == ' ' && !parameters[place].defaultText)
      throw Error(
          fmt::format("{}: the argument '{}' is missing", signature_.name, parameters[place].name))
          .note(signature_.text());
  return bound;
}

// Nothing has run: the mistake is the caller's.
Script::Function::Bound Script::Function::boundOrRejected(std::span<Argument> arguments) const {
  try {
    return bind(arguments);
  } catch (const Error &error) {
    throw Rejected(error.message(), script_.describe(error));
  }
}

std::unique_ptr<CompiledFunction> Script::Function::compile(const Bound &bound,
                                                            exec::ProgramOptions program) const {
  frontend::LateCall call{
      signature_.name, script_.path_, {}, frontend::LateCall::Result::AllAsList};
  for (size_t place = 0; place < bound.values.size(); ++place)
    if (!bound.values[place].isNothing())
      call.arguments.push_back({kindOf(bound.values[place]), signature_.parameters[place].name});
  ScriptOptions options = script_.compileOptions_;
  options.singlePrecision = bound.singlePrecision;
  options.program = std::move(program);
  auto diagnostics = diagnosticsOf(script_.path_, script_.text_);
  auto made = CompiledFunction::compile(script_.text_, call, options, *diagnostics);
  if (!made)
    script_.reject(*diagnostics);
  return made;
}

CompiledFunction &Script::Function::compiled(const Bound &bound) {
  auto find = [&]() -> CompiledFunction * {
    for (const auto &[key, function] : compiled_)
      if (key == bound.key)
        return function.get();
    return nullptr;
  };
  {
    std::shared_lock lock(mutex_);
    if (CompiledFunction *known = find())
      return *known;
  }
  std::lock_guard lock(mutex_);
  if (CompiledFunction *known = find())
    return *known;
  auto made = compile(bound, script_.compileOptions_.program);
  return *compiled_.emplace_back(bound.key, std::move(made)).second;
}

std::shared_ptr<const runtime::List> Script::Function::run(CompiledFunction &compiled,
                                                           Bound bound) const {
  RunningCall running;
  Script::Output output(script_);
  runtime::ExecutionContext context = script_.context(*output);
  std::erase_if(bound.values, [](const Value &value) { return value.isNothing(); });
  try {
    return compiled.call(std::move(bound.values), context).at(0).list();
  } catch (const Error &error) {
    throw withoutEntry(error);
  }
}

std::shared_ptr<const runtime::List> Script::Function::call(std::span<Argument> arguments) {
  Bound bound = boundOrRejected(arguments);
  CompiledFunction &function = compiled(bound);
  return run(function, std::move(bound));
}

std::string Script::Function::explain(std::span<Argument> arguments,
                                      const exec::Explanations &explain) {
  Bound bound = boundOrRejected(arguments);
  std::ostringstream text;
  exec::ProgramOptions program = script_.compileOptions_.program;
  program.explain = explain;
  program.explanations = &text;
  std::unique_ptr<CompiledFunction> function = compile(bound, program);
  run(*function, std::move(bound));
  return text.str();
}

//===- scripts -------------------------------------------------------------------------------===//

static ScriptOptions compileOptions(const std::string &path, const RunOptions &options) {
  ScriptOptions result;
  result.path = path;
  result.import = importOptions(options.libraries);
  result.program.builtInKernels = &embeddedKernels();
  result.program.firstTier = pipeline::Tier::BuiltIn;
  result.program.threads = options.threads > 0 ? options.threads : runtime::usableThreads();
  result.program.cacheFolder = cacheFolder(options.cacheFolder);
  result.program.disabled = options.disabled;
  result.program.warn = options.warn;
  return result;
}

Script::Script(std::string path, std::string text, RunOptions options)
    : path_(std::move(path)), text_(std::move(text)), options_(std::move(options)),
      compileOptions_(compileOptions(path_, options_)), scheduler_(options_.threads, options_.warn),
      named_(compileOptions_, text_) {
  auto diagnostics = diagnosticsOf(path_, text_);
  frontend::SourceManager sources;
  std::vector<frontend::FunctionSignature> signatures;
  runtime::runOnDeepStack([&] {
    signatures =
        frontend::signaturesOf(sources, path_, text_, compileOptions_.import, *diagnostics);
  });
  if (diagnostics->hasErrors())
    reject(*diagnostics);
  for (frontend::FunctionSignature &signature : signatures)
    functions_.emplace_back(*this, std::move(signature));
}

Script::Function &Script::function(const std::string &name) {
  std::lock_guard lock(mutex_);
  for (std::deque<Function> *known : {&functions_, &ofLibrary_})
    for (Function &function : *known)
      if (function.signature().name == name)
        return function;
  auto diagnostics = diagnosticsOf(path_, text_);
  frontend::SourceManager sources;
  auto found =
      frontend::signatureOf(sources, path_, text_, name, compileOptions_.import, *diagnostics);
  if (diagnostics->hasErrors())
    reject(*diagnostics);
  if (found)
    return ofLibrary_.emplace_back(*this, std::move(*found));
  std::vector<std::string> names = compileOptions_.import.libraryNames;
  for (const Function &function : functions_)
    names.push_back(function.signature().name);
  Error error(fmt::format("neither the script nor the library has a function '{}'", name));
  std::vector<std::string> near = nearestCandidates(name, names);
  if (!near.empty())
    error.note(fmt::format("did you mean '{}'?", near.front()));
  throw error;
}

Script::Output::Output(Script &script) : script_(script) {
  std::lock_guard lock(script.mutex_);
  if (script.idleOutputs_.empty()) {
    stream_ = std::make_unique<OutputStream>(script.options_.output);
  } else {
    stream_ = std::move(script.idleOutputs_.back());
    script.idleOutputs_.pop_back();
  }
}

Script::Output::~Output() {
  stream_->flush();
  std::lock_guard lock(script_.mutex_);
  script_.idleOutputs_.push_back(std::move(stream_));
}

Script::~Script() = default;

runtime::ExecutionContext Script::context(std::ostream &output) {
  runtime::ExecutionContext context;
  context.output = &output;
  context.scheduler = &scheduler_;
  context.functions = &named_;
  context.seed = options_.seed;
  return context;
}

void Script::run(const std::map<std::string, std::string> &arguments) {
  auto diagnostics = diagnosticsOf(path_, text_);
  frontend::ImportOptions import = compileOptions_.import;
  import.arguments = arguments;
  mlir::MLIRContext mlir(mlir::MLIRContext::Threading::DISABLED);
  mlir.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  mlir.printOpOnDiagnostic(false);
  frontend::SourceManager sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::runOnDeepStack(
      [&] { module = frontend::importDml(sources, path_, text_, import, mlir, *diagnostics); });
  if (!module)
    reject(*diagnostics);
  if (options_.precision == Precision::Single)
    tok::useSinglePrecision(*module);
  std::unique_ptr<exec::Program> program;
  {
    support::MlirDiagnosticForwarder forwarder(&mlir, *diagnostics);
    program = exec::Program::compile(*module, compileOptions_.program);
  }
  if (!program)
    reject(*diagnostics);
  RunningCall running;
  Output output(*this);
  runtime::ExecutionContext execution = context(*output);
  program->run(execution);
}

void Script::reject(support::DiagnosticEngine &diagnostics) {
  std::optional<support::Diagnostic> first;
  std::string text;
  for (const support::Diagnostic *diagnostic : diagnostics.sorted()) {
    text += rendered(diagnostics, *diagnostic);
    if (!first && diagnostic->severity == support::Severity::Error)
      first = shown(*diagnostic);
  }
  Rejected rejected(first->message, text);
  rejected.at({first->file, static_cast<int>(first->line), static_cast<int>(first->column)});
  throw rejected;
}

std::string Script::describe(const Error &error) {
  support::Diagnostic diagnostic;
  const SourcePlace &place = error.place();
  diagnostic.file = place.file;
  diagnostic.line = place.line;
  diagnostic.column = place.column;
  diagnostic.message =
      (error.kind() == ErrorKind::Internal ? "internal error: " : "") + error.message();
  for (const std::string &note : error.notes())
    diagnostic.note(note);
  for (const SourcePlace &caller : error.callStack())
    diagnostic.notes.push_back(
        {"called from here", caller.file, uint32_t(caller.line), uint32_t(caller.column)});
  return rendered(*diagnosticsOf(path_, text_), diagnostic);
}

exec::RunCounts Script::counts() {
  std::lock_guard lock(mutex_);
  exec::RunCounts sum;
  for (std::deque<Function> *known : {&functions_, &ofLibrary_})
    for (Function &function : *known) {
      std::shared_lock functionLock(function.mutex_);
      for (const auto &[key, compiled] : function.compiled_) {
        exec::RunCounts counts = compiled->counts();
        sum.specializations += counts.specializations;
        sum.plansLoaded += counts.plansLoaded;
        sum.specializationTime += counts.specializationTime;
        sum.kernelsCompiled += counts.kernelsCompiled;
        sum.kernelsReused += counts.kernelsReused;
        sum.kernelsLoaded += counts.kernelsLoaded;
        sum.kernelsBuiltIn += counts.kernelsBuiltIn;
        sum.kernelTime += counts.kernelTime;
        sum.materializedArrays += counts.materializedArrays;
      }
    }
  return sum;
}
