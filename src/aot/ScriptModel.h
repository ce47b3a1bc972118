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

#include "aot/ModelBuilder.h"

#include "support/SourceDiagnostics.h"

#include <optional>

namespace tokamak::aot {

// `text` of the script, in DML or, if its path ends with .mlir, in the tok dialect. `objects` receives the kernels; it must outlive the
// model. Nothing after errors in the script, which `diagnostics` has. Throws Error.
std::optional<Model> compileScript(const std::string &text, const ModelOptions &options,
                                   exec::ObjectKeeper &objects,
                                   support::DiagnosticEngine &diagnostics);

} // namespace tokamak::aot
#endif
