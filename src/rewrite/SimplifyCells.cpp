// Simplifies elementwise operations. Results keep all their bits, for NaN, infinities and the sign
// of zero, too.
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

// X * 1, 1 * X, X / 1, X ^ 1, X - 0 -> X. Not X + 0 -> X, because -0 + 0 is 0; not 0 - X -> -X,
// because 0 - 0 is 0, but -X is -0.
bool rewrite::dropNeutralOperands(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::BinaryOp>(block, [](tok::BinaryOp op, OpBuilder &) -> Value {
    std::optional<double> left = literal(op.getLhs()), right = literal(op.getRhs());
    Value kept;
    switch (op.getKind()) {
    case BinaryOperator::Mul:
      kept = right == 1.0 ? op.getLhs() : left == 1.0 ? op.getRhs() : Value();
      break;
    case BinaryOperator::Div:
    case BinaryOperator::Pow:
      kept = right == 1.0 ? op.getLhs() : Value();
      break;
    case BinaryOperator::Sub:
      kept = right == 0.0 && !std::signbit(*right) ? op.getLhs() : Value();
      break;
    default:
      break;
    }
    return kept && tok::isArray(op.getType()) && kept.getType() == op.getType() ? kept : Value();
  });
}

// X / c -> X * (1 / c), which takes a tenth of the time, for powers of two: then both are the same number, rounded once.
bool rewrite::multiplyByReciprocals(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::BinaryOp>(block, [](tok::BinaryOp op, OpBuilder &builder) -> Value {
    constexpr int mostExponent = 126; // reciprocals are normal numbers of f32
    std::optional<double> divisor = literal(op.getRhs());
    int exponent = 0;
    if (op.getKind() != BinaryOperator::Div || !divisor || !tok::isArray(op.getType()) ||
        std::fabs(std::frexp(*divisor, &exponent)) != 0.5 || std::abs(exponent) > mostExponent)
      return {};
    Value reciprocal = builder.create<tok::ConstantOp>(op.getLoc(), 1 / *divisor);
    auto product = builder.create<tok::BinaryOp>(op.getLoc(), BinaryOperator::Mul, op.getLhs(),
                                                 reciprocal, op.getOneRepeated());
    return product.getType() == op.getType() ? product.getResult() : Value();
  });
}

// -(-X) -> X
bool rewrite::dropDoubleNegation(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::UnaryOp>(block, [](tok::UnaryOp op, OpBuilder &) -> Value {
    auto inner = op.getOperand().getDefiningOp<tok::UnaryOp>();
    bool both = op.getKind() == UnaryOperator::Neg && inner &&
                inner.getKind() == UnaryOperator::Neg && tok::isArray(op.getType());
    return both && inner.getOperand().getType() == op.getType() ? inner.getOperand() : Value();
  });
}

// !(A == B) -> A != B, !(A != B) -> A == B. This holds for NaN, too; !(A < B) -> A >= B wouldn't.
bool rewrite::negateEqualities(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::UnaryOp>(block, [](tok::UnaryOp op, OpBuilder &builder) -> Value {
    auto inner = op.getOperand().getDefiningOp<tok::BinaryOp>();
    if (op.getKind() != UnaryOperator::Not || !inner || !tok::isArray(op.getType()))
      return {};
    bool equal = inner.getKind() == BinaryOperator::Eq;
    if (!equal && inner.getKind() != BinaryOperator::Ne)
      return {};
    auto result =
        builder.create<tok::BinaryOp>(op.getLoc(), equal ? BinaryOperator::Ne : BinaryOperator::Eq,
                                      inner.getLhs(), inner.getRhs(), inner.getOneRepeated());
    return result.getType() == op.getType() ? result.getResult() : Value();
  });
}

// Whether all cells are 0 or 1.
static bool isTruth(Value value) {
  if (auto unary = value.getDefiningOp<tok::UnaryOp>())
    return resultOf(unary.getKind()) == CellResult::Boolean;
  auto binary = value.getDefiningOp<tok::BinaryOp>();
  return binary && resultOf(binary.getKind()) == CellResult::Boolean;
}

// round, floor, ceil, abs and sign of values that are 0 or 1 -> the values.
bool rewrite::dropRoundingOfTruth(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::UnaryOp>(block, [](tok::UnaryOp op, OpBuilder &) -> Value {
    switch (op.getKind()) {
    case UnaryOperator::Round:
    case UnaryOperator::Floor:
    case UnaryOperator::Ceil:
    case UnaryOperator::Abs:
    case UnaryOperator::Sign:
      break;
    default:
      return {};
    }
    bool same = tok::isArray(op.getType()) && op.getOperand().getType() == op.getType();
    return same && isTruth(op.getOperand()) ? op.getOperand() : Value();
  });
}
