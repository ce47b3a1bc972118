// Natives that compute each cell of the result from one cell of each operand become cell operators,
// which can be fused.
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

// Natives compute in doubles. In single precision a cell operator would convert numbers before it
// compares.
static bool isOfDoubles(Value array) { return getElementTypeOrSelf(array.getType()).isF64(); }

// Whether the operation may share a kernel with one that computes its operand or reads its result.
// Alone, a native is as fast, and nothing has to be compiled.
static bool hasNeighbours(Operation *op) {
  auto isGenerated = [](Operation *other) {
    return isa_and_nonnull<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::AggregateOp,
                           tok::MatmulOp>(other);
  };
  return llvm::any_of(op->getUsers(), isGenerated) ||
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isGenerated(operand.getDefiningOp()); });
}

// replace(X, 3, 4) -> ifelse(X == 3, 4, X), replace(X, NaN, 4) -> ifelse(is.nan(X), 4, X)
bool rewrite::replaceInCells(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::ReplaceOp>(block, [](tok::ReplaceOp op, OpBuilder &builder) -> Value {
    std::optional<double> pattern = literal(op.getPattern());
    Value x = op.getOperand();
    if (!pattern || !isOfDoubles(x) || x.getType() != op.getType() || !hasNeighbours(op))
      return {};
    Value matches;
    if (std::isnan(*pattern))
      matches = builder.create<tok::UnaryOp>(op.getLoc(), UnaryOperator::IsNan, x);
    else
      matches = builder.create<tok::BinaryOp>(op.getLoc(), BinaryOperator::Eq, x, op.getPattern());
    return builder.create<tok::IfElseOp>(op.getLoc(), op.getType(), matches, op.getReplacement(),
                                         x);
  });
}

// outer(u, v, "<") -> u < v
bool rewrite::outerInCells(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::OuterOp>(block, [](tok::OuterOp op, OpBuilder &builder) -> Value {
    auto constant = op.getSpelling().getDefiningOp<tok::ConstantOp>();
    auto text = constant ? dyn_cast<StringAttr>(constant.getValue()) : StringAttr();
    std::optional<BinaryOperator> kind =
        text ? findBinaryBySpelling(std::string_view(text.getValue())) : std::nullopt;
    if (!kind || !isOfDoubles(op.getLhs()) || !isOfDoubles(op.getRhs()) || !hasNeighbours(op))
      return {};
    auto result = builder.create<tok::BinaryOp>(op.getLoc(), *kind, op.getLhs(), op.getRhs());
    return result.getType() == op.getType() ? result.getResult() : Value();
  });
}
