// Rules about arrays with the same number in every cell: matrix(c, rows, cols) in the block, and
// operands of the block that are stored as one number (runtime/values/Array.h).
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

static bool isRepeatedOperand(Value array) {
  auto argument = dyn_cast<BlockArgument>(array);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return function && function.getArgAttr(argument.getArgNumber(), repeatedAttributeName);
}

// Not matrix("1 2 3", rows, cols).
static bool isFilled(Value array) {
  auto fill = array.getDefiningOp<tok::FillOp>();
  return fill ? tok::isNumber(fill.getValue().getType()) : isRepeatedOperand(array);
}

// The number in every cell.
static Value cellOf(Value filled, OpBuilder &builder) {
  if (auto fill = filled.getDefiningOp<tok::FillOp>())
    return fill.getValue();
  return builder.create<tok::RepeatedCellOp>(filled.getLoc(), builder.getF64Type(), filled);
}

// Whether the matrix is as large as `whole`, or a vector that is broadcast to its sizes.
static bool isBroadcastTo(const tok::Facts &whole, const tok::Facts &matrix) {
  if (!whole.isMatrix() || !matrix.isMatrix())
    return false;
  return sameSizes(whole, matrix) ||
         (matrix.isColumnVector() && matrix.rows().provedEqual(whole.rows())) ||
         (matrix.isRowVector() && matrix.columns().provedEqual(whole.columns()));
}

// Whether all that use the result, as large as `whole`, would broadcast a vector to its sizes, because they have another
// operand of these sizes.
static bool areUsersBesideWhole(Value result, const tok::Facts &whole,
                                analysis::FactsAnalysis &facts) {
  return llvm::all_of(result.getUsers(), [&](Operation *user) {
    auto binary = dyn_cast<tok::BinaryOp>(user);
    if (!binary || binary.getLhs() == binary.getRhs())
      return false;
    Value other = binary.getLhs() == result ? binary.getRhs() : binary.getLhs();
    return tok::isArray(other.getType()) && sameSizes(whole, facts.factsOf(other));
  });
}

// X op matrix(c, nrow(X), ncol(X)) -> X op c, likewise for a filled vector that is broadcast.
// Where the filled matrix F is larger, Y op2 (X op F) -> Y op2 (X op c), if Y is as large as F.
bool rewrite::useFillsAsScalars(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::BinaryOp>(block, [&](tok::BinaryOp op, OpBuilder &builder) -> Value {
    Value left = op.getLhs(), right = op.getRhs();
    bool isRight = isFilled(right);
    if (isFilled(left) == isRight || !tok::isArray(left.getType()) ||
        !tok::isArray(right.getType()))
      return {};
    tok::Facts lhs = facts.factsOf(left), rhs = facts.factsOf(right);
    const tok::Facts &filled = isRight ? rhs : lhs, &other = isRight ? lhs : rhs;
    bool isSmaller = isBroadcastTo(other, filled);
    if (!isSmaller && !(isBroadcastTo(filled, other) && areUsersBesideWhole(op, filled, facts)))
      return {};
    Value number = cellOf(isRight ? right : left, builder);
    auto result = builder.create<tok::BinaryOp>(op.getLoc(), op.getKind(), isRight ? left : number,
                                                isRight ? number : right);
    return result.getType() == op.getType() ? result.getResult() : Value();
  });
}

// One operator of a chain.
static bool computeNextFillsOnce(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::BinaryOp>(block, [&](tok::BinaryOp op, OpBuilder &builder) -> Value {
    switch (op.getKind()) {
    case BinaryOperator::Add:
    case BinaryOperator::Sub:
    case BinaryOperator::Mul:
    case BinaryOperator::Div:
      break;
    default:
      return {};
    }
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || type.getRank() != 2 || !type.getElementType().isF64())
      return {};
    Value sized; // of the sizes of the result
    for (Value operand : {op.getLhs(), op.getRhs()}) {
      bool isNumber = tok::isNumber(operand.getType()) && !operand.getType().isInteger(1);
      if (!isNumber && !isFilled(operand))
        return {};
      if (!isNumber && sameSizes(facts.factsOf(operand), facts.factsOf(op)))
        sized = operand;
    }
    if (!sized ||
        llvm::any_of(op->getOperands(), [&](Value operand) { // sizes that disagree are an error
          return tok::isArray(operand.getType()) &&
                 !isBroadcastTo(facts.factsOf(op), facts.factsOf(operand));
        }))
      return {};
    auto numberOf = [&](Value operand) -> Value {
      Value number = tok::isArray(operand.getType()) ? cellOf(operand, builder) : operand;
      if (number.getType().isF64())
        return number;
      return builder.create<tok::CastOp>(op.getLoc(), builder.getF64Type(), number);
    };
    Value cell = builder.create<tok::BinaryOp>(op.getLoc(), op.getKind(), numberOf(op.getLhs()),
                                               numberOf(op.getRhs()));
    auto fill = sized.getDefiningOp<tok::FillOp>();
    Value rows = fill ? fill.getRows()
                      : builder.create<tok::RowsOp>(op.getLoc(), builder.getI64Type(), sized);
    Value columns = fill ? fill.getColumns()
                         : builder.create<tok::ColumnsOp>(op.getLoc(), builder.getI64Type(), sized);
    return builder.create<tok::FillOp>(op.getLoc(), type, cell, rows, columns);
  });
}

// matrix(c, n, m) * 2 -> matrix(c * 2, n, m), of doubles, where the scalar operator computes what the
// operator on cells does.
bool rewrite::computeFillsOnce(func::FuncOp block, analysis::FactsAnalysis &facts) {
  bool fired = computeNextFillsOnce(block, facts);
  for (bool again = fired; again;) {
    analysis::FactsAnalysis changed(block);
    again = computeNextFillsOnce(block, changed);
  }
  return fired;
}
