// Compiles functions of a script, or the script's statements, to a model.
//
//   ModelOptions options{.output = ModelOutput::of("libscoring.a"), .entries = {"score"}, .target = &codegen::x86Target()};
//   options.script.path = "scoring.dml";
//   exec::ObjectKeeper objects;
//   std::optional<Model> model = compileScript(text, options, objects, diagnostics);
//   if (model)
//     writeModel(*model, options.output);
#ifndef TOKAMAK_AOT_SCRIPTMODEL_H
#define TOKAMAK_AOT_SCRIPTMODEL_H

#include "aot/ModelFiles.h"
#include "api/ScriptOptions.h"

#include "support/SourceDiagnostics.h"

#include <optional>

namespace tokamak::aot {

struct ModelOptions {
  api::ScriptOptions script;
  ModelOutput output;
  // Functions of the script or of the library; none: the script's statements, as a function `main` without parameters.
  std::vector<std::string> entries = {};
  std::vector<std::string> shapes = {}; // ExpectedShapes.h
  // Values of parameters, by name, that the compiled functions don't have any more.
  std::map<std::string, std::string> fixed = {};
  const codegen::Target *target;
  // Called when a .mlir file can't be parsed, before anything is freed (MlirDiagnosticForwarder); may not return.
  std::function<void()> onParseError = {};
};

// The target of this name: x86-64-v3, x86-64-v4, aarch64, or native. Throws Error that names them.
const codegen::Target &targetNamed(const std::string &name);

// `text` of the script, in DML or, if its path ends with .mlir, in the tok dialect. `objects` receives the kernels; it must outlive the
// model. Nothing after errors in the script, which `diagnostics` has. Throws Error.
std::optional<Model> compileScript(const std::string &text, const ModelOptions &options,
                                   exec::ObjectKeeper &objects,
                                   support::DiagnosticEngine &diagnostics);

} // namespace tokamak::aot
#endif
