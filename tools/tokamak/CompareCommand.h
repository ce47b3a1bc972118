// run --compare: runs the script on both engines and reports the first operator whose values
// differ.
//
//   return compareEngines(*module, line, diagnostics);
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMPARECOMMAND_H
#define TOKAMAK_TOOLS_TOKAMAK_COMPARECOMMAND_H

#include "support/SourceDiagnostics.h"
#include "tokamak/CommandLine.h"

#include "mlir/IR/BuiltinOps.h"

namespace tokamak {

// Reports on stdout that all values agree, or on stderr the first difference. The script's output
// is dropped. Returns Success, or InternalFailure if values differ.
int compareEngines(mlir::ModuleOp module, const CommandLine &line,
                   support::DiagnosticEngine &diagnostics);

} // namespace tokamak
#endif
