#include "frontend/dml/Builtins.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace tokamak::frontend {

namespace {

constexpr Builtin builtins[] = {
#define TOKAMAK_BUILTIN(GROUP, name, KIND, target, RESULT, parameters)                             \
  {llvm::StringLiteral(name),   BuiltinGroup::GROUP,   BuiltinKind::KIND,                          \
   llvm::StringLiteral(target), BuiltinResult::RESULT, llvm::StringLiteral(parameters)},
#include "frontend/dml/Builtins.def"
};

constexpr BuiltinAlias aliases[] = {
#define TOKAMAK_BUILTIN_ALIAS(alias, name) {llvm::StringLiteral(alias), llvm::StringLiteral(name)},
#include "frontend/dml/Builtins.def"
};

ParameterType parameterType(llvm::StringRef name) {
  return llvm::StringSwitch<ParameterType>(name)
      .Case("matrix", ParameterType::Matrix)
      .Case("cell", ParameterType::Cell)
      .Case("array", ParameterType::Array)
      .Case("cells", ParameterType::Cells)
      .Case("scalar", ParameterType::Scalar)
      .Case("integer", ParameterType::Integer)
      .Case("double", ParameterType::Double)
      .Case("boolean", ParameterType::Boolean)
      .Case("string", ParameterType::String)
      .Case("list", ParameterType::List)
      .Case("frame", ParameterType::Frame)
      .Default(ParameterType::Value);
}

BuiltinParameter parseParameter(llvm::StringRef text) {
  BuiltinParameter parameter;
  auto [name, type] = text.split(':');
  std::tie(parameter.name, parameter.otherName) = name.split('|');
  if (type.consume_back("...")) {
    parameter.presence = ParameterPresence::Variadic;
  } else if (type.consume_back("?")) {
    parameter.presence = ParameterPresence::Optional;
  } else if (type.consume_back("!")) {
    parameter.presence = ParameterPresence::Unsupported;
  } else if (type.contains('=')) {
    parameter.presence = ParameterPresence::Default;
    std::tie(type, parameter.defaultText) = type.split('=');
  }
  parameter.type = parameterType(type);
  return parameter;
}

llvm::StringMap<const Builtin *> makeIndex() {
  llvm::StringMap<const Builtin *> index;
  for (const Builtin &builtin : builtins)
    index[builtin.name] = &builtin;
  for (const BuiltinAlias &alias : aliases)
    index[alias.alias] = index.lookup(alias.name);
  return index;
}

} // namespace

llvm::SmallVector<BuiltinParameter, 8> Builtin::parameters() const {
  llvm::SmallVector<BuiltinParameter, 8> result;
  llvm::StringRef rest = signature;
  while (!rest.empty()) {
    auto [text, others] = rest.split(", ");
    result.push_back(parseParameter(text));
    rest = others;
  }
  return result;
}

const Builtin *findBuiltin(llvm::StringRef name) {
  static const llvm::StringMap<const Builtin *> index = makeIndex();
  return index.lookup(name);
}

llvm::ArrayRef<Builtin> allBuiltins() { return builtins; }
llvm::ArrayRef<BuiltinAlias> allBuiltinAliases() { return aliases; }

std::vector<std::string> builtinNames() {
  std::vector<std::string> names;
  for (const Builtin &builtin : builtins)
    names.push_back(builtin.name.str());
  for (const BuiltinAlias &alias : aliases)
    names.push_back(alias.alias.str());
  return names;
}

} // namespace tokamak::frontend
