#include "pipeline/MissingValues.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

namespace {

// The values that an operand is passed on as, without being read.
class Passing {
public:
  explicit Passing(ModuleOp module) : functions_(module) {
    module.walk([&](tok::CallOp call) { calls_[call.getCallee()].push_back(call); });
  }

  SmallVector<Value> of(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    unsigned position = operand.getOperandNumber();
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return carriedBy(loop, position - (op->getNumOperands() - loop->getNumResults()));
    if (isa<tok::YieldOp>(op)) {
      if (auto loop = dyn_cast<LoopLikeOpInterface>(op->getParentOp()))
        return carriedBy(loop, position);
      return {op->getParentOp()->getResult(position)};
    }
    if (isa<tok::ConditionOp>(op))
      return carriedBy(cast<LoopLikeOpInterface>(op->getParentOp()), position - 1);
    if (auto call = dyn_cast<tok::CallOp>(op))
      return {functions_.lookup<func::FuncOp>(call.getCallee()).getArgument(position)};
    SmallVector<Value> results;
    if (isa<func::ReturnOp>(op))
      if (auto found = calls_.find(cast<func::FuncOp>(op->getParentOp()).getSymName());
          found != calls_.end())
        for (tok::CallOp call : found->second)
          results.push_back(call->getResult(position));
    return results;
  }

private:
  // The value at this position among those that the loop carries, in its regions and after it;
  // none for a bound of the loop, which it reads.
  static SmallVector<Value> carriedBy(LoopLikeOpInterface loop, unsigned position) {
    if (position >= loop->getNumResults())
      return {};
    SmallVector<Value> values = {loop->getResult(position)};
    for (Region *region : loop.getLoopRegions())
      values.push_back(
          region->getArgument(region->getNumArguments() - loop->getNumResults() + position));
    return values;
  }

  SymbolTable functions_;
  llvm::StringMap<SmallVector<tok::CallOp>> calls_;
};

} // namespace

MissingValues::MissingValues(ModuleOp module) {
  Passing passing(module);
  SmallVector<Value> reached;
  auto reach = [&](Value value) {
    if (missing_.insert(value).second)
      reached.push_back(value);
  };
  module.walk([&](tok::UndefOp op) { reach(op.getResult()); });
  while (!reached.empty())
    for (OpOperand &use : reached.pop_back_val().getUses())
      llvm::for_each(passing.of(use), reach);
}

bool MissingValues::mayFailFor(Operation *op) const {
  return op
      ->walk([&](Operation *inner) {
        bool reads = !inner->hasTrait<OpTrait::IsTerminator>();
        bool mayFail = reads && llvm::any_of(inner->getOperands(), [&](Value operand) {
                         return missing_.contains(operand);
                       });
        return mayFail ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
