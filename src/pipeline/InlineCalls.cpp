#include "pipeline/InlineCalls.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SCCIterator.h"

using namespace mlir;
using namespace tokamak;

namespace {

// Operations that inlining may add to a program, besides those of functions that are called once.
constexpr int64_t operationBudget = 20000;

// Operations that inlining may give new locations, which name the calls that lead to them: in long
// chains of functions that call each other, each operation gets one for every call of the chain.
constexpr int64_t locationBudget = 2'000'000;

// The functions that calls lead back to.
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

// Gives operations of a function the locations that say where it was called from.
class CallSite {
public:
  explicit CallSite(Location call) : call_(call) {}
  void locate(Operation *op) {
    op->walk([&](Operation *inner) { inner->setLoc(location(inner->getLoc())); });
  }

private:
  Location location(Location callee) {
    LocationAttr &known = known_[callee];
    if (!known)
      known = CallSiteLoc::get(callee, call_);
    return known;
  }

  Location call_;
  llvm::DenseMap<Location, LocationAttr> known_;
};

// The body of a function of the program is one block that ends with a return: control flow is
// structured. A call is replaced where it stands, in time linear in the size of the callee, without
// splitting the caller's block as MLIR's inliner has to.
void replaceByBody(tok::CallOp call, func::FuncOp callee, bool isOnlyCall) {
  Block &body = callee.getBody().front();
  CallSite site(call.getLoc());
  llvm::SmallVector<Value> results;
  if (isOnlyCall) {
    for (auto [argument, input] : llvm::zip(body.getArguments(), call.getInputs()))
      argument.replaceAllUsesWith(input);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
      op.moveBefore(call);
      site.locate(&op);
    }
    llvm::append_range(results, body.getTerminator()->getOperands());
  } else {
    OpBuilder builder(call);
    IRMapping values;
    values.map(body.getArguments(), call.getInputs());
    for (Operation &op : body.without_terminator())
      site.locate(builder.clone(op, values));
    for (Value result : body.getTerminator()->getOperands())
      results.push_back(values.lookup(result));
  }
  call.replaceAllUsesWith(results);
  call.erase();
}

struct InlineCallsPass : PassWrapper<InlineCallsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineCallsPass)
  StringRef getArgument() const final { return "tok-inline"; }
  StringRef getDescription() const final { return "Inline functions into their callers"; }

  void runOnOperation() final {
    budget_ = operationBudget;
    locations_ = locationBudget;
    callCounts_.clear();
    sizes_.clear();
    SymbolTable functions(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      sizes_[function] = countOperations(function.getBody());
      countCalls(function, functions);
    }
    CallGraph &calls = getAnalysis<CallGraph>();
    recursive_ = recursiveFunctions(calls);

    // Callees come before their callers: a function that is inlined has its own calls inlined.
    llvm::SmallVector<func::FuncOp> order;
    for (auto component = llvm::scc_begin<const CallGraph *>(&calls); !component.isAtEnd();
         ++component)
      for (CallGraphNode *node : *component)
        if (!node->isExternal())
          order.push_back(cast<func::FuncOp>(node->getCallableRegion()->getParentOp()));
    for (func::FuncOp caller : order) {
      llvm::SmallVector<tok::CallOp> inside;
      caller.walk([&](tok::CallOp call) { inside.push_back(call); });
      for (tok::CallOp call : inside)
        inlineCall(call, caller, functions);
    }
  }

private:
  void countCalls(Operation *inside, SymbolTable &functions) {
    inside->walk([&](tok::CallOp call) { ++callCounts_[functions.lookup(call.getCallee())]; });
  }

  void inlineCall(tok::CallOp call, func::FuncOp caller, SymbolTable &functions) {
    auto callee = functions.lookup<func::FuncOp>(call.getCallee());
    bool isOnlyCall = callCounts_.lookup(callee) == 1 && callee.isPrivate();
    int64_t size = sizes_.lookup(callee);
    // A recursive function stays a call: the depth of the recursion is known during the run only.
    if (recursive_.contains(callee) || size > locations_ || (!isOnlyCall && size > budget_))
      return;
    locations_ -= size;
    sizes_[caller] += size;
    if (!isOnlyCall) {
      budget_ -= size;
      countCalls(callee, functions); // the copies of the calls that were not inlined into it
    }
    replaceByBody(call, callee, isOnlyCall);
    if (--callCounts_[callee] == 0 && callee.isPrivate())
      functions.erase(callee);
  }

  int64_t budget_ = 0, locations_ = 0;
  llvm::DenseMap<Operation *, int> callCounts_;
  llvm::DenseMap<Operation *, int64_t> sizes_; // of functions, with what was inlined into them
  llvm::DenseSet<Operation *> recursive_;
};

} // namespace

std::unique_ptr<Pass> pipeline::createInlineCallsPass() {
  return std::make_unique<InlineCallsPass>();
}
