#include "pipeline/InlineCalls.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Inliner.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SCCIterator.h"

using namespace mlir;
using namespace tokamak;

namespace {

// The number of operations that inlining may add to a program. Functions with one call count as
// none.
constexpr int64_t operationBudget = 20000;

// The number of locations that inlining may create. Locations name the calls that lead to an
// operation: in a long chain of calls, each operation gets a new one for every call of the chain.
constexpr int64_t locationBudget = 2'000'000;

// The functions that call themselves, directly or through others.
llvm::DenseSet<Operation *> recursiveFunctions(const CallGraph &calls) {
  llvm::DenseSet<Operation *> recursive;
  for (auto component = llvm::scc_begin(&calls); !component.isAtEnd(); ++component) {
    if (!component.hasCycle())
      continue;
    for (CallGraphNode *node : *component)
      if (!node->isExternal())
        recursive.insert(node->getCallableRegion()->getParentOp());
  }
  return recursive;
}

int64_t countOperations(Region &region) {
  int64_t count = 0;
  region.walk([&](Operation *) { ++count; });
  return count;
}

struct InlineCallsPass : PassWrapper<InlineCallsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineCallsPass)
  StringRef getArgument() const final { return "tok-inline"; }
  StringRef getDescription() const final { return "Inline functions into their callers"; }

  // Without this extension func.return can't be inlined.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tok::TokDialect, func::FuncDialect>();
    func::registerInlinerExtension(registry);
  }

  void runOnOperation() final {
    llvm::DenseMap<Operation *, int> callCounts;
    llvm::DenseMap<Operation *, int64_t> sizes; // of functions, with what was inlined into them
    SymbolTable functions(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      sizes[function] = countOperations(function.getBody());
      function.walk([&](tok::CallOp call) { ++callCounts[functions.lookup(call.getCallee())]; });
    }
    CallGraph &calls = getAnalysis<CallGraph>();
    llvm::DenseSet<Operation *> recursive = recursiveFunctions(calls);

    int64_t budget = operationBudget, locations = locationBudget;
    auto fits = [&](const Inliner::ResolvedCall &call) {
      Operation *callee = call.targetNode->getCallableRegion()->getParentOp();
      // Recursive functions stay calls: the runtime counts the depth of calls.
      if (recursive.contains(callee))
        return false;
      int64_t size = sizes.lookup(callee);
      bool isOnlyCall = callCounts.lookup(callee) == 1;
      if (size > locations || (!isOnlyCall && size > budget))
        return false;
      locations -= size;
      sizes[call.call->getParentOfType<func::FuncOp>()] += size;
      if (!isOnlyCall)
        budget -= size;
      return true;
    };
    auto runPipelineHelper = [](Pass &pass, OpPassManager &pipeline, Operation *op) {
      return static_cast<InlineCallsPass &>(pass).runPipeline(pipeline, op);
    };
    // No simplification here: the pipeline does it.
    InlinerConfig config([](OpPassManager &) {}, /*maxInliningIterations=*/4);
    Inliner inliner(getOperation(), calls, *this, getAnalysisManager(), runPipelineHelper, config,
                    fits);
    if (failed(inliner.doInlining()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> pipeline::createInlineCallsPass() {
  return std::make_unique<InlineCallsPass>();
}
