#include "pipeline/ReportContradictions.h"

#include "analysis/Reachability.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

LogicalResult pipeline::reportContradictions(ModuleOp module, analysis::FactsAnalysis &facts) {
  std::vector<analysis::Contradiction> contradictions = facts.contradictions();
  if (contradictions.empty())
    return success();
  analysis::Reachability reachability(module, facts);
  bool isWrong = false;
  for (auto &[op, message] : contradictions) {
    switch (reachability.of(op)) {
    case analysis::Reach::Never:
      break;
    case analysis::Reach::Maybe: {
      op->emitWarning(message) << " (an error if the program gets here)";
      OpBuilder builder(op);
      Value text = builder.create<tok::ConstantOp>(op->getLoc(), StringRef(message));
      builder.create<tok::RaiseOp>(op->getLoc(), text);
      break;
    }
    case analysis::Reach::Certain:
      op->emitError(message);
      isWrong = true;
      break;
    }
  }
  return failure(isWrong);
}
