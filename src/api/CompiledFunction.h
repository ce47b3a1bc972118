// A function of a script, compiled for the types of values that it is called with.
//
//   frontend::LateCall call{"lm", "script.dml", {{frontend::LateCall::Kind::Matrix, ""}}};
//   std::unique_ptr<CompiledFunction> function = CompiledFunction::compile(text, call, options, diagnostics);
//   if (function)
//     std::vector<runtime::Value> results = function->call({matrix}, context);
#ifndef TOKAMAK_API_COMPILEDFUNCTION_H
#define TOKAMAK_API_COMPILEDFUNCTION_H

#include "api/ScriptOptions.h"
#include "exec/Program.h"
#include "frontend/dml/LateCall.h"
#include "support/SourceDiagnostics.h"

#include <memory>
#include <optional>

namespace tokamak::api {

class CompiledFunction {
public:
  // `text` of the script. Null after errors.
  static std::unique_ptr<CompiledFunction> compile(const std::string &text,
                                                   const frontend::LateCall &call,
                                                   const ScriptOptions &options,
                                                   support::DiagnosticEngine &diagnostics);

  // The single result, as the call asked for it. Throws Error. Several threads may call at the same time.
  std::vector<runtime::Value> call(std::vector<runtime::Value> arguments,
                                   runtime::ExecutionContext &context);
  exec::RunCounts counts() const { return program_ ? program_->counts() : exec::RunCounts(); }

private:
  // What the reference interprets.
  struct Interpreted {
    mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
    mlir::OwningOpRef<mlir::ModuleOp> module;
  };
  std::unique_ptr<Interpreted> interpreted_; // or
  std::unique_ptr<exec::Program> program_;
};

// The kind of a value as an argument. Throws Error if it can't be one.
frontend::LateCall::Kind kindOf(const runtime::Value &value);

// Whether places in this file are in the function that passes the arguments on (LateCall.cpp), which is in no file of the user.
bool isEntryFile(std::string_view file);

// The error without such places.
Error withoutEntry(const Error &error);

} // namespace tokamak::api
#endif
