#include "rewrite/BlockRules.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

static constexpr BlockRule rules[] = {
    {"fold-sizes", "nrow(X) -> 569", false, foldSizes},
    {"decompose-aggregates", "mean(X) -> sum(X)/length(X)", true, decomposeAggregates},
    {"aggregate-vectors", "colSums(v) -> as.matrix(sum(v))", false, aggregateVectors},
};

static constexpr BlockRule afterFusion[] = {
    {"absorb-transpositions", "t(A) %*% B -> a product that reads A by columns", false,
     absorbTranspositions},
};

ArrayRef<BlockRule> rewrite::blockRules() { return rules; }
ArrayRef<BlockRule> rewrite::nativeRules() { return afterFusion; }

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
    bool wholeVector =
        direction == AggregateDirection::Column ? operand.isColumnVector() : operand.isRowVector();
    if (!wholeVector)
      return;
    OpBuilder builder(op);
    Value total = builder.create<tok::AggregateOp>(op.getLoc(), op.getKind(),
                                                   AggregateDirection::Full, op.getOperand());
    op.replaceAllUsesWith(
        builder.create<tok::CastOp>(op.getLoc(), op.getType(), total).getResult());
    op.erase();
  });
}

void rewrite::absorbTranspositions(func::FuncOp block, analysis::FactsAnalysis &) {
  // Fused operators keep their bodies.
  for (auto op : llvm::make_early_inc_range(block.getBody().front().getOps<tok::MatmulOp>())) {
    auto left = op.getLhs().getDefiningOp<tok::TransposeOp>();
    auto right = op.getRhs().getDefiningOp<tok::TransposeOp>();
    if (!left && !right)
      continue;
    OpBuilder builder(op);
    // Of two transposed factors one copy remains.
    StringRef native = left ? "matmul_transposed_left" : "matmul_transposed_right";
    Value lhs = left ? left.getOperand() : op.getLhs();
    Value rhs = left ? op.getRhs() : right.getOperand();
    auto product = builder.create<tok::CallNativeOp>(op.getLoc(), TypeRange(op.getType()), native,
                                                     ValueRange{lhs, rhs});
    op.replaceAllUsesWith(product.getResult(0));
    op.erase();
    llvm::SmallSetVector<Operation *, 2> transpositions;
    for (tok::TransposeOp transpose : {left, right})
      if (transpose && transpose.use_empty())
        transpositions.insert(transpose);
    for (Operation *transpose : transpositions)
      transpose->erase();
  }
}
