// Simplifies products of which only a part is used, products of transposed factors, and those of shares of sums.
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

static bool isMatrix(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && tensor.getRank() == 2;
}

// t(A) %*% t(B) -> t(B %*% A), if neither A nor B is a vector and the
// transposes have no other users.
bool rewrite::multiplyUntransposed(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::MatmulOp>(block, [&](tok::MatmulOp op, OpBuilder &builder) -> Value {
    auto left = op.getLhs().getDefiningOp<tok::TransposeOp>();
    auto right = op.getRhs().getDefiningOp<tok::TransposeOp>();
    if (!left || !right || left == right || !left->hasOneUse() || !right->hasOneUse() ||
        !isMatrix(op.getResult()))
      return {};
    for (Value factor : {left.getOperand(), right.getOperand()})
      for (const Size &size : facts.factsOf(factor).dims)
        if (!isSurelyNotOne(size))
          return {};
    Value product = builder.create<tok::MatmulOp>(op.getLoc(), op.getType(), right.getOperand(),
                                                  left.getOperand());
    return builder.create<tok::TransposeOp>(op.getLoc(), op.getType(), product);
  });
}

// diag(A %*% B) -> rowSums(A * t(B)), which computes only the diagonal of the product.
bool rewrite::multiplyForDiagonal(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::DiagOp>(block, [&](tok::DiagOp op, OpBuilder &builder) -> Value {
    auto product = op.getOperand().getDefiningOp<tok::MatmulOp>();
    if (!product || !product->hasOneUse() || !isMatrix(product.getResult()))
      return {};
    tok::Facts left = facts.factsOf(product.getLhs()), right = facts.factsOf(product.getRhs());
    // diag of a vector is a diagonal matrix, so the product must be proved not to be one.
    if (!left.rows().provedEqual(right.columns()) || !isSurelyNotOne(left.rows()) ||
        !left.columns().provedEqual(right.rows()))
      return {};
    Value turned =
        builder.create<tok::TransposeOp>(op.getLoc(), product.getRhs().getType(), product.getRhs());
    Value cells =
        builder.create<tok::BinaryOp>(op.getLoc(), BinaryOperator::Mul, product.getLhs(), turned);
    return builder.create<tok::AggregateOp>(op.getLoc(), AggregateKind::Sum,
                                            AggregateDirection::Row, cells);
  });
}

// (A %*% B)[i:j, k:l] -> A[i:j, ] %*% B[, k:l], if the range is proved to be within the product and
// has at most half of its cells.
bool rewrite::multiplyForSlice(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::SliceOp>(block, [&](tok::SliceOp op, OpBuilder &builder) -> Value {
    auto product = op.getOperand().getDefiningOp<tok::MatmulOp>();
    if (!product || !product->hasOneUse() || !isMatrix(product.getResult()))
      return {};
    tok::Facts left = facts.factsOf(product.getLhs()), right = facts.factsOf(product.getRhs());
    auto share = [&](Value begin, Value end, const Size &size) -> double {
      Size low = facts.factsOf(begin).integer, high = facts.factsOf(end).integer;
      if (low.isConstant(1) && high.provedEqual(size))
        return 1;
      if (!low.isConstant() || !high.isConstant() || !size.isConstant() ||
          low.constantValue() < 1 || high.constantValue() < low.constantValue() ||
          high.constantValue() > size.constantValue())
        return 2; // above 1: not proved to be within the product
      return double(high.constantValue() - low.constantValue() + 1) / double(size.constantValue());
    };
    double rows = share(op.getRowBegin(), op.getRowEnd(), left.rows());
    double columns = share(op.getColumnBegin(), op.getColumnEnd(), right.columns());
    if (rows > 1 || columns > 1 || rows * columns > 0.5 ||
        !left.columns().provedEqual(right.rows()))
      return {};
    Location location = op.getLoc();
    Value one = builder.create<tok::ConstantOp>(location, int64_t{1});
    Value inner = builder.create<tok::ColumnsOp>(location, builder.getI64Type(), product.getLhs());
    Value lhs = product.getLhs(), rhs = product.getRhs();
    if (rows < 1)
      lhs = builder.create<tok::SliceOp>(location, lhs.getType(), lhs, op.getRowBegin(),
                                         op.getRowEnd(), one, inner);
    if (columns < 1)
      rhs = builder.create<tok::SliceOp>(location, rhs.getType(), rhs, one, inner,
                                         op.getColumnBegin(), op.getColumnEnd());
    return builder.create<tok::MatmulOp>(location, op.getType(), lhs, rhs);
  });
}

static tok::BinaryOp binaryOf(Value value, BinaryOperator kind) {
  auto op = value.getDefiningOp<tok::BinaryOp>();
  return op && op.getKind() == kind ? op : tok::BinaryOp();
}

// What the rows are of that are aggregated, with or without a limit from below; null if the value is none such, or if the
// limit is above `most`.
static Value operandOfRows(Value value, AggregateKind kind, double most) {
  if (tok::BinaryOp limited = binaryOf(value, BinaryOperator::Max))
    if (std::optional<double> limit = literal(limited.getRhs()); limit && *limit <= most)
      value = limited.getLhs();
  auto aggregate = value.getDefiningOp<tok::AggregateOp>();
  bool isSuch = aggregate && aggregate.getKind() == kind &&
                aggregate.getDirection() == AggregateDirection::Row;
  return isSuch ? aggregate.getOperand() : Value();
}

// softmax(X) %*% B -> (E %*% B) / rowSums(E) with E = exp(X - rowMaxs(X)): rows of the product, if it has fewer columns
// than X, are divided instead of rows of E. Sums of E are at least 1 (or NaN), so nothing overflows that didn't before,
// but for cells of B near the largest number. Rows of minus infinity, which sum to 0, may have a limit for it, and one
// for their largest cell, below which there are hardly numbers.
bool rewrite::divideProducts(func::FuncOp block, analysis::FactsAnalysis &facts) {
  constexpr double least =
      std::numeric_limits<float>::lowest() / 2; // neighbouring numbers differ by 1e31
  return replaceEach<tok::MatmulOp>(block, [&](tok::MatmulOp op, OpBuilder &builder) -> Value {
    tok::BinaryOp shares = binaryOf(op.getLhs(), BinaryOperator::Div);
    if (!shares || !shares->hasOneUse() || shares.getType() != op.getType())
      return {};
    Value cells = shares.getLhs(), sums = shares.getRhs();
    auto exponential = cells.getDefiningOp<tok::UnaryOp>();
    if (operandOfRows(sums, AggregateKind::Sum, 1) != cells || !exponential ||
        exponential.getKind() != UnaryOperator::Exp)
      return {};
    tok::BinaryOp shifted = binaryOf(exponential.getOperand(), BinaryOperator::Sub);
    if (!shifted || operandOfRows(shifted.getRhs(), AggregateKind::Max, least) != shifted.getLhs())
      return {};
    tok::Facts ofCells = facts.factsOf(cells), ofFactor = facts.factsOf(op.getRhs());
    if (ofCells.dims.empty() || ofCells.dims.size() != ofFactor.dims.size())
      return {};
    // Without columns the product has zeros, and sums are 0.
    const Size &columns = ofCells.dims.back();
    if (!Size::constant(1).provedAtMost(columns) ||
        (columns + 1).provedAtMost(ofFactor.dims.back()))
      return {};
    Value product = builder.create<tok::MatmulOp>(op.getLoc(), op.getType(), cells, op.getRhs());
    return builder.create<tok::BinaryOp>(op.getLoc(), BinaryOperator::Div, product, sums);
  });
}
