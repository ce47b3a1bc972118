#include "api/ErrorDiagnostics.h"

#include "api/EmbeddedLibrary.h"

using namespace tokamak;

void api::addLibrarySources(support::DiagnosticEngine &diagnostics) {
  for (const EmbeddedSource &source : embeddedLibrary())
    diagnostics.addSource({source.path.data(), source.path.size()},
                          {source.text.data(), source.text.size()});
}

support::Diagnostic api::diagnosticOf(const Error &error) {
  support::Diagnostic diagnostic;
  const SourcePlace &place = error.place();
  diagnostic.file = place.file;
  diagnostic.line = place.line;
  diagnostic.column = place.column;
  diagnostic.message =
      (error.kind() == ErrorKind::Internal ? "internal error: " : "") + error.message();
  for (const std::string &note : error.notes())
    diagnostic.note(note);
  for (const SourcePlace &caller : error.callStack())
    diagnostic.notes.push_back(
        {"called from here", caller.file, uint32_t(caller.line), uint32_t(caller.column)});
  return diagnostic;
}
