#include "api/CompiledFunction.h"

#include "ir/plan/PlanDialect.h"
#include "ir/tok/Precision.h"
#include "ir/tok/TokDialect.h"
#include "reference/Interpreter.h"
#include "runtime/image/DeepStack.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::api;

using Kind = frontend::LateCall::Kind;

std::unique_ptr<CompiledFunction>
CompiledFunction::compile(const std::string &text, const frontend::LateCall &call,
                          const ScriptOptions &options, support::DiagnosticEngine &diagnostics) {
  auto source = std::make_unique<Interpreted>();
  source->context.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  source->context.printOpOnDiagnostic(false);
  frontend::SourceManager sources;
  // Generating a call generates the callee, so recursion is as deep as the chain of calls.
  runtime::runOnDeepStack([&] {
    source->module = frontend::importLateCall(sources, options.path, text, call, options.import,
                                              source->context, diagnostics);
  });
  if (!source->module)
    return nullptr;
  if (options.singlePrecision)
    tok::useSinglePrecision(*source->module);
  auto made = std::make_unique<CompiledFunction>();
  if (options.usesReference) {
    made->interpreted_ = std::move(source);
    return made;
  }
  diagnostics.clear();
  support::MlirDiagnosticForwarder forwarder(&source->context, diagnostics);
  exec::ProgramOptions program = options.program;
  program.collection.clear();
  made->program_ = exec::Program::compile(*source->module, program);
  return made->program_ ? std::move(made) : nullptr;
}

std::vector<runtime::Value> CompiledFunction::call(std::vector<runtime::Value> arguments,
                                                   runtime::ExecutionContext &context) {
  if (!program_)
    return reference::Interpreter(*interpreted_->module, context)
        .call("eval", std::move(arguments));
  return program_->call("eval", std::move(arguments), context);
}

Kind api::kindOf(const runtime::Value &value) {
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
  throw Error(fmt::format("expected a value, got {}", value.describe()));
}

bool api::isEntryFile(std::string_view file) { return file.starts_with("eval(\""); }

Error api::withoutEntry(const Error &error) {
  Error result(error.message(), error.kind());
  if (!isEntryFile(error.place().file))
    result.at(error.place());
  for (const SourcePlace &caller : error.callStack())
    if (!isEntryFile(caller.file))
      result.calledFrom(caller);
  for (const std::string &note : error.notes())
    result.note(note);
  return result;
}
