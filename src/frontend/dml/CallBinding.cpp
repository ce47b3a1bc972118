#include "frontend/dml/CallBinding.h"

#include "base/NearestNames.h"

namespace tokamak::frontend {

static bool checkMix(const CallExpression &call, ModuleGenerator &module) {
  const auto &arguments = call.arguments();
  for (const CallArgument &argument : arguments) {
    if (argument.isNamed() == arguments.front().isNamed())
      continue;
    module.error(argument.isNamed() ? argument.nameRange : argument.value->range(),
                 "the arguments of '" + call.callee() + "' must be all positional or all named");
    return false;
  }
  return true;
}

static std::string countOf(size_t count) {
  return std::to_string(count) + (count == 1 ? " argument" : " arguments");
}

std::optional<ArgumentSlots> bindArguments(const CallExpression &call,
                                           llvm::ArrayRef<llvm::StringRef> parameters, bool mayMix,
                                           ModuleGenerator &module) {
  if (!mayMix && !checkMix(call, module))
    return std::nullopt;
  if (call.arguments().size() > parameters.size()) {
    std::string most =
        parameters.empty() ? "no arguments" : "at most " + countOf(parameters.size());
    module.error(call.calleeRange(), "'" + call.callee() + "' takes " + most + ", " +
                                         std::to_string(call.arguments().size()) +
                                         (call.arguments().size() == 1 ? " is" : " are") +
                                         " given");
    return std::nullopt;
  }
  ArgumentSlots slots(parameters.size());
  size_t position = 0;
  bool isBound = true;
  auto fill = [&](size_t index, const CallArgument &argument, SourceRange place) {
    if (slots[index]) {
      module.error(place, "parameter '" + parameters[index].str() + "' of '" + call.callee() +
                              "' is given twice");
      isBound = false;
    }
    slots[index] = &argument;
  };
  for (const CallArgument &argument : call.arguments()) {
    if (!argument.isNamed()) {
      fill(position++, argument, argument.value->range());
      continue;
    }
    auto found = llvm::find(parameters, argument.name);
    if (found == parameters.end()) {
      std::vector<std::string> names(parameters.begin(), parameters.end());
      module
          .error(argument.nameRange,
                 "'" + call.callee() + "' has no parameter '" + argument.name + "'")
          .candidates = nearestCandidates(argument.name, names);
      isBound = false;
      continue;
    }
    fill(found - parameters.begin(), argument, argument.nameRange);
  }
  return isBound ? std::optional(std::move(slots)) : std::nullopt;
}

} // namespace tokamak::frontend
