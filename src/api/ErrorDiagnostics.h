// Errors of a run as diagnostics, and the sources that excerpts of them may come from.
//
//   addLibrarySources(diagnostics);
//   diagnostics.render(diagnosticOf(error), llvm::errs());
#ifndef TOKAMAK_API_ERRORDIAGNOSTICS_H
#define TOKAMAK_API_ERRORDIAGNOSTICS_H

#include "base/Error.h"
#include "support/SourceDiagnostics.h"

namespace tokamak::api {

// The texts of the embedded library, which are not on disk.
void addLibrarySources(support::DiagnosticEngine &diagnostics);

// With the error's place, notes and callers; that of an internal error says that it is one.
support::Diagnostic diagnosticOf(const Error &error);

} // namespace tokamak::api
#endif
