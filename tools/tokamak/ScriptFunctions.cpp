#include "tokamak/ScriptFunctions.h"

#include "base/Error.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/Precision.h"
#include "ir/tok/TokDialect.h"
#include "reference/Interpreter.h"
#include "runtime/image/DeepStack.h"
#include "runtime/image/Profile.h"
#include "support/SourceDiagnostics.h"

#include <fmt/format.h>

using namespace tokamak;

using Kind = frontend::LateCall::Kind;

// A module with one public function, and what it needs.
struct ScriptFunctions::Compiled {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  frontend::SourceManager sources;
  support::DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<exec::Program> program; // null with the reference engine
};

namespace {

Kind kindOf(const runtime::Value &value) {
  if (value.isArray())
    return Kind::Matrix;
  if (value.isFrame())
    return Kind::Frame;
  if (value.isList())
    return Kind::List;
  if (value.isString())
    return Kind::String;
  if (value.isBoolean())
    return Kind::Boolean;
  if (value.isInteger())
    return Kind::Integer;
  if (value.isDouble())
    return Kind::Double;
  throw Error(fmt::format("eval: expected a value, got {}", value.describe()));
}

frontend::LateCall signatureOf(const runtime::NamedCall &call) {
  frontend::LateCall signature{call.function,
                               call.file,
                               {},
                               call.asList ? frontend::LateCall::Result::AllAsList
                                           : frontend::LateCall::Result::FirstAsMatrix};
  for (size_t i = 0; i < call.arguments.size(); ++i)
    signature.arguments.push_back({kindOf(call.arguments[i]), call.names[i]});
  return signature;
}

// What compiled functions are found by.
std::string keyOf(const frontend::LateCall &call) {
  std::string key = call.file + ":" + call.function +
                    (call.result == frontend::LateCall::Result::AllAsList ? "[]" : "");
  for (const frontend::LateCall::Argument &argument : call.arguments)
    key += fmt::format(";{}={}", argument.name, static_cast<int>(argument.kind));
  return key;
}

// The function that passes the arguments on (LateCall.cpp) is in no file of the user.
Error withoutEntry(const Error &error) {
  Error result(error.message(), error.kind());
  auto isOfEntry = [](const SourcePlace &place) { return place.file.starts_with("eval(\""); };
  if (!isOfEntry(error.place()))
    result.at(error.place());
  for (const SourcePlace &caller : error.callStack())
    if (!isOfEntry(caller))
      result.calledFrom(caller);
  for (const std::string &note : error.notes())
    result.note(note);
  return result;
}

// The first error, as one of the run: its place is in the text of the function.
[[noreturn]] void fail(const std::string &function, const support::DiagnosticEngine &diagnostics) {
  for (const support::Diagnostic *diagnostic : diagnostics.sorted()) {
    if (diagnostic->severity != support::Severity::Error)
      continue;
    Error error(fmt::format("eval(\"{}\"): {}", function, diagnostic->message));
    if (!diagnostic->candidates.empty())
      error.note(fmt::format("did you mean '{}'?", diagnostic->candidates.front()));
    for (const support::DiagnosticNote &note : diagnostic->notes)
      if (note.line == 0)
        error.note(note.message);
    throw error;
  }
  internalError(fmt::format("eval(\"{}\") could not be compiled", function));
}

} // namespace

ScriptFunctions::ScriptFunctions(const CommandLine &line, const std::string &text,
                                 frontend::ImportOptions options)
    : line_(line), text_(text), options_([&] {
        options.call.clear();
        return std::move(options);
      }()) {}

ScriptFunctions::~ScriptFunctions() = default;

std::vector<runtime::Value> ScriptFunctions::call(runtime::NamedCall call,
                                                  runtime::ExecutionContext &context) {
  expandList(call);
  try {
    return run(std::move(call), context);
  } catch (const Error &error) {
    throw withoutEntry(error);
  }
}

std::vector<runtime::Value> ScriptFunctions::run(runtime::NamedCall call,
                                                 runtime::ExecutionContext &context) {
  Compiled &function = compiled(signatureOf(call));
  if (!function.program)
    return reference::Interpreter(*function.module, context)
        .call("eval", std::move(call.arguments));
  runtime::ExecutionContext own = context;
  own.profile = nullptr; // it is of the calling program's instructions
  std::vector<runtime::Value> results =
      function.program->call("eval", std::move(call.arguments), own);
  context.draws = own.draws;
  return results;
}

void ScriptFunctions::expandList(runtime::NamedCall &call) {
  if (call.arguments.size() != 1 || !call.arguments[0].isList())
    return;
  {
    std::lock_guard lock(mutex_);
    auto [known, isNew] = takesOneList_.try_emplace(call.file + ":" + call.function);
    if (isNew) {
      frontend::SourceManager sources;
      support::DiagnosticEngine diagnostics;
      known->second = frontend::takesOneList(sources, line_.file, text_, call.function, call.file,
                                             options_, diagnostics);
    }
    if (known->second)
      return;
  }
  std::shared_ptr<const runtime::List> list = call.arguments[0].list();
  call.arguments = list->elements;
  call.names = list->names;
  call.names.resize(call.arguments.size());
}

ScriptFunctions::Compiled &ScriptFunctions::compiled(const frontend::LateCall &call) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Compiled> &compiled = compiled_[keyOf(call)];
  if (!compiled)
    runtime::runOnDeepStack([&] { compiled = compile(call); });
  return *compiled;
}

std::unique_ptr<ScriptFunctions::Compiled>
ScriptFunctions::compile(const frontend::LateCall &call) const {
  auto made = std::make_unique<Compiled>();
  made->context.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  made->context.printOpOnDiagnostic(false);
  made->module = frontend::importLateCall(made->sources, line_.file, text_, call, options_,
                                          made->context, made->diagnostics);
  if (!made->module)
    fail(call.function, made->diagnostics);
  if (line_.singlePrecision)
    tok::useSinglePrecision(*made->module);
  if (line_.engine == Engine::Reference)
    return made;
  made->diagnostics.clear();
  support::MlirDiagnosticForwarder forwarder(&made->context, made->diagnostics);
  exec::ProgramOptions options = line_.program;
  options.collection.clear();
  options.aheadOfTime.clear();
  made->program = exec::Program::compile(*made->module, options);
  if (!made->program)
    fail(call.function, made->diagnostics);
  return made;
}
