#include "analysis/FactsAnalysis.h"

#include "base/Error.h"
#include "ir/tok/Density.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::analysis;
using tok::Dimension;
using tok::Facts;

//===- symbols -------------------------------------------------------------------------------===//

Dimension SymbolNumbers::of(Value value, int dimension) {
  auto [entry, inserted] = numbers_.try_emplace({value, dimension}, next_);
  if (inserted)
    ++next_;
  return Dimension::symbol(entry->second);
}

Facts SymbolNumbers::complete(Value value, Facts facts) {
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    if (facts.dims.empty())
      facts.dims.assign(tensor.getRank(), Dimension::unknown());
    for (auto [index, dimension] : llvm::enumerate(facts.dims))
      if (dimension.isUnknown())
        dimension = of(value, index);
  } else if (value.getType().isInteger(64) && facts.integer.isUnknown()) {
    facts.integer = of(value, -1);
  }
  return facts;
}

//===- lattice -------------------------------------------------------------------------------===//

namespace {

class FactsLattice : public dataflow::AbstractSparseLattice {
public:
  using AbstractSparseLattice::AbstractSparseLattice;

  const std::optional<Facts> &facts() const { return facts_; }

  ChangeResult join(const AbstractSparseLattice &other) override {
    const auto &facts = static_cast<const FactsLattice &>(other).facts_;
    return facts ? join(*facts) : ChangeResult::NoChange;
  }

  ChangeResult join(const Facts &other) {
    if (!facts_) {
      facts_ = other;
      return ChangeResult::Change;
    }
    Facts joined;
    if (facts_->dims.size() == other.dims.size())
      for (auto [a, b] : llvm::zip(facts_->dims, other.dims))
        joined.dims.push_back(Dimension::join(a, b));
    joined.value = facts_->value == other.value ? facts_->value : Attribute();
    joined.integer = Dimension::join(facts_->integer, other.integer);
    joined.density = facts_->density == other.density ? facts_->density : -1;
    joined.layout = facts_->layout == other.layout ? facts_->layout : tok::Layout::Dense;
    if (joined == *facts_)
      return ChangeResult::NoChange;
    facts_ = joined;
    return ChangeResult::Change;
  }

  void print(raw_ostream &out) const override { out << (facts_ ? "facts" : "nothing yet"); }

private:
  std::optional<Facts> facts_;
};

class FactsPropagation : public dataflow::SparseForwardDataFlowAnalysis<FactsLattice> {
public:
  FactsPropagation(DataFlowSolver &solver, SymbolNumbers &symbols)
      : SparseForwardDataFlowAnalysis(solver), symbols_(symbols) {}

  void visitOperation(Operation *op, ArrayRef<const FactsLattice *> operands,
                      ArrayRef<FactsLattice *> results) override {
    SmallVector<Facts> operandFacts;
    for (auto [operand, lattice] : llvm::zip(op->getOperands(), operands)) {
      if (!lattice->facts())
        return; // not reached yet
      operandFacts.push_back(symbols_.complete(operand, *lattice->facts()));
    }
    SmallVector<Facts> resultFacts(op->getNumResults());
    if (auto inference = dyn_cast<tok::FactsOpInterface>(op))
      inference.inferFacts(operandFacts, resultFacts);
    tok::inferDensity(op, operandFacts, resultFacts);
    for (auto [lattice, facts] : llvm::zip(results, resultFacts))
      propagateIfChanged(lattice, lattice->join(facts));
  }

  void setToEntryState(FactsLattice *lattice) override {
    Facts facts;
    auto argument = dyn_cast<BlockArgument>(lattice->getPoint());
    auto function =
        argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
    if (function && argument.getOwner()->isEntryBlock()) {
      auto dims = dimensionsOf(function.getArgAttr(argument.getArgNumber(), sizesAttributeName));
      if (tok::isArray(argument.getType()))
        facts.dims.assign(dims.begin(), dims.end());
      else if (!dims.empty())
        facts.integer = dims.front();
      if (auto density = function.getArgAttrOfType<FloatAttr>(argument.getArgNumber(),
                                                              csrDensityAttributeName)) {
        facts.layout = tok::Layout::Csr;
        facts.density = density.getValueAsDouble();
      }
    }
    propagateIfChanged(lattice, lattice->join(facts));
  }

private:
  SymbolNumbers &symbols_;
};

} // namespace

//===- analysis ------------------------------------------------------------------------------===//

FactsAnalysis::FactsAnalysis(Operation *root)
    : root_(root), symbols_(firstOwnSymbol), solver_(DataFlowConfig().setInterprocedural(false)) {
  solver_.load<dataflow::DeadCodeAnalysis>();
  solver_.load<dataflow::SparseConstantPropagation>();
  solver_.load<FactsPropagation>(symbols_);
  if (failed(solver_.initializeAndRun(root)))
    internalError("the analysis of facts does not converge");
}

Facts FactsAnalysis::factsOf(Value value) {
  const FactsLattice *lattice = solver_.lookupState<FactsLattice>(value);
  return symbols_.complete(value, lattice && lattice->facts() ? *lattice->facts() : Facts());
}

std::vector<Contradiction> FactsAnalysis::contradictions() {
  std::vector<Contradiction> found;
  std::string message;
  ScopedDiagnosticHandler capture(root_->getContext(), [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  root_->walk([&](tok::FactsOpInterface op) {
    auto *executable = solver_.lookupState<dataflow::Executable>(op->getBlock());
    if (executable && !executable->isLive())
      return;
    SmallVector<Facts> facts;
    for (Value operand : op->getOperands())
      facts.push_back(factsOf(operand));
    if (failed(op.checkFacts(facts)))
      found.push_back({op, message});
  });
  return found;
}

//===- attributes ----------------------------------------------------------------------------===//

Attribute analysis::factsAttribute(MLIRContext *context, ArrayRef<Dimension> dimensions) {
  SmallVector<int64_t> codes;
  for (Dimension dimension : dimensions) {
    assert(!dimension.isUnknown());
    codes.push_back(dimension.isConstant() ? dimension.constantValue() : -1 - dimension.symbolId());
    codes.push_back(dimension.isConstant() ? -1 : dimension.estimate(-1));
  }
  return DenseI64ArrayAttr::get(context, codes);
}

SmallVector<Dimension> analysis::dimensionsOf(Attribute attribute) {
  SmallVector<Dimension> dimensions;
  auto codes = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  for (int64_t i = 0; codes && i + 1 < codes.size(); i += 2)
    dimensions.push_back(codes[i] >= 0 ? Dimension::constant(codes[i])
                                       : Dimension::symbol(-1 - codes[i], codes[i + 1]));
  return dimensions;
}
