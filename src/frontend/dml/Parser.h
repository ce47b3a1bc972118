// Reads one DML file into its syntax tree.
//
//   SourceManager sources;
//   support::DiagnosticEngine engine;
//   FileId file = sources.add("script.dml", text);
//   if (std::unique_ptr<Program> program = parseProgram(file, sources, engine))
//     ...
//   else
//     engine.render(llvm::errs());
#ifndef TOKAMAK_FRONTEND_DML_PARSER_H
#define TOKAMAK_FRONTEND_DML_PARSER_H

#include "frontend/dml/Ast.h"
#include "frontend/dml/Source.h"
#include "support/SourceDiagnostics.h"

#include <memory>

namespace tokamak::frontend {

/// Parses `file` and registers its text with `engine`. Reports as many errors as can be found in
/// one run; the result is null if there was any error, but not for warnings and notes.
std::unique_ptr<Program> parseProgram(FileId file, const SourceManager &sources,
                                      support::DiagnosticEngine &engine);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_PARSER_H
