// DML text in, a module of the `tok` dialect out: parsing, name resolution, typing and generation.
//
//   ImportOptions options;
//   options.arguments["reg"] = "0.1";
//   SourceManager sources;
//   support::DiagnosticEngine diagnostics;
//   mlir::OwningOpRef<mlir::ModuleOp> module =
//       importDml(sources, "script.dml", text, options, context, diagnostics);
//   if (!module)
//     diagnostics.render(llvm::errs());
//
// The module holds `func.func @main()` and one private function for each DML function that can be
// reached. Operations are located at the operator or the called name they come from.
#ifndef TOKAMAK_FRONTEND_DML_IMPORT_H
#define TOKAMAK_FRONTEND_DML_IMPORT_H

#include "frontend/dml/Source.h"
#include "support/SourceDiagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tokamak::frontend {

struct LibrarySource {
  std::string path;
  std::string text;
};

struct ImportOptions {
  /// Of the command line: "name" (or "1") to the text given for it; an empty text counts as not
  /// given.
  std::map<std::string, std::string> arguments;
  /// The DML file that defines the script builtin of this name, if there is one.
  std::function<std::optional<LibrarySource>(llvm::StringRef name)> library;
  /// Names that `library` knows, for suggestions only.
  std::vector<std::string> libraryNames;
};

/// Loads the tok and func dialects into `context`. Returns null after reporting errors, as many as
/// can be told apart; warnings may be reported with a module, too.
mlir::OwningOpRef<mlir::ModuleOp> importDml(SourceManager &sources, const std::string &path,
                                            const std::string &text, const ImportOptions &options,
                                            mlir::MLIRContext &context,
                                            support::DiagnosticEngine &diagnostics);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_IMPORT_H
