// Rewrites statistics (mean, variance, standard deviation) in terms of sums, because kernels only
// aggregate sums, products and extremes.
#include "ir/tok/ElementTypes.h"
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

// The sums of a mean or a variance overflow in 16-bit floats: these are computed in f32.
tok::AggregateOp accumulatedInDouble(tok::AggregateOp op) {
  std::optional<ElementType> cells = tok::elementTypeOf(op.getOperand().getType());
  if (cells != ElementType::F16 && cells != ElementType::BF16)
    return op;
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op.getOperand().getType()).clone(builder.getF32Type());
  Value wide = builder.create<tok::CastOp>(op.getLoc(), type, op.getOperand());
  auto aggregate =
      builder.create<tok::AggregateOp>(op.getLoc(), op.getKind(), op.getDirection(), wide);
  Value result = aggregate;
  if (tok::isArray(op.getType()))
    result = builder.create<tok::CastOp>(op.getLoc(), op.getType(), result);
  op.replaceAllUsesWith(result);
  op.erase();
  return aggregate;
}

bool isDecomposed(AggregateKind kind) {
  return kind == AggregateKind::Mean || kind == AggregateKind::Var || kind == AggregateKind::Sd;
}

} // namespace

bool rewrite::decomposeAggregates(func::FuncOp block, analysis::FactsAnalysis &) {
  bool fired = false;
  block.walk([&](tok::AggregateOp op) {
    if (!isDecomposed(op.getKind()))
      return;
    op = accumulatedInDouble(op);
    Value replacement;
    if (op.getKind() == AggregateKind::Mean)
      replacement = Decomposition(op).mean();
    else if (op.getKind() == AggregateKind::Var)
      replacement = Decomposition(op).variance();
    else
      replacement = Decomposition(op).standardDeviation();
    op.replaceAllUsesWith(replacement);
    op.erase();
    fired = true;
  });
  return fired;
}
