#include "pipeline/StaticPhase.h"

#include "analysis/FactsAnalysis.h"
#include "pipeline/InlineCalls.h"
#include "pipeline/OutlineBlocks.h"
#include "pipeline/ParforResults.h"
#include "pipeline/ReportContradictions.h"
#include "pipeline/SinkCells.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

static constexpr llvm::StringLiteral names[] = {
    "inline",         "constant-propagation",       "canonicalize",        "cse",
    "fold-facts",     "loop-invariant-code-motion", "sink-transpositions", "sink-cells",
    "dead-functions",
};

ArrayRef<llvm::StringLiteral> pipeline::staticPassNames() { return names; }

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
  module.walk([&](tok::TransposeOp op) { transpositions.push_back(op); });
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

LogicalResult pipeline::runStaticPhase(ModuleOp module, const StaticOptions &options) {
  auto enabled = [&](StringRef name) { return !options.disabled.contains(name); };
  auto propagateConstants = [&] {
    PassManager passes(module.getContext());
    passes.enableVerifier(options.verifyEach);
    if (enabled("constant-propagation"))
      // Function by function: through the calls that are left, which are recursive or many, MLIR's
      // propagation takes time that grows with the square of their number and more.
      passes.addNestedPass<func::FuncOp>(createSCCPPass());
    return passes.run(module);
  };
  auto simplify = [&] {
    if (failed(propagateConstants()))
      return failure();
    PassManager passes(module.getContext());
    passes.enableVerifier(options.verifyEach);
    if (enabled("canonicalize"))
      passes.addPass(createCanonicalizerPass());
    if (enabled("cse"))
      passes.addPass(createCSEPass());
    return passes.run(module);
  };
  // Sizes become constants, then branches on sizes fold, which makes more sizes constant: repeats
  // `transform` until nothing changes, which takes at most one round for each operation, and two for
  // usual scripts. Then reports operations that are proved wrong.
  auto settle = [&](auto transform) -> LogicalResult {
    while (true) {
      if (failed(transform()))
        return failure();
      analysis::FactsAnalysis facts(module);
      if (!enabled("fold-facts") || !foldFacts(module, facts))
        return reportContradictions(module, facts);
    }
  };

  PassManager prepare(module.getContext());
  prepare.enableVerifier(options.verifyEach);
  bool hasCalls = llvm::hasSingleElement(module.getOps<func::FuncOp>()) == false;
  if (hasCalls && enabled("dead-functions"))
    prepare.addPass(createSymbolDCEPass());
  if (hasCalls && enabled("inline"))
    prepare.addPass(createInlineCallsPass());
  if (failed(prepare.run(module)))
    return failure();

  keepProductsApart(module);

  // The first time nothing is erased, so that operations that are proved wrong are reported even if
  // their results are not used.
  if (failed(settle(propagateConstants)) || failed(settle(simplify)))
    return failure();

  PassManager finish(module.getContext());
  finish.enableVerifier(options.verifyEach);
  if (enabled("loop-invariant-code-motion"))
    finish.addPass(createLoopInvariantCodeMotionPass());
  if (failed(finish.run(module)))
    return failure();
  if (enabled("sink-transpositions"))
    sinkTranspositions(module);
  if (enabled("sink-cells"))
    sinkCells(module);
  markParforResults(module);
  outlineBlocks(module);
  return success();
}
