// Functions of a script that it calls by name: eval("f", X). Each is compiled for the types of its arguments when it is
// called first, in a module of its own.
//
//   ScriptFunctions functions(line, text, importOptions);
//   context.functions = &functions;
#ifndef TOKAMAK_TOOLS_TOKAMAK_SCRIPTFUNCTIONS_H
#define TOKAMAK_TOOLS_TOKAMAK_SCRIPTFUNCTIONS_H

#include "tokamak/CommandLine.h"

#include "frontend/dml/LateCall.h"
#include "runtime/natives/LateFunctions.h"

#include <map>
#include <memory>
#include <mutex>

namespace tokamak {

class ScriptFunctions : public runtime::LateFunctions {
public:
  // `text` of the script; both references must outlive the object.
  ScriptFunctions(const CommandLine &line, const std::string &text,
                  frontend::ImportOptions options);
  ~ScriptFunctions() override;

  std::vector<runtime::Value> call(runtime::NamedCall call,
                                   runtime::ExecutionContext &context) override;

private:
  struct Compiled;
  void expandList(runtime::NamedCall &call);
  std::vector<runtime::Value> run(runtime::NamedCall call, runtime::ExecutionContext &context);
  Compiled &compiled(const frontend::LateCall &call);
  std::unique_ptr<Compiled> compile(const frontend::LateCall &call) const;

  const CommandLine &line_;
  const std::string &text_;
  const frontend::ImportOptions options_;
  std::mutex mutex_; // guards the maps; a function is compiled under it
  std::map<std::string, std::unique_ptr<Compiled>> compiled_;
  std::map<std::string, bool> takesOneList_; // by function
};

} // namespace tokamak
#endif
