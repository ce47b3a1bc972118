// run --compare: runs the script on both engines and reports the first operator whose values
// differ.
//
//   return compareEngines(*module, line, &functions, diagnostics);
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMPARECOMMAND_H
#define TOKAMAK_TOOLS_TOKAMAK_COMPARECOMMAND_H

#include "runtime/natives/LateFunctions.h"
#include "support/SourceDiagnostics.h"
#include "tokamak/CommandLine.h"

#include "mlir/IR/BuiltinOps.h"

namespace tokamak {

// Reports on stdout that all values agree, or on stderr the first difference. The script's output
// is dropped. Returns Success, RunFailed if the script fails on both engines, whose error it reports, or
// InternalFailure if values differ. Throws Error: if the script overwrites a file that it reads, since the second engine
// would read what the first one wrote.
// `functions`: those that the script calls by name; may be null.
int compareEngines(mlir::ModuleOp module, const CommandLine &line,
                   runtime::LateFunctions *functions, support::DiagnosticEngine &diagnostics);

} // namespace tokamak
#endif
