#include "frontend/dml/CallBinding.h"

#include "base/NearestNames.h"
#include "frontend/dml/ForeignNames.h"

#include "llvm/ADT/StringExtras.h"

namespace tokamak::frontend {

static std::string countOf(size_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::optional<ArgumentSlots> bindArguments(const CallToBind &call,
                                           llvm::ArrayRef<ParameterNames> parameters,
                                           PositionalArguments positional,
                                           ModuleGenerator &module) {
  if (call.arguments.size() > parameters.size()) {
    std::string most = parameters.empty() ? std::string("no ") + call.argument + "s"
                                          : "at most " + countOf(parameters.size(), call.argument);
    module.error(call.place, call.name + " takes " + most + ", " +
                                 std::to_string(call.arguments.size()) +
                                 (call.arguments.size() == 1 ? " is" : " are") + " given");
    return std::nullopt;
  }
  ArgumentSlots slots(parameters.size());
  size_t positionInOrder = 0;
  bool isBound = true;
  auto fill = [&](size_t index, const CallArgument &argument, SourceRange place) {
    if (slots[index]) {
      auto &error =
          module.error(place, std::string(call.parameter) + " '" + parameters[index].name.str() +
                                  "' of " + call.name + " is given twice");
      if (!argument.isNamed())
        error.note("an argument without a name is for the parameter at its place: name it");
      isBound = false;
    }
    slots[index] = &argument;
  };
  for (auto [placeInCall, argument] : llvm::enumerate(call.arguments)) {
    if (!argument.isNamed()) {
      bool byPlace = positional == PositionalArguments::ByPlaceInCall;
      fill(byPlace ? placeInCall : positionInOrder++, argument, argument.value->range());
      continue;
    }
    auto found =
        llvm::find_if(parameters, [&name = argument.name](const ParameterNames &parameter) {
          return parameter.name == name || parameter.otherName == name;
        });
    if (found == parameters.end()) {
      std::vector<std::string> names;
      for (const ParameterNames &parameter : parameters)
        names.push_back(parameter.name.str());
      auto &error =
          module.error(argument.nameRange, call.name + " has no " + std::string(call.parameter) +
                                               " '" + argument.name + "'");
      error.candidates = nearestCandidates(argument.name, names);
      if (std::string meant = parameterMeantBy(argument.name); llvm::is_contained(names, meant))
        error.candidates = {meant};
      if (error.candidates.empty() && !names.empty())
        error.note("its " + std::string(call.parameter) + (names.size() == 1 ? " is " : "s are ") +
                   llvm::join(names, ", "));
      isBound = false;
      continue;
    }
    fill(found - parameters.begin(), argument, argument.nameRange);
  }
  return isBound ? std::optional(std::move(slots)) : std::nullopt;
}

} // namespace tokamak::frontend
