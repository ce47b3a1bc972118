// Translates DML text into a module of the `tok` dialect: parsing, name resolution, typing and
// generation.
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
// The module holds `func.func @main()` and one private function for each DML function reachable
// from it. The location of an operation is that of its operator or called name in the script.
#ifndef TOKAMAK_FRONTEND_DML_IMPORT_H
#define TOKAMAK_FRONTEND_DML_IMPORT_H

#include "base/MatrixMetadata.h"
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
  /// Command line arguments: maps "name" (or "1") to its text; an argument with empty text counts
  /// as absent.
  std::map<std::string, std::string> arguments;
  /// Returns the DML file that defines the script builtin `name`, or nothing if there is none.
  std::function<std::optional<LibrarySource>(llvm::StringRef name)> library;
  /// The metadata of the data at a path, which may decide the type that is read.
  std::function<std::optional<MatrixMetadata>(const std::string &path)> metadata = readMetadata;
  /// Told the path of each model that the script calls, and of files beside it that hold its weights.
  std::function<void(const std::string &path)> noteModelFile = [](const std::string &) {};
  /// A function of the script that is called with the arguments, instead of running the script's
  /// statements (EntryCall.h); empty: none.
  std::string call;
  /// The names that `library` defines; used only for spelling suggestions.
  std::vector<std::string> libraryNames;
};

/// Loads the tok and func dialects into `context`. Reports as many errors as can be found in one
/// run and then returns null; warnings may accompany a module.
mlir::OwningOpRef<mlir::ModuleOp> importDml(SourceManager &sources, const std::string &path,
                                            const std::string &text, const ImportOptions &options,
                                            mlir::MLIRContext &context,
                                            support::DiagnosticEngine &diagnostics);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_IMPORT_H
