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

// Of tok.call: the call is to be replaced by the body of its function.
constexpr StringLiteral inlineAttributeName = "tok.inline";

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

// Inlining in time linear in the size of the program that it makes. Which calls are inlined is
// decided from callees to callers, so that the sizes of callees are known. Then bodies are put in
// place from callers to callees: each operation is placed, and gets its location, once. The body of
// a function is one block that ends with a return (control flow is structured), so that a call is
// replaced where it stands, without splitting the caller's block as MLIR's inliner has to.
class Inlining {
public:
  explicit Inlining(ModuleOp module) : functions_(module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      sizes_[function] = countOperations(function.getBody());
      countCalls(function);
    }
  }

  // Calls of this function stay: how deep a recursion goes is known during the run only.
  void keepCallsOf(func::FuncOp function) { recursive_.insert(function); }

  // Decides for each call of the caller; the functions that it calls have been decided, or noted as
  // recursive.
  void decide(func::FuncOp caller) {
    caller.walk([&](tok::CallOp call) {
      func::FuncOp callee = calleeOf(call);
      int64_t size = sizes_.lookup(callee);
      bool isOnlyCall = callCounts_.lookup(callee) == 1;
      if (recursive_.contains(callee) || (!isOnlyCall && size > budget_))
        return;
      if (!isOnlyCall)
        budget_ -= size;
      sizes_[caller] += size;
      call->setAttr(inlineAttributeName, UnitAttr::get(call.getContext()));
    });
  }

  // Replaces the calls of a function, and those of the bodies that this brings in. By name: a
  // function whose last call has been replaced is gone.
  void replaceCalls(StringAttr name) {
    auto caller = functions_.lookup<func::FuncOp>(name);
    if (!caller)
      return;
    llvm::SmallVector<tok::CallOp> open;
    auto collect = [&](Operation *op) {
      op->walk([&](tok::CallOp call) {
        if (call->hasAttr(inlineAttributeName))
          open.push_back(call);
      });
    };
    collect(caller);
    while (!open.empty()) {
      tok::CallOp call = open.pop_back_val();
      func::FuncOp callee = calleeOf(call);
      bool isLastCall = callCounts_.lookup(callee) == 1 && callee.isPrivate();
      CallSite site(call.getLoc());
      auto place = [&](Operation *op) {
        site.locate(op);
        collect(op);
      };
      llvm::SmallVector<Value> results =
          isLastCall ? moveBody(call, callee, place) : copyBody(call, callee, place);
      call.replaceAllUsesWith(results);
      call.erase();
      --callCounts_[callee];
      if (isLastCall)
        functions_.erase(callee);
    }
  }

private:
  func::FuncOp calleeOf(tok::CallOp call) {
    return functions_.lookup<func::FuncOp>(call.getCallee());
  }

  void countCalls(Operation *inside) {
    inside->walk([&](tok::CallOp call) { ++callCounts_[calleeOf(call)]; });
  }

  using Place = llvm::function_ref<void(Operation *)>;

  llvm::SmallVector<Value> moveBody(tok::CallOp call, func::FuncOp callee, Place place) {
    Block &body = callee.getBody().front();
    for (auto [argument, input] : llvm::zip(body.getArguments(), call.getInputs()))
      argument.replaceAllUsesWith(input);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
      op.moveBefore(call);
      place(&op);
    }
    return llvm::to_vector(body.getTerminator()->getOperands());
  }

  llvm::SmallVector<Value> copyBody(tok::CallOp call, func::FuncOp callee, Place place) {
    Block &body = callee.getBody().front();
    OpBuilder builder(call);
    IRMapping values;
    values.map(body.getArguments(), call.getInputs());
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, values);
      countCalls(copy);
      place(copy);
    }
    llvm::SmallVector<Value> results;
    for (Value result : body.getTerminator()->getOperands())
      results.push_back(values.lookup(result));
    return results;
  }

  SymbolTable functions_;
  int64_t budget_ = operationBudget;
  llvm::DenseSet<Operation *> recursive_;
  llvm::DenseMap<Operation *, int> callCounts_;
  llvm::DenseMap<Operation *, int64_t> sizes_; // of functions, with what is inlined into them
};

} // namespace

void pipeline::inlineCalls(ModuleOp module) {
  const CallGraph calls(module);
  llvm::SmallVector<StringAttr> callersFirst;
  Inlining inlining(module);
  for (auto component = llvm::scc_begin(&calls); !component.isAtEnd(); ++component) {
    llvm::SmallVector<func::FuncOp> functions;
    for (CallGraphNode *node : *component)
      if (!node->isExternal())
        functions.push_back(cast<func::FuncOp>(node->getCallableRegion()->getParentOp()));
    if (component.hasCycle())
      llvm::for_each(functions, [&](func::FuncOp function) { inlining.keepCallsOf(function); });
    for (func::FuncOp function : functions) {
      inlining.decide(function);
      callersFirst.push_back(function.getSymNameAttr());
    }
  }
  std::reverse(callersFirst.begin(), callersFirst.end());
  for (StringAttr name : callersFirst)
    inlining.replaceCalls(name);
}
