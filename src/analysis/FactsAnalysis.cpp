#include "analysis/FactsAnalysis.h"

#include "base/Error.h"
#include "ir/tok/InferFacts.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::analysis;
using tok::Facts;

//===- symbols -------------------------------------------------------------------------------===//

Size SymbolNumbers::of(Value value, int dimension) {
  auto [entry, inserted] = numbers_.try_emplace({value, dimension}, next_);
  if (inserted)
    ++next_;
  return dimension < 0 ? Size::symbol(entry->second, -1, Size::ofIntegers)
                       : Size::symbol(entry->second);
}

Facts SymbolNumbers::complete(Value value, Facts facts) {
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    if (facts.dims.empty())
      facts.dims.assign(tensor.getRank(), Size::unknown());
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
        joined.dims.push_back(Size::join(a, b));
    joined.value = facts_->value == other.value ? facts_->value : Attribute();
    joined.integer = Size::join(facts_->integer, other.integer);
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
  FactsPropagation(DataFlowSolver &solver, SymbolNumbers &symbols,
                   FactsAnalysis::Arguments arguments)
      : SparseForwardDataFlowAnalysis(solver), symbols_(symbols), arguments_(arguments) {}

  void visitOperation(Operation *op, ArrayRef<const FactsLattice *> operands,
                      ArrayRef<FactsLattice *> results) override {
    SmallVector<Facts> operandFacts;
    for (auto [operand, lattice] : llvm::zip(op->getOperands(), operands)) {
      if (!lattice->facts())
        return; // not reached yet
      operandFacts.push_back(symbols_.complete(operand, *lattice->facts()));
    }
    SmallVector<Facts> resultFacts(op->getNumResults());
    tok::inferFacts(op, operandFacts, resultFacts);
    for (auto [lattice, facts] : llvm::zip(results, resultFacts))
      propagateIfChanged(lattice, lattice->join(facts));
  }

  void setToEntryState(FactsLattice *lattice) override {
    Facts facts;
    auto argument = dyn_cast<BlockArgument>(lattice->getPoint());
    auto function =
        argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
    if (function && argument.getOwner()->isEntryBlock()) {
      unsigned number = argument.getArgNumber();
      auto sizes = tok::sizesOf(function.getArgAttr(number, tok::sizesAttributeName));
      if (!sizes && arguments_ == FactsAnalysis::Arguments::Expected)
        sizes = tok::sizesOf(function.getArgAttr(number, tok::expectedSizesAttributeName));
      if (sizes && tok::isArray(argument.getType()))
        facts.dims.assign(sizes->begin(), sizes->end());
      else if (sizes && !sizes->empty())
        facts.integer = sizes->front();
      if (auto density = function.getArgAttrOfType<FloatAttr>(number, sparseDensityAttributeName)) {
        facts.layout = tok::Layout::Sparse;
        facts.density = density.getValueAsDouble();
      }
    }
    propagateIfChanged(lattice, lattice->join(facts));
  }

private:
  SymbolNumbers &symbols_;
  const FactsAnalysis::Arguments arguments_;
};

} // namespace

//===- analysis ------------------------------------------------------------------------------===//

// The only function of a module on its own, as it is after inlining: for a module, the solver searches all
// attributes for uses of functions.
static Operation *scopeOf(Operation *root) {
  auto module = dyn_cast<ModuleOp>(root);
  return module && llvm::hasSingleElement(*module.getBody()) ? &module.getBody()->front() : root;
}

FactsAnalysis::FactsAnalysis(Operation *root, Arguments arguments)
    : root_(root), symbols_(firstOwnSymbol), solver_(DataFlowConfig().setInterprocedural(false)) {
  solver_.load<dataflow::DeadCodeAnalysis>();
  solver_.load<dataflow::SparseConstantPropagation>();
  solver_.load<FactsPropagation>(symbols_, arguments);
  if (failed(solver_.initializeAndRun(scopeOf(root))))
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
