// run --compare: the script on both engines, and the first operator whose value differs.
//
//   return compareEngines(*module, line, diagnostics);
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMPARECOMMAND_H
#define TOKAMAK_TOOLS_TOKAMAK_COMPARECOMMAND_H

#include "support/SourceDiagnostics.h"
#include "tokamak/CommandLine.h"

#include "mlir/IR/BuiltinOps.h"

namespace tokamak {

// Says on stdout that all values agree, or on stderr where they first differ. What the script
// prints is dropped. The exit status: 0, or that of an internal error where they differ.
int compareEngines(mlir::ModuleOp module, const CommandLine &line,
                   support::DiagnosticEngine &diagnostics);

} // namespace tokamak
#endif
