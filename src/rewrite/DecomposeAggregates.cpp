// Rewrites statistics (mean, variance, standard deviation) in terms of sums, because kernels only
// aggregate sums, products and extremes.
#include "rewrite/BlockRules.h"

using namespace mlir;
using namespace tokamak;

namespace {

class Decomposition {
public:
  explicit Decomposition(tok::AggregateOp op) : builder_(op), op_(op), location_(op.getLoc()) {}

  Value mean() { return meanOf(op_.getOperand()); }

  // sum((X - centre)^2) / (n - 1). The centre is mean(X) + mean(X - mean(X)), which is as close to
  // the exact mean as a double can be, so that the variance of equal cells is exactly 0
  // (reference/AggregateMeaning.h states the bound). The variance of one cell is 0, that of none is
  // NaN, so the divisor is n - (n > 1).
  Value variance() {
    Value first = mean();
    Value rest = binary(BinaryOperator::Sub, op_.getOperand(), first);
    Value centre = binary(BinaryOperator::Add, first, meanOf(rest));
    Value deviation = binary(BinaryOperator::Sub, op_.getOperand(), centre);
    Value square =
        binary(BinaryOperator::Pow, deviation, builder_.create<tok::ConstantOp>(location_, 2.0));
    Value one = builder_.create<tok::ConstantOp>(location_, int64_t{1});
    Value several = binary(BinaryOperator::Gt, count(), one);
    Value correction = builder_.create<tok::CastOp>(location_, builder_.getI64Type(), several);
    return binary(BinaryOperator::Div, sum(square),
                  binary(BinaryOperator::Sub, count(), correction));
  }

  Value standardDeviation() {
    return builder_.create<tok::UnaryOp>(location_, UnaryOperator::Sqrt, variance());
  }

private:
  Value meanOf(Value operand) { return binary(BinaryOperator::Div, sum(operand), count()); }
  Value sum(Value operand) {
    return builder_.create<tok::AggregateOp>(location_, AggregateKind::Sum, op_.getDirection(),
                                             operand);
  }
  Value binary(BinaryOperator kind, Value lhs, Value rhs) {
    return builder_.create<tok::BinaryOp>(location_, kind, lhs, rhs);
  }
  // The number of cells that are aggregated to one result.
  Value count() {
    Type i64 = builder_.getI64Type();
    switch (op_.getDirection()) {
    case AggregateDirection::Full:
      return builder_.create<tok::LengthOp>(location_, i64, op_.getOperand());
    case AggregateDirection::Row:
      return lastSize();
    case AggregateDirection::Column:
      return builder_.create<tok::RowsOp>(location_, i64, op_.getOperand());
    }
    return {};
  }

  Value lastSize() {
    auto type = cast<RankedTensorType>(op_.getOperand().getType());
    return builder_.create<tok::SizeOp>(location_, builder_.getI64Type(), op_.getOperand(),
                                        builder_.getI64IntegerAttr(type.getRank()));
  }

  OpBuilder builder_;
  tok::AggregateOp op_;
  Location location_;
};

} // namespace

bool rewrite::decomposeAggregates(func::FuncOp block, analysis::FactsAnalysis &) {
  bool fired = false;
  block.walk([&](tok::AggregateOp op) {
    Value replacement;
    if (op.getKind() == AggregateKind::Mean)
      replacement = Decomposition(op).mean();
    else if (op.getKind() == AggregateKind::Var)
      replacement = Decomposition(op).variance();
    else if (op.getKind() == AggregateKind::Sd)
      replacement = Decomposition(op).standardDeviation();
    else
      return;
    op.replaceAllUsesWith(replacement);
    op.erase();
    fired = true;
  });
  return fired;
}
