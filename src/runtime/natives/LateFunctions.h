// Functions that a running program calls by name: eval("f", X). The program that contains them is compiled when they are
// called first, which is not the runtime's task: who runs a program says how.
//
//   context.functions = &functions;
//   context.functions->call({"f", "script.dml", {matrix}, {""}, false}, context)
#ifndef TOKAMAK_RUNTIME_NATIVES_LATEFUNCTIONS_H
#define TOKAMAK_RUNTIME_NATIVES_LATEFUNCTIONS_H

#include "runtime/natives/Native.h"

#include <string>
#include <vector>

namespace tokamak::runtime {

struct NamedCall {
  std::string function;
  std::string file; // of the call
  std::vector<Value> arguments;
  std::vector<std::string> names; // of the parameters; empty for arguments by position
  bool asList = false;            // all results as one list, instead of the first one as a matrix
};

class LateFunctions {
public:
  virtual ~LateFunctions() = default;
  // The single result. Throws Error: if there is no such function, if the arguments don't fit, or by the function.
  // Several threads may call at the same time.
  virtual std::vector<Value> call(NamedCall call, ExecutionContext &context) = 0;
};

} // namespace tokamak::runtime
#endif
