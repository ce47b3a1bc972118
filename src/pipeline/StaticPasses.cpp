#include "pipeline/StaticPasses.h"

#include "base/Error.h"
#include "pipeline/CarryDoubles.h"
#include "pipeline/FoldScales.h"
#include "pipeline/HoistInvariants.h"
#include "pipeline/InlineCalls.h"
#include "pipeline/LiteralScalars.h"
#include "pipeline/MissingValues.h"
#include "pipeline/OutlineBlocks.h"
#include "pipeline/ParforResults.h"
#include "pipeline/PrepareWeights.h"
#include "pipeline/ReportContradictions.h"
#include "pipeline/SinkCells.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <chrono>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

// A pass of MLIR, which does not say whether it changed something.
template <std::unique_ptr<Pass> (*create)(), typename On = ModuleOp>
static FailureOr<bool> applyPass(StaticProgram &program) {
  PassManager passes(program.module.getContext());
  passes.enableVerifier(false); // StaticPassRunner verifies after each pass
  if constexpr (std::is_same_v<On, ModuleOp>)
    passes.addPass(create());
  else
    passes.addNestedPass<On>(create());
  if (failed(passes.run(program.module)))
    return failure();
  return true;
}

template <void (*change)(ModuleOp)> static FailureOr<bool> applyChange(StaticProgram &program) {
  change(program.module);
  return true;
}

template <bool (*change)(ModuleOp, analysis::FactsAnalysis &)>
static FailureOr<bool> applyChangeByFacts(StaticProgram &program) {
  return change(program.module, program.facts());
}

static FailureOr<bool> applyReport(StaticProgram &program) {
  if (failed(reportContradictions(program.module, program.facts())))
    return failure();
  return true;
}

static constexpr StaticPass passes[] = {
    {"dead-functions", "Erases functions that nothing calls.", false,
     applyPass<createSymbolDCEPass>},
    {"inline", "Replaces calls by the bodies of functions.", false, applyChange<inlineCalls>},
    {"keep-products-apart", "Keeps equal products U %*% t(V) from being joined.", false,
     applyChange<keepProductsApart>},
    // Function by function: through the calls that are left, which are recursive or many, MLIR's
    // propagation takes time that grows with the square of their number and more.
    {"constant-propagation", "Propagates scalar constants through control flow.", false,
     applyPass<createSCCPPass, func::FuncOp>},
    {"fold-facts", "Replaces integers that facts prove constant, such as nrow(X).", false,
     applyChangeByFacts<foldFacts>},
    {"report-contradictions", "Reports operations that are proved wrong.", true, applyReport},
    {"canonicalize", "Folds operations and erases what is not used.", false,
     applyPass<createCanonicalizerPass>},
    {"cse", "Computes common subexpressions once.", false, applyPass<createCSEPass>},
    {"carry-doubles", "Carries numbers through loops as doubles where integers are no different.",
     false, applyChange<carryDoubles>},
    {"loop-invariant-code-motion", "Moves what does not change out of loops.", false,
     applyChange<hoistInvariants>},
    {"use-literals-as-scalars", "Makes literals of one cell numbers that kernels know.", false,
     applyChange<useLiteralsAsScalars>},
    {"fold-scales", "Multiplies filters by what their convolution is multiplied by.", false,
     applyChangeByFacts<foldScales>},
    {"prepare-weights", "Computes once, before all calls, what depends on weights alone.", false,
     applyChangeByFacts<prepareWeights>},
    {"sink-transpositions", "Puts transpositions next to the products that use them.", false,
     applyChange<sinkTranspositions>},
    {"sink-cells", "Puts cheap cell operators that loops read next to what reads them.", false,
     applyChange<sinkCells>},
    {"mark-parfor-results", "Says how the iterations of each parfor make up its results.", false,
     applyChange<markParforResults>},
    {"outline-blocks", "Makes straight-line runs of array operations functions of their own.", true,
     applyChange<outlineBlocks>},
};

ArrayRef<StaticPass> pipeline::staticPasses() { return passes; }

analysis::FactsAnalysis &StaticProgram::facts() {
  if (!facts_)
    facts_ = std::make_unique<analysis::FactsAnalysis>(module);
  return *facts_;
}

FailureOr<bool> StaticPassRunner::run(StringRef name) {
  const auto *pass = llvm::find_if(passes, [&](const StaticPass &p) { return p.name == name; });
  if (pass == std::end(passes))
    internalError("there is no static pass " + name.str());
  if (options_.disabled.contains(name) && !pass->required)
    return false;
  auto known = llvm::find_if(runs_, [&](const PassRun &run) { return run.name == name; });
  if (known == runs_.end())
    known = runs_.insert(known, PassRun{pass->name});
  auto start = std::chrono::steady_clock::now();
  FailureOr<bool> changed = pass->apply(program_);
  auto time = std::chrono::steady_clock::now() - start;
  ++known->runs;
  known->nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  if (failed(changed) || (options_.verifyEach && failed(verify(program_.module))))
    return failure();
  if (*changed)
    program_.factsChanged();
  return changed;
}

LogicalResult StaticPassRunner::runAll(std::initializer_list<StringRef> names) {
  return success(llvm::all_of(names, [&](StringRef name) { return succeeded(run(name)); }));
}

bool pipeline::foldFacts(ModuleOp module, analysis::FactsAnalysis &facts) {
  bool changed = false;
  module.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || isa<tok::ConstantOp>(op) ||
        !op->getResult(0).getType().isInteger(64) || !isMemoryEffectFree(op) ||
        op->getNumRegions() != 0)
      return;
    Size value = facts.factsOf(op->getResult(0)).integer;
    if (!value.isConstant())
      return;
    OpBuilder builder(op);
    auto constant = builder.create<tok::ConstantOp>(op->getLoc(), value.constantValue());
    op->getResult(0).replaceAllUsesWith(constant.getResult());
    op->erase();
    changed = true;
  });
  return changed;
}

void pipeline::sinkTranspositions(ModuleOp module) {
  // Collect first: a walk would also visit the clones, which are inserted after their originals.
  SmallVector<tok::TransposeOp> transpositions;
  MissingValues missing(module);
  module.walk([&](tok::TransposeOp op) {
    if (!missing.mayFailFor(op))
      transpositions.push_back(op);
  });
  for (tok::TransposeOp op : transpositions) {
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      if (!isa<tok::MatmulOp>(use.getOwner()))
        continue;
      OpBuilder builder(use.getOwner());
      use.set(builder.clone(*op)->getResult(0));
    }
    if (op.use_empty())
      op.erase();
  }
}

void pipeline::keepProductsApart(ModuleOp module) {
  int64_t number = 0;
  module.walk([&](tok::MatmulOp op) {
    auto transpose = op.getRhs().getDefiningOp<tok::TransposeOp>();
    if (transpose && transpose.getOperand() != op.getLhs())
      op->setAttr(writtenAttributeName,
                  IntegerAttr::get(IntegerType::get(op.getContext(), 64), number++));
  });
}
