// Binds the arguments of a call to parameters.
//
//   std::optional<ArgumentSlots> slots =
//       bindArguments(bindingOf(call), {{"rows"}, {"cols"}}, PositionalArguments::InOrder, module);
#ifndef TOKAMAK_FRONTEND_DML_CALLBINDING_H
#define TOKAMAK_FRONTEND_DML_CALLBINDING_H

#include "frontend/dml/ModuleGenerator.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tokamak::frontend {

/// The argument of each parameter, null where none is given.
using ArgumentSlots = llvm::SmallVector<const CallArgument *, 8>;

struct ParameterNames {
  llvm::StringRef name;
  llvm::StringRef otherName;
};

/// What is called, in messages, with which arguments.
struct CallToBind {
  std::string name; // "'matrix'"
  SourceRange place;
  llvm::ArrayRef<CallArgument> arguments;
  const char *parameter = "parameter", *argument = "argument"; // what these are called
};
inline CallToBind bindingOf(const CallExpression &call) {
  return {"'" + call.callee() + "'", call.calleeRange(), call.arguments()};
}

/// Which parameters positional arguments are for where named ones stand before them: f(a=1, 2) gives the second
/// parameter by its place in the call, as SystemDS does for functions, or the first one in order.
enum class PositionalArguments : uint8_t { ByPlaceInCall, InOrder };

/// Binds arguments to parameters. Reports too many arguments, unknown names and parameters given twice; returns nothing
/// after an error.
std::optional<ArgumentSlots> bindArguments(const CallToBind &call,
                                           llvm::ArrayRef<ParameterNames> parameters,
                                           PositionalArguments positional, ModuleGenerator &module);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_CALLBINDING_H
