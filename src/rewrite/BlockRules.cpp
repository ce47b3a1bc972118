#include "rewrite/BlockRules.h"

#include "llvm/ADT/SetVector.h"

#include <chrono>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

static constexpr BlockRule rules[] = {
    {"fold-sizes", "nrow(X) -> 569", false, foldSizes},
    {"drop-neutral-operands", "X * 1 -> X", false, dropNeutralOperands},
    {"multiply-by-reciprocals", "X / 8 -> X * 0.125", false, multiplyByReciprocals},
    {"drop-double-negation", "-(-X) -> X", false, dropDoubleNegation},
    {"negate-equalities", "!(A == B) -> A != B", false, negateEqualities},
    {"drop-rounding-of-truth", "round(A > B) -> A > B", false, dropRoundingOfTruth},
    {"compute-fills-once", "matrix(c, n, m) * 2 -> matrix(c * 2, n, m)", false, computeFillsOnce},
    {"use-fills-as-scalars", "X * matrix(c, nrow(X), ncol(X)) -> X * c", false, useFillsAsScalars},
    {"slices-of-matrices", "strided_slice(X, 1,n,1, 3,2,1) -> X[1:n, 3:4]", false,
     slicesOfMatrices},
    {"drop-whole-slices", "X[1:nrow(X), 1:ncol(X)] -> X", false, dropWholeSlices},
    {"drop-whole-inserts", "X[1:nrow(X), 1:ncol(X)] = Y -> Y", false, dropWholeInserts},
    {"flatten-appends", "cbind(X, cbind(Y, Z)) -> cbind(X, Y, Z)", false, flattenAppends},
    {"append-untransposed", "t(cbind(t(A), t(B))) -> rbind(A, B)", false, appendUntransposed},
    {"views-behind-cells", "exp(X[n,1] shown as [n]) -> exp(X) shown as [n]", false,
     viewsBehindCells},
    {"views-before-cells", "exp(x[n]) shown as [n,1] -> exp(x shown as [n,1])", false,
     viewsBeforeCells},
    {"drop-views", "X shown in the sizes that it has -> X", false, dropViews},
    {"drop-double-reversal", "rev(rev(X)) -> X", false, dropDoubleReversal},
    {"aggregate-untransposed", "rowSums(t(X)) -> t(colSums(X))", false, aggregateUntransposed},
    {"multiply-untransposed", "t(A) %*% t(B) -> t(B %*% A)", false, multiplyUntransposed},
    {"multiply-for-diagonal", "diag(A %*% B) -> rowSums(A * t(B))", false, multiplyForDiagonal},
    {"multiply-for-slice", "(A %*% B)[i, ] -> A[i, ] %*% B", false, multiplyForSlice},
    {"divide-products", "softmax(X) %*% B, E = exp(X - rowMaxs(X)) -> (E %*% B) / rowSums(E)",
     false, divideProducts},
    {"order-products", "(A %*% B) %*% v -> A %*% (B %*% v), the cheapest order", false,
     orderProducts},
    {"join-aggregates", "sum(rowSums(X)) -> sum(X)", false, joinAggregates},
    {"drop-sums-of-one", "rowSums(v) -> v + 0", false, dropSumsOfOne},
    {"replace-in-cells", "replace(X, 3, 4) -> ifelse(X == 3, 4, X)", false, replaceInCells},
    {"outer-in-cells", "outer(u, v, \"<\") -> u < v", false, outerInCells},
    {"raise-ranks", "[b,n] + [a,b,n] -> [1,b,n] + [a,b,n]", true, raiseRanks},
    {"decompose-aggregates", "mean(X) -> sum(X)/length(X)", true, decomposeAggregates},
    {"aggregate-vectors", "colSums(v) -> as.matrix(sum(v))", false, aggregateVectors},
};

static constexpr BlockRule afterFusion[] = {
    {"absorb-transpositions", "t(A) %*% B -> a product that reads A by columns", false,
     absorbTranspositions},
    {"collapse-axes", "[1,64,56,56] + [64,1,1] -> [64,3136] + [64,1]", false, collapseAxes},
    {"compact-loops", "loops over few places -> loops that are neither unrolled nor over blocks",
     false, makeLoopsCompact},
};

ArrayRef<BlockRule> rewrite::blockRules() { return rules; }
ArrayRef<BlockRule> rewrite::rulesAfterFusion() { return afterFusion; }

analysis::FactsAnalysis &RuleRunner::facts() {
  if (!facts_)
    facts_ = std::make_unique<analysis::FactsAnalysis>(block_);
  return *facts_;
}

RuleRun rewrite::applyRule(const BlockRule &rule, func::FuncOp block,
                           analysis::FactsAnalysis &facts) {
  auto start = std::chrono::steady_clock::now();
  bool fired = rule.apply(block, facts);
  auto time = std::chrono::steady_clock::now() - start;
  return {rule.name, fired, std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()};
}

void RuleRunner::apply(const BlockRule &rule) {
  runs_.push_back(applyRule(rule, block_, facts()));
  if (runs_.back().fired)
    facts_.reset();
}

bool rewrite::foldSizes(func::FuncOp block, analysis::FactsAnalysis &facts) {
  bool fired = false;
  block.walk([&](Operation *op) {
    if (!isa<tok::RowsOp, tok::ColumnsOp, tok::SizeOp, tok::LengthOp>(op))
      return;
    Size size = facts.factsOf(op->getResult(0)).integer;
    if (!size.isConstant())
      return;
    OpBuilder builder(op);
    op->replaceAllUsesWith(builder.create<tok::ConstantOp>(op->getLoc(), size.constantValue()));
    op->erase();
    fired = true;
  });
  return fired;
}

bool rewrite::aggregateVectors(func::FuncOp block, analysis::FactsAnalysis &facts) {
  bool fired = false;
  block.walk([&](tok::AggregateOp op) {
    auto direction = op.getDirection();
    if (direction == AggregateDirection::Full || isIndex(op.getKind()))
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
    fired = true;
  });
  return fired;
}

bool rewrite::absorbTranspositions(func::FuncOp block, analysis::FactsAnalysis &) {
  bool fired = false;
  // Fused operators keep their bodies.
  for (auto op : llvm::make_early_inc_range(block.getBody().front().getOps<tok::MatmulOp>())) {
    auto left = op.getLhs().getDefiningOp<tok::TransposeOp>();
    auto right = op.getRhs().getDefiningOp<tok::TransposeOp>();
    if (!left && !right)
      continue;
    OpBuilder builder(op);
    // If both factors are transposed, the right one still needs a transposed copy.
    StringRef native = left ? "matmul_transposed_left" : "matmul_transposed_right";
    Value lhs = left ? left.getOperand() : op.getLhs();
    Value rhs = left ? op.getRhs() : right.getOperand();
    auto product = builder.create<tok::CallNativeOp>(op.getLoc(), TypeRange(op.getType()), native,
                                                     ValueRange{lhs, rhs});
    for (NamedAttribute attribute : op->getDiscardableAttrs()) // its predicted time
      product->setDiscardableAttr(attribute.getName(), attribute.getValue());
    op.replaceAllUsesWith(product.getResult(0));
    op.erase();
    llvm::SmallSetVector<Operation *, 2> transpositions;
    for (tok::TransposeOp transpose : {left, right})
      if (transpose && transpose.use_empty())
        transpositions.insert(transpose);
    for (Operation *transpose : transpositions)
      transpose->erase();
    fired = true;
  }
  return fired;
}
