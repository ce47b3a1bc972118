// Reports operations that are proved wrong at compile time. If an operation is certainly executed,
// this is an error. Otherwise it is a warning, and a tok.raise with the same message is inserted
// before the operation, so that the run fails there even if the operation is erased as unused.
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
