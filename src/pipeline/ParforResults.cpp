#include "pipeline/ParforResults.h"

#include "ir/tok/TokDialect.h"
#include "pipeline/OutlineBlocks.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;

namespace {

enum class Kind { Cells, Sum };

// The chain of values from the body's argument for a carried value to the value that the body
// yields for it, and the operations that change it.
struct ResultChain {
  llvm::DenseSet<Value> values;
  llvm::DenseSet<OpOperand *> links; // the uses that lead from one value of the chain to the next
  SmallVector<Operation *> inserts;
  SmallVector<OpResult> innerResults; // of tok.parfors in the body
};

class ChainSearch {
public:
  ChainSearch(tok::ParForOp loop, unsigned carried, Kind kind)
      : loop_(loop), argument_(loop.getBodyRegion().getArgument(1 + carried)), kind_(kind) {
    if (kind_ == Kind::Sum)
      findDependents();
  }

  // Follows the value backwards; false if the chain does not end at the body's argument.
  bool follow(Value value, ResultChain &chain) {
    pending_ = {value};
    while (!pending_.empty()) {
      Value next = pending_.pop_back_val();
      if (!loop_.getBodyRegion().isAncestor(next.getParentRegion()))
        return false;
      if (chain.values.insert(next).second && next != argument_ && !followOne(next, chain))
        return false;
    }
    return true;
  }

private:
  // The positions of a loop's carried values: after the counter among the arguments of its body,
  // and after bounds and step among its operands.
  static unsigned counters(Operation *loop) { return isa<tok::WhileOp>(loop) ? 0 : 1; }
  static unsigned firstInit(Operation *loop) {
    return loop->getNumOperands() - loop->getNumResults();
  }
  static OpOperand &yielded(Region &region, unsigned number) {
    return region.front().getTerminator()->getOpOperand(number);
  }

  void addLink(OpOperand &use, ResultChain &chain) {
    chain.links.insert(&use);
    pending_.push_back(use.get());
  }

  bool followOne(Value value, ResultChain &chain) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *inner = argument.getOwner()->getParentOp();
      if (inner == loop_ || argument.getArgNumber() < counters(inner))
        return false;
      followLoop(inner, argument.getArgNumber() - counters(inner), chain);
      return true;
    }
    auto result = cast<OpResult>(value);
    return llvm::TypeSwitch<Operation *, bool>(result.getOwner())
        .Case([&](tok::IfOp op) {
          for (Region &region : op->getRegions())
            addLink(yielded(region, result.getResultNumber()), chain);
          return true;
        })
        .Case<tok::WhileOp, tok::ForOp, tok::ParForOp>([&](Operation *inner) {
          followLoop(inner, result.getResultNumber(), chain);
          return true;
        })
        .Case([&](tok::InsertOp op) {
          chain.inserts.push_back(op);
          addLink(op->getOpOperand(0), chain);
          return kind_ == Kind::Cells && tok::isArray(op.getType());
        })
        .Case([&](tok::CallNativeOp op) {
          if (kind_ != Kind::Cells || op.getNativeName() != "list_insert")
            return false;
          addLink(op->getOpOperand(0), chain);
          return true;
        })
        .Case([&](tok::BinaryOp op) {
          // Iterations' sums are added by the rule of DML.
          bool isOfDml = tok::isScalar(op.getType()) || op.getOneRepeated();
          if (kind_ != Kind::Sum || op.getKind() != tokamak::BinaryOperator::Add || !isOfDml)
            return false;
          // If both operands depend on the argument, only one is a link; the other one is found to
          // read the sum by isUnread.
          unsigned summand = dependents_.contains(op.getLhs()) ? 0 : 1;
          addLink(op->getOpOperand(summand), chain);
          return dependents_.contains(op->getOperand(summand));
        })
        .Default(false);
  }

  // Follows a carried value of an inner loop, from the loop's result or
  // from an argument of its body.
  void followLoop(Operation *inner, unsigned number, ResultChain &chain) {
    if (isa<tok::ParForOp>(inner)) {
      OpResult result = inner->getResult(number);
      if (!llvm::is_contained(chain.innerResults, result))
        chain.innerResults.push_back(result);
    }
    for (Region &region : inner->getRegions()) {
      unsigned first = isa<tok::ConditionOp>(region.front().getTerminator()) ? 1 : 0;
      addLink(yielded(region, first + number), chain);
    }
    addLink(inner->getOpOperand(firstInit(inner) + number), chain);
  }

  // Finds all values in the body that depend on the argument.
  void findDependents() {
    SmallVector<Value> pending = {argument_};
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (dependents_.insert(value).second)
        for (OpOperand &use : value.getUses())
          appendDependents(use, pending);
    }
  }

  void appendDependents(OpOperand &use, SmallVectorImpl<Value> &pending) const {
    Operation *user = use.getOwner(), *passesOn = user;
    int number = -1; // index of a carried value; -1: the operand may influence all results
    if (user->hasTrait<OpTrait::IsTerminator>()) {
      passesOn = user->getParentOp();
      number = static_cast<int>(use.getOperandNumber()) - isa<tok::ConditionOp>(user);
    } else if (isa<LoopLikeOpInterface>(user)) {
      number = static_cast<int>(use.getOperandNumber()) - static_cast<int>(firstInit(user));
    }
    if (passesOn == loop_)
      return;
    bool isLoop = isa<LoopLikeOpInterface>(passesOn);
    for (OpResult result : passesOn->getResults()) {
      if (number >= 0 && static_cast<int>(result.getResultNumber()) != number)
        continue;
      pending.push_back(result);
      if (isLoop)
        for (Region &region : passesOn->getRegions())
          pending.push_back(region.getArgument(counters(passesOn) + result.getResultNumber()));
    }
  }

  tok::ParForOp loop_;
  BlockArgument argument_;
  Kind kind_;
  SmallVector<Value> pending_;       // worklist of follow()
  llvm::DenseSet<Value> dependents_; // for Kind::Sum only
};

// Whether no iteration reads the partial sum.
bool isUnread(const ResultChain &chain) {
  return llvm::all_of(chain.values, [&](Value value) {
    return llvm::all_of(value.getUses(),
                        [&](OpOperand &use) { return chain.links.contains(&use); });
  });
}

bool isSummable(Type type) { return tok::isArray(type) || type.isF64() || type.isInteger(64); }

// The element of `tok.merges` for one carried value; empty if iterations must run in order.
StringRef mergeOf(tok::ParForOp loop, unsigned carried) {
  OpBuilder builder(loop);
  Region &body = loop.getBodyRegion();
  BlockArgument argument = body.getArgument(1 + carried);
  OpOperand &yielded = body.front().getTerminator()->getOpOperand(carried);
  if (argument.use_empty() || yielded.get() == argument)
    return "last";
  ResultChain cells;
  if ((tok::isArray(argument.getType()) || isa<tok::ListType>(argument.getType())) &&
      ChainSearch(loop, carried, Kind::Cells).follow(yielded.get(), cells)) {
    for (Operation *insert : cells.inserts) {
      if (insert->getParentOfType<tok::ParForOp>() != loop)
        continue; // it belongs to an inner parfor, which passes its cells on
      if (insert->hasAttr(pipeline::updatesAttributeName))
        return "";
      insert->setAttr(pipeline::updatesAttributeName, builder.getI64IntegerAttr(carried));
    }
    for (OpResult result : cells.innerResults) {
      if (result.getOwner()->getParentOfType<tok::ParForOp>() != loop)
        continue;
      SmallVector<int64_t> outer(result.getOwner()->getNumResults(), -1);
      if (auto known = result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(
              pipeline::outerValuesAttributeName))
        outer.assign(known.asArrayRef().begin(), known.asArrayRef().end());
      outer[result.getResultNumber()] = carried;
      result.getOwner()->setAttr(pipeline::outerValuesAttributeName,
                                 builder.getDenseI64ArrayAttr(outer));
    }
    return "cells";
  }
  ResultChain sum;
  if (isSummable(argument.getType()) &&
      ChainSearch(loop, carried, Kind::Sum).follow(yielded.get(), sum)) {
    sum.links.insert(&yielded);
    if (isUnread(sum))
      return "sum";
  }
  return "";
}

} // namespace

void pipeline::markParforResults(ModuleOp module) {
  module.walk([](tok::ParForOp loop) {
    SmallVector<StringRef> merges;
    for (unsigned carried = 0; carried < loop->getNumResults(); ++carried)
      merges.push_back(mergeOf(loop, carried));
    if (!llvm::is_contained(merges, StringRef()))
      loop->setAttr(mergesAttributeName, OpBuilder(loop).getStrArrayAttr(merges));
  });
}
