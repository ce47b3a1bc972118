// A script whose functions are called with values, each compiled for the kinds of its arguments when it is called first.
//
//   Script script("script.dml", text, {});                  // throws Rejected
//   Function &scale = script.function("scale");             // or one of the library
//
// Arrays are converted to matrices: those of one dimension are columns, cells become f64 or f32.
#ifndef TOKAMAK_API_SCRIPT_H
#define TOKAMAK_API_SCRIPT_H

#include "api/Program.h"
#include "api/ScriptFunctions.h"

#include "frontend/dml/FunctionSignatures.h"

#include <deque>

namespace tokamak::api {

class ScriptFunction;

class Script : public Program {
public:
  Script(std::string path, std::string text, RunOptions options);
  ~Script() override;

  std::vector<Function *> functions() override;
  Function &function(const std::string &name) override;
  void run(const std::map<std::string, std::string> &arguments) override;
  std::string describe(const Error &error) override;
  exec::RunCounts counts() override;

private:
  friend class ScriptFunction;
  std::unique_ptr<support::DiagnosticEngine> diagnostics() const;
  [[noreturn]] static void reject(support::DiagnosticEngine &diagnostics);

  const std::string path_, text_;
  ScriptFunctions named_;
  std::mutex mutex_; // guards what follows
  std::deque<ScriptFunction> functions_, ofLibrary_;
};

} // namespace tokamak::api
#endif
