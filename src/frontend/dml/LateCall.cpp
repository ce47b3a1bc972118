#include "frontend/dml/LateCall.h"

#include "frontend/dml/ModuleGenerator.h"

#include <fmt/format.h>

namespace tokamak::frontend {

static const char *declarationOf(LateCall::Kind kind) {
  switch (kind) {
  case LateCall::Kind::Matrix:
    return "matrix[double]";
  case LateCall::Kind::Frame:
    return "frame[unknown]";
  case LateCall::Kind::List:
    return "list[unknown]";
  case LateCall::Kind::Double:
    return "double";
  case LateCall::Kind::Integer:
    return "int";
  case LateCall::Kind::Boolean:
    return "boolean";
  case LateCall::Kind::String:
    return "string";
  }
  return "";
}

// The parameter that an argument is for; null if there is none.
static const Parameter *parameterOf(const FunctionDefinition &function, size_t position,
                                    const std::string &name) {
  if (name.empty())
    return position < function.parameters.size() ? &function.parameters[position] : nullptr;
  auto found = llvm::find_if(function.parameters,
                             [&](const Parameter &parameter) { return parameter.name == name; });
  return found == function.parameters.end() ? nullptr : &*found;
}

// Values are converted where they don't fit the parameter: a matrix of one cell is a number, and a number is a matrix.
static std::string converted(const std::string &value, LateCall::Kind kind,
                             const DeclaredType &type) {
  bool isMatrix = kind == LateCall::Kind::Matrix, isFrame = kind == LateCall::Kind::Frame,
       isList = kind == LateCall::Kind::List;
  switch (type.dataType) {
  case DeclaredDataType::Matrix:
    return isMatrix ? value : "as.matrix(" + value + ")";
  case DeclaredDataType::Scalar:
    return isMatrix || isFrame ? "as.scalar(" + value + ")" : value;
  case DeclaredDataType::Frame:
    return isFrame || isList ? value : "as.frame(" + value + ")";
  default:
    return value;
  }
}

// A function in DML that passes its parameters on:
//
//   eval = function(matrix[double] a1, double a2) return (matrix[double] result) {
//     result = as.matrix(lm(a1, reg = a2))
//   }
static std::string entryText(const LateCall &call, const std::string &callee,
                             const FunctionDefinition *function) {
  std::string parameters, passed;
  for (auto [i, argument] : llvm::enumerate(call.arguments)) {
    std::string value = fmt::format("a{}", i + 1);
    std::string separator = i == 0 ? "" : ", ";
    parameters += fmt::format("{}{} {}", separator, declarationOf(argument.kind), value);
    const Parameter *parameter = function ? parameterOf(*function, i, argument.name) : nullptr;
    if (parameter)
      value = converted(value, argument.kind, parameter->type);
    passed += separator + (argument.name.empty() ? value : argument.name + " = " + value);
  }
  for (const auto &[name, literal] : call.literals)
    passed += fmt::format("{}{} = {}", passed.empty() ? "" : ", ", name, literal);
  bool asList = call.result == LateCall::Result::AllAsList;
  std::string body = fmt::format("{}({})", callee, passed);
  if (!asList) {
    body = fmt::format("result = as.matrix({})", body);
  } else if (!function) {
    body = fmt::format("result = list({})", body);
  } else if (function->outputs.empty()) {
    body += "\n  result = list()";
  } else {
    std::string results, elements;
    for (auto [i, output] : llvm::enumerate(function->outputs)) {
      results += fmt::format("{}r{}", i == 0 ? "" : ", ", i + 1);
      elements += fmt::format("{}{} = r{}", i == 0 ? "" : ", ", output.name, i + 1);
    }
    body = fmt::format("[{}] = {}\n  result = list({})", results, body, elements);
  }
  return fmt::format("eval = function({}) return ({} result) {{\n  {}\n}}\n", parameters,
                     asList ? "list[unknown]" : "matrix[double]", body);
}

namespace {

// The script, and what a name means where a call by name stands.
struct Loaded {
  SourceReporter reporter;
  ProgramLoader loader;
  LoadedFile *main;

  Loaded(SourceManager &sources, const std::string &path, const std::string &text,
         const ImportOptions &options, support::DiagnosticEngine &diagnostics)
      : reporter(sources, diagnostics), loader(sources, reporter, options),
        main(loader.loadMain(sources.add(path, text))) {}

  // The file where the function is found, and its name there.
  std::pair<LoadedFile *, std::string> locate(const std::string &function,
                                              const std::string &file) {
    LoadedFile *near = loader.fileAt(file);
    for (LoadedFile *candidate : {near, main})
      if (candidate) {
        std::string name = loader.withNamespace(function, *candidate);
        if (loader.find(name, *candidate))
          return {candidate, name};
      }
    return {main, function};
  }
};

} // namespace

bool takesOneList(SourceManager &sources, const std::string &path, const std::string &text,
                  const std::string &function, const std::string &file,
                  const ImportOptions &options, support::DiagnosticEngine &diagnostics) {
  Loaded program(sources, path, text, options, diagnostics);
  if (!program.main)
    return false;
  auto [space, name] = program.locate(function, file);
  const Function *found = program.loader.find(name, *space).function;
  return found && found->definition->parameters.size() == 1 &&
         found->definition->parameters[0].type.dataType == DeclaredDataType::List;
}

mlir::OwningOpRef<mlir::ModuleOp> importLateCall(SourceManager &sources, const std::string &path,
                                                 const std::string &text, const LateCall &call,
                                                 const ImportOptions &options,
                                                 mlir::MLIRContext &context,
                                                 support::DiagnosticEngine &diagnostics) {
  Loaded program(sources, path, text, options, diagnostics);
  if (!program.main)
    return {};
  auto [space, name] = program.locate(call.function, call.file);
  const Function *callee = program.loader.find(name, *space).function;
  const Function *entry =
      program.loader.define("eval", "eval(\"" + call.function + "\")",
                            entryText(call, name, callee ? callee->definition : nullptr), *space);
  if (!entry)
    return {};
  return ModuleGenerator(program.loader, program.reporter, options, context).generate(*entry);
}

} // namespace tokamak::frontend
