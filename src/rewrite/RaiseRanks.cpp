// Kernels see the arrays that cells are computed of in one rank. This rule shows an operand of a smaller
// rank as one of the result's, with leading dimensions of size 1.
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

static void raiseRank(OpOperand &operand, int64_t rank) {
  Operation *op = operand.getOwner();
  Value value = operand.get();
  OpBuilder builder(op);
  Value one = builder.create<tok::ConstantOp>(op->getLoc(), int64_t{1});
  SmallVector<Value> sizes(rank - rankOf(value), one);
  for (int64_t dimension = 1; dimension <= rankOf(value); ++dimension)
    sizes.push_back(builder.create<tok::SizeOp>(op->getLoc(), builder.getI64Type(), value,
                                                builder.getI64IntegerAttr(dimension)));
  auto type = cast<RankedTensorType>(op->getResult(0).getType())
                  .clone(getElementTypeOrSelf(value.getType()));
  operand.set(builder.create<tok::ViewOp>(op->getLoc(), type, value, sizes));
}

bool rewrite::raiseRanks(func::FuncOp block, analysis::FactsAnalysis &) {
  bool fired = false;
  block.walk([&](Operation *op) {
    if (!isa<tok::BinaryOp, tok::IfElseOp>(op) || !tok::isArray(op->getResult(0).getType()))
      return;
    int64_t rank = rankOf(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands())
      if (tok::isArray(operand.get().getType()) && rankOf(operand.get()) < rank) {
        raiseRank(operand, rank);
        fired = true;
      }
  });
  return fired;
}
