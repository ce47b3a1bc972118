// Rewrites aggregates so that they don't need a rearranged array or another aggregate.
#include "ir/tok/BroadcastSizes.h"
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

// Whether aggregates of parts can be aggregated to that of the whole, in any order.
static bool isAssociative(AggregateKind kind) {
  return kind == AggregateKind::Sum || kind == AggregateKind::Prod || kind == AggregateKind::Min ||
         kind == AggregateKind::Max;
}

// sum(t(X)) -> sum(X), rowSums(t(X)) -> t(colSums(X)), colSums(t(X)) -> t(rowSums(X)); min, max,
// prod likewise. Reversed matrices have the same cells, too, and reshaped ones unless reshaping fails.
bool rewrite::aggregateUntransposed(func::FuncOp block, analysis::FactsAnalysis &facts) {
  auto isSure = [&](tok::ReshapeOp reshape) {
    auto cells = [&](Value array) { return tok::productOf(facts.factsOf(array).dims); };
    return !facts.factsOf(reshape.getOperand()).dims.empty() &&
           cells(reshape.getOperand()).provedEqual(cells(reshape.getResult()));
  };
  return replaceEach<tok::AggregateOp>(
      block, [&](tok::AggregateOp op, OpBuilder &builder) -> Value {
        if (!isAssociative(op.getKind()) ||
            cast<RankedTensorType>(op.getOperand().getType()).getRank() != 2)
          return {};
        Operation *producer = op.getOperand().getDefiningOp();
        bool full = op.getDirection() == AggregateDirection::Full;
        auto native = dyn_cast_or_null<tok::CallNativeOp>(producer);
        auto reshape = dyn_cast_or_null<tok::ReshapeOp>(producer);
        bool sameCells = isa_and_nonnull<tok::TransposeOp>(producer) ||
                         (reshape && isSure(reshape)) ||
                         (native && native.getNativeName() == "rev");
        if (full && sameCells)
          return builder.create<tok::AggregateOp>(
              op.getLoc(), op.getKind(), AggregateDirection::Full, producer->getOperand(0));
        if (full || !isa_and_nonnull<tok::TransposeOp>(producer))
          return {};
        auto other = op.getDirection() == AggregateDirection::Row ? AggregateDirection::Column
                                                                  : AggregateDirection::Row;
        Value turned = builder.create<tok::AggregateOp>(op.getLoc(), op.getKind(), other,
                                                        producer->getOperand(0));
        return builder.create<tok::TransposeOp>(op.getLoc(), op.getType(), turned);
      });
}

// sum(rowSums(X)) -> sum(X), min(colMins(X)) -> min(X), if the inner result has no other user.
bool rewrite::joinAggregates(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::AggregateOp>(block, [](tok::AggregateOp op, OpBuilder &builder) -> Value {
    auto inner = op.getOperand().getDefiningOp<tok::AggregateOp>();
    if (!inner || !inner->hasOneUse() || inner.getKind() != op.getKind() ||
        !isAssociative(op.getKind()) || op.getDirection() != AggregateDirection::Full)
      return {};
    return builder.create<tok::AggregateOp>(op.getLoc(), op.getKind(), AggregateDirection::Full,
                                            inner.getOperand());
  });
}

// rowSums(v) -> v + 0 for a column v, colSums(u) likewise for a row u. Adding 0 is what a sum of one
// number does: it turns -0 into 0.
bool rewrite::dropSumsOfOne(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::AggregateOp>(
      block, [&](tok::AggregateOp op, OpBuilder &builder) -> Value {
        tok::Facts operand = facts.factsOf(op.getOperand());
        bool hasOne = op.getDirection() == AggregateDirection::Row      ? operand.isColumnVector()
                      : op.getDirection() == AggregateDirection::Column ? operand.isRowVector()
                                                                        : false;
        if (!hasOne || op.getKind() != AggregateKind::Sum ||
            op.getOperand().getType() != op.getType())
          return {};
        Value zero = builder.create<tok::ConstantOp>(op.getLoc(), 0.0);
        return builder.create<tok::BinaryOp>(op.getLoc(), BinaryOperator::Add, op.getOperand(),
                                             zero);
      });
}
