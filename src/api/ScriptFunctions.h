// Functions of a script that it calls by name: eval("f", X). Each is compiled for the types of its arguments when it is
// called first, in a module of its own.
//
//   ScriptFunctions functions(options, text);
//   context.functions = &functions;
#ifndef TOKAMAK_API_SCRIPTFUNCTIONS_H
#define TOKAMAK_API_SCRIPTFUNCTIONS_H

#include "api/CompiledFunction.h"

#include "runtime/natives/LateFunctions.h"

#include <map>
#include <memory>
#include <mutex>

namespace tokamak::api {

class ScriptFunctions : public runtime::LateFunctions {
public:
  // `text` of the script, which must outlive the object.
  ScriptFunctions(ScriptOptions options, const std::string &text);

  std::vector<runtime::Value> call(runtime::NamedCall call,
                                   runtime::ExecutionContext &context) override;

private:
  void expandList(runtime::NamedCall &call);
  std::vector<runtime::Value> run(runtime::NamedCall call, runtime::ExecutionContext &context);
  CompiledFunction &compiled(const frontend::LateCall &call);

  const ScriptOptions options_;
  const std::string &text_;
  std::mutex mutex_; // guards the maps; a function is compiled under it
  std::map<std::string, std::unique_ptr<CompiledFunction>> compiled_;
  std::map<std::string, bool> takesOneList_; // by function
};

} // namespace tokamak::api
#endif
