// Plans functions ahead of time and collects them as the entries of a model: what models of scripts and of ONNX files share.
//
//   ModelOptions options{.output = ModelOutput::of("libscoring.a"), .target = &targetNamed("x86-64-v3")};
//   options.script.path = "scoring.dml";
//   exec::ObjectKeeper objects;
//   ModelBuilder builder(options, objects);
//   if (builder.add(std::move(entry), module))
//     writeModel(builder.take(), options.output);
#ifndef TOKAMAK_AOT_MODELBUILDER_H
#define TOKAMAK_AOT_MODELBUILDER_H

#include "aot/ExpectedShapes.h"
#include "aot/ModelFiles.h"
#include "api/ScriptOptions.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>

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

// The target of this name: x86-64-v3, x86-64-v4, aarch64, aarch64-v8.2, or native. Throws Error that names them.
const codegen::Target &targetNamed(const std::string &name);

// "10", "any", "1..64".
std::string sizeText(const Size &size);

class ModelBuilder {
public:
  // `options`: outlives the builder. `objects`: receives the kernels; it must outlive the model.
  ModelBuilder(const ModelOptions &options, exec::ObjectKeeper &objects);
  // Plans the module, whose first function is the entry; its diagnostics go to handlers of the module's context. False after
  // such diagnostics. Throws Error.
  bool add(ModelEntry entry, mlir::ModuleOp module);
  const std::string &name() const { return model_.name; }
  Model take() { return std::move(model_); }

private:
  const ModelOptions &options_;
  codegen::KernelCompiler kernels_;
  Model model_;
};

} // namespace tokamak::aot
#endif
