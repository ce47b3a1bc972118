#include "pipeline/InlineCalls.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Inliner.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;

namespace {

// Operations that inlining may add to a program, besides those of functions that are called once.
constexpr int64_t operationBudget = 20000;

using Callees = llvm::DenseMap<Operation *, llvm::SetVector<Operation *>>;

// Whether calls lead from one function to another.
bool reaches(Operation *from, Operation *to, const Callees &callees) {
  llvm::SetVector<Operation *> reached;
  if (auto direct = callees.find(from); direct != callees.end())
    reached = direct->second;
  for (size_t i = 0; i < reached.size(); ++i)
    if (auto next = callees.find(reached[i]); next != callees.end())
      for (Operation *callee : next->second)
        reached.insert(callee);
  return reached.contains(to);
}

struct InlineCallsPass : PassWrapper<InlineCallsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineCallsPass)
  StringRef getArgument() const final { return "tok-inline"; }
  StringRef getDescription() const final { return "Inline functions into their callers"; }

  // func.return is inlinable only with this extension.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tok::TokDialect, func::FuncDialect>();
    func::registerInlinerExtension(registry);
  }

  void runOnOperation() final {
    llvm::DenseMap<Operation *, int> callCounts;
    Callees callees;
    SymbolTable functions(getOperation());
    getOperation()->walk([&](tok::CallOp call) {
      Operation *callee = functions.lookup(call.getCallee());
      ++callCounts[callee];
      callees[call->getParentOfType<func::FuncOp>()].insert(callee);
    });

    int64_t budget = operationBudget;
    auto fits = [&](const Inliner::ResolvedCall &call) {
      Region *body = call.targetNode->getCallableRegion();
      // A recursion counts its calls.
      if (reaches(body->getParentOp(), body->getParentOp(), callees))
        return false;
      if (callCounts.lookup(body->getParentOp()) == 1)
        return true;
      int64_t size = 0;
      body->walk([&](Operation *) { ++size; });
      if (size > budget)
        return false;
      budget -= size;
      return true;
    };
    auto runPipelineHelper = [](Pass &pass, OpPassManager &pipeline, Operation *op) {
      return static_cast<InlineCallsPass &>(pass).runPipeline(pipeline, op);
    };
    // No simplification here: the pipeline runs it.
    InlinerConfig config([](OpPassManager &) {}, /*maxInliningIterations=*/4);
    CallGraph &calls = getAnalysis<CallGraph>();
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
