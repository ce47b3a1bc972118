#include "rewrite/BlockRules.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

static constexpr BlockRule rules[] = {
    {"fold-sizes", "nrow(X) -> 569", false, foldSizes},
    {"decompose-aggregates", "mean(X) -> sum(X)/length(X)", true, decomposeAggregates},
    {"aggregate-vectors", "colSums(v) -> as.matrix(sum(v))", false, aggregateVectors},
};

ArrayRef<BlockRule> rewrite::blockRules() { return rules; }

void rewrite::foldSizes(func::FuncOp block, analysis::FactsAnalysis &facts) {
  block.walk([&](Operation *op) {
    if (!isa<tok::RowsOp, tok::ColumnsOp, tok::LengthOp>(op))
      return;
    tok::Dimension size = facts.factsOf(op->getResult(0)).integer;
    if (!size.isConstant())
      return;
    OpBuilder builder(op);
    op->replaceAllUsesWith(builder.create<tok::ConstantOp>(op->getLoc(), size.constantValue()));
    op->erase();
  });
}

void rewrite::aggregateVectors(func::FuncOp block, analysis::FactsAnalysis &facts) {
  block.walk([&](tok::AggregateOp op) {
    auto direction = op.getDirection();
    bool index = op.getKind() == AggregateKind::IndexMax || op.getKind() == AggregateKind::IndexMin;
    if (direction == AggregateDirection::Full || index)
      return;
    tok::Facts operand = facts.factsOf(op.getOperand());
    bool wholeVector = direction == AggregateDirection::Column ? operand.isColumnVector() : operand.isRowVector();
    if (!wholeVector)
      return;
    OpBuilder builder(op);
    Value total = builder.create<tok::AggregateOp>(op.getLoc(), op.getKind(), AggregateDirection::Full, op.getOperand());
    op.replaceAllUsesWith(builder.create<tok::CastOp>(op.getLoc(), op.getType(), total).getResult());
    op.erase();
  });
}
