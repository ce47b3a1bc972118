// What is proved wrong before the run: an error where control certainly gets to it. Elsewhere it is
// a warning, and the operation is preceded by a tok.raise, so that the run fails there, with the
// same message, whatever becomes of an operation whose result is not used.
//
//   analysis::FactsAnalysis facts(module);
//   if (failed(reportContradictions(module, facts)))
//     return failure();                              // the errors have been reported
#ifndef TOKAMAK_PIPELINE_REPORTCONTRADICTIONS_H
#define TOKAMAK_PIPELINE_REPORTCONTRADICTIONS_H

#include "analysis/FactsAnalysis.h"

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

llvm::LogicalResult reportContradictions(mlir::ModuleOp module, analysis::FactsAnalysis &facts);

} // namespace tokamak::pipeline
#endif
