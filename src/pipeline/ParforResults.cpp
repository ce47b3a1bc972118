#include "pipeline/ParforResults.h"

#include "ir/tok/TokDialect.h"
#include "pipeline/OutlineBlocks.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;

namespace {

enum class Kind { Cells, Sum };

// The values through which a carried value passes in one iteration, from the body's argument to
// what the body yields, and the operations that change it.
struct ResultChain {
  llvm::DenseSet<Value> values;
  llvm::DenseSet<OpOperand *> links; // the uses by which one value of the chain becomes the next
  SmallVector<Operation *> inserts;
  SmallVector<OpResult> innerResults; // of tok.parfors in the body
};

class ChainSearch {
public:
  ChainSearch(tok::ParForOp loop, unsigned carried, Kind kind)
      : loop_(loop), argument_(loop.getBodyRegion().getArgument(1 + carried)), kind_(kind) {}

  // Follows the value backwards; false if it does not come from the argument in this way.
  bool follow(Value value, ResultChain &chain) {
    if (!loop_.getBodyRegion().isAncestor(value.getParentRegion()))
      return false;
    if (!chain.values.insert(value).second || value == argument_)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *inner = argument.getOwner()->getParentOp();
      unsigned counters = isa<tok::WhileOp>(inner) ? 0 : 1;
      return inner != loop_ && argument.getArgNumber() >= counters &&
             followLoop(inner, argument.getArgNumber() - counters, chain);
    }
    auto result = cast<OpResult>(value);
    return llvm::TypeSwitch<Operation *, bool>(result.getOwner())
        .Case([&](tok::IfOp op) {
          return llvm::all_of(op->getRegions(), [&](Region &region) {
            return followLink(yielded(region, result.getResultNumber()), chain);
          });
        })
        .Case<tok::WhileOp, tok::ForOp, tok::ParForOp>(
            [&](Operation *inner) { return followLoop(inner, result.getResultNumber(), chain); })
        .Case([&](tok::InsertOp op) {
          chain.inserts.push_back(op);
          return kind_ == Kind::Cells && tok::isArray(op.getType()) &&
                 followLink(op->getOpOperand(0), chain);
        })
        .Case([&](tok::CallNativeOp op) {
          return kind_ == Kind::Cells && op.getNativeName() == "list_insert" &&
                 followLink(op->getOpOperand(0), chain);
        })
        .Case([&](tok::BinaryOp op) {
          return kind_ == Kind::Sum && op.getKind() == tokamak::BinaryOperator::Add &&
                 followSummand(op, chain);
        })
        .Default(false);
  }

private:
  static OpOperand &yielded(Region &region, unsigned number) {
    return region.front().getTerminator()->getOpOperand(number);
  }

  bool followLink(OpOperand &use, ResultChain &chain) {
    chain.links.insert(&use);
    return follow(use.get(), chain);
  }

  bool followSummand(tok::BinaryOp op, ResultChain &chain) {
    ResultChain attempt = chain;
    if (followLink(op->getOpOperand(0), attempt)) {
      chain = std::move(attempt);
      return true;
    }
    return followLink(op->getOpOperand(1), chain);
  }

  // A carried value of an inner loop, seen from behind the loop or from its body.
  bool followLoop(Operation *inner, unsigned number, ResultChain &chain) {
    if (isa<tok::ParForOp>(inner)) {
      OpResult result = inner->getResult(number);
      if (!llvm::is_contained(chain.innerResults, result))
        chain.innerResults.push_back(result);
    }
    for (Region &region : inner->getRegions()) {
      unsigned first = isa<tok::ConditionOp>(region.front().getTerminator()) ? 1 : 0;
      if (!followLink(yielded(region, first + number), chain))
        return false;
    }
    unsigned firstInit = inner->getNumOperands() - inner->getNumResults();
    return followLink(inner->getOpOperand(firstInit + number), chain);
  }

  tok::ParForOp loop_;
  BlockArgument argument_;
  Kind kind_;
};

// No iteration sees the sum so far.
bool isUnread(const ResultChain &chain) {
  return llvm::all_of(chain.values, [&](Value value) {
    return llvm::all_of(value.getUses(),
                        [&](OpOperand &use) { return chain.links.contains(&use); });
  });
}

bool isSummable(Type type) { return tok::isArray(type) || type.isF64() || type.isInteger(64); }

// The attribute of one carried value; empty where iterations must run in order.
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
        continue; // the inner loop's; it passes on what was replaced
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
