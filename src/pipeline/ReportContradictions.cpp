#include "pipeline/ReportContradictions.h"

#include "analysis/Reachability.h"
#include "support/SourceLocations.h"

#include <set>
#include <tuple>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

// The text that a program puts together from constants.
static std::optional<std::string> knownText(Value value) {
  if (auto constant = value.getDefiningOp<tok::ConstantOp>()) {
    if (auto text = dyn_cast<StringAttr>(constant.getValue()))
      return text.str();
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    if (number && number.getType().isInteger(64))
      return std::to_string(number.getInt());
    return std::nullopt;
  }
  auto concatenation = value.getDefiningOp<tok::ConcatOp>();
  if (!concatenation)
    return std::nullopt;
  auto lhs = knownText(concatenation.getLhs()), rhs = knownText(concatenation.getRhs());
  return lhs && rhs ? std::optional(*lhs + *rhs) : std::nullopt;
}

// Where the program says itself that something is wrong, for numbers that are all known.
static std::vector<analysis::Contradiction> knownFailures(ModuleOp module) {
  std::vector<analysis::Contradiction> found;
  module.walk([&](tok::RaiseOp raise) {
    if (auto text = knownText(raise.getMessage()))
      found.push_back({raise, *text});
  });
  return found;
}

// A mistake at its place in the source, whoever called the function that it stands in.
static auto mistake(Operation *op, const std::string &message) {
  SourcePlace place = support::placeOf(op->getLoc());
  return std::tuple(place.file, place.line, place.column, message);
}

LogicalResult pipeline::reportContradictions(ModuleOp module, analysis::FactsAnalysis &facts) {
  std::vector<analysis::Contradiction> contradictions = facts.contradictions();
  llvm::append_range(contradictions, knownFailures(module));
  if (contradictions.empty())
    return success();
  analysis::Reachability reachability(module, facts);
  // One function may be wrong for the sizes of several calls: the same mistake isn't told again
  // as one that may happen.
  std::set<decltype(mistake(nullptr, ""))> errors;
  for (auto &[op, message] : contradictions)
    if (reachability.of(op) == analysis::Reach::Certain)
      errors.insert(mistake(op, message));
  bool isWrong = false;
  for (auto &[op, message] : contradictions) {
    switch (reachability.of(op)) {
    case analysis::Reach::Never:
      break;
    case analysis::Reach::Maybe: {
      if (errors.contains(mistake(op, message)))
        break;
      op->emitWarning(message) << " (an error if the program gets here)";
      if (isa<tok::RaiseOp>(op))
        break;
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
