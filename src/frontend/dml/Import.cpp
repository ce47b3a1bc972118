#include "frontend/dml/Import.h"

#include "frontend/dml/ModuleGenerator.h"

namespace tokamak::frontend {

mlir::OwningOpRef<mlir::ModuleOp> importDml(SourceManager &sources, const std::string &path,
                                            const std::string &text, const ImportOptions &options,
                                            mlir::MLIRContext &context,
                                            support::DiagnosticEngine &diagnostics) {
  SourceReporter reporter(sources, diagnostics);
  ProgramLoader loader(sources, reporter, options);
  LoadedFile *main = loader.loadMain(sources.add(path, text));
  if (!main || (!options.call.empty() && !loader.callInstead(*main)))
    return {};
  mlir::OwningOpRef<mlir::ModuleOp> module =
      ModuleGenerator(loader, reporter, options, context).generate(*main);
  loader.reportUnusedArguments(*main);
  return reporter.engine().hasErrors() ? mlir::OwningOpRef<mlir::ModuleOp>() : std::move(module);
}

} // namespace tokamak::frontend
