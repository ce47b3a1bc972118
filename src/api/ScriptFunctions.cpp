#include "api/ScriptFunctions.h"

#include "base/Error.h"
#include "runtime/image/DeepStack.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::api;

namespace {

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

ScriptFunctions::ScriptFunctions(ScriptOptions options, const std::string &text)
    : options_([&] {
        options.import.call.clear();
        return std::move(options);
      }()),
      text_(text) {}

std::vector<runtime::Value> ScriptFunctions::call(runtime::NamedCall call,
                                                  runtime::ExecutionContext &context) {
  runtime::NestedCallByName nested(call.function);
  expandList(call);
  try {
    return run(std::move(call), context);
  } catch (const Error &error) {
    throw withoutEntry(error);
  }
}

std::vector<runtime::Value> ScriptFunctions::run(runtime::NamedCall call,
                                                 runtime::ExecutionContext &context) {
  CompiledFunction &function = compiled(signatureOf(call));
  runtime::ExecutionContext own = context;
  own.profile = nullptr; // it is of the calling program's instructions
  std::vector<runtime::Value> results = function.call(std::move(call.arguments), own);
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
      known->second = frontend::takesOneList(sources, options_.path, text_, call.function,
                                             call.file, options_.import, diagnostics);
    }
    if (known->second)
      return;
  }
  std::shared_ptr<const runtime::List> list = call.arguments[0].list();
  call.arguments = list->elements;
  call.names = list->names;
  call.names.resize(call.arguments.size());
}

CompiledFunction &ScriptFunctions::compiled(const frontend::LateCall &call) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<CompiledFunction> &compiled = compiled_[keyOf(call)];
  if (!compiled) {
    support::DiagnosticEngine diagnostics;
    compiled = CompiledFunction::compile(text_, call, options_, diagnostics);
    if (!compiled)
      fail(call.function, diagnostics);
  }
  return *compiled;
}
