// Vectors of one dimension, as Python and ONNX have them, beside products, whose operands and results are matrices: between a
// product and what is computed of its cells stand views. Operations are fused only where no view is between them, so that cells
// are computed as those of a matrix with one column or one row, and shown as a vector where nothing else is done with them.
//
//   X %*% w shown as [n], exp, shown as [n,1], t(X) %*% that  ->  t(X) %*% exp(X %*% w), shown as a vector
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

bool isVector(Value value) { return tok::isArray(value.getType()) && rankOf(value) == 1; }
bool isMatrix(Value value) { return tok::isArray(value.getType()) && rankOf(value) == 2; }

// Each cell of its result is computed of the cells of operands at one place.
bool computesCells(Operation *op) {
  return isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::CastOp>(op);
}

// Which of the dimensions of a matrix has all cells.
enum class Along : int64_t { Rows = 1, Columns = 2 };

Value sizeOf(OpBuilder &builder, Location location, Value array, int64_t dimension) {
  return builder.create<tok::SizeOp>(location, builder.getI64Type(), array,
                                     builder.getI64IntegerAttr(dimension));
}

Value asMatrix(OpBuilder &builder, Value vector, Along along) {
  Location location = vector.getLoc();
  SmallVector<Value> sizes = {sizeOf(builder, location, vector, 1),
                              builder.create<tok::ConstantOp>(location, int64_t{1})};
  if (along == Along::Columns)
    std::swap(sizes[0], sizes[1]);
  auto type = RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                                    getElementTypeOrSelf(vector.getType()));
  return builder.create<tok::ViewOp>(location, type, vector, sizes);
}

// The same operation with operands of two dimensions, and with a result of two.
Value computedAsMatrix(OpBuilder &builder, Operation *op, ArrayRef<Value> operands) {
  Type cells = getElementTypeOrSelf(op->getResult(0).getType());
  OperationState state(op->getLoc(), op->getName(), operands,
                       {RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic}, cells)},
                       op->getAttrs());
  return builder.create(state)->getResult(0);
}

// Whether a vector is shown as a matrix, or the other way round, in the size that it is known to have: a view of another size is an
// error when it runs, and would be none any more.
bool showsAll(analysis::FactsAnalysis &facts, tok::ViewOp view, Along along) {
  auto sizeOfVector = [&](Value array) {
    const auto &sizes = facts.factsOf(array).dims;
    size_t dimension = rankOf(array) == 1 ? 0 : static_cast<size_t>(along) - 1;
    return dimension < sizes.size() ? sizes[dimension] : Size::unknown();
  };
  return sizeOfVector(view.getOperand()).provedEqual(sizeOfVector(view.getResult()));
}

} // namespace

// exp(u shown as a vector) -> exp(u) shown as a vector, u being a matrix of one column or row.
bool rewrite::viewsBehindCells(func::FuncOp block, analysis::FactsAnalysis &facts) {
  struct Shown {
    Value matrix;
    Along along;
  };
  llvm::DenseMap<Value, Shown> vectors; // views
  auto note = [&](tok::ViewOp view) {
    if (!isVector(view.getResult()) || !isMatrix(view.getOperand()))
      return;
    tok::Facts own = facts.factsOf(view.getOperand());
    if (!own.isColumnVector() && !own.isRowVector())
      return;
    Along along = own.isColumnVector() ? Along::Rows : Along::Columns;
    if (showsAll(facts, view, along))
      vectors[view.getResult()] = {view.getOperand(), along};
  };
  bool fired = false;
  for (Operation &op : llvm::make_early_inc_range(block.getBody().front())) {
    if (auto view = dyn_cast<tok::ViewOp>(op)) {
      note(view);
      continue;
    }
    OpBuilder builder(&op);
    auto aggregate = dyn_cast<tok::AggregateOp>(op);
    if (aggregate && aggregate.getDirection() == AggregateDirection::Full &&
        !isIndex(aggregate.getKind()) && vectors.contains(aggregate.getOperand())) {
      aggregate.getOperandMutable().assign(vectors.lookup(aggregate.getOperand()).matrix);
      fired = true;
      continue;
    }
    if (!computesCells(&op) || !isVector(op.getResult(0)))
      continue;
    auto found =
        llvm::find_if(op.getOperands(), [&](Value operand) { return vectors.contains(operand); });
    if (found == op.getOperands().end())
      continue;
    Along along = vectors.lookup(*found).along;
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      auto shown = vectors.find(operand);
      operands.push_back(!isVector(operand) ? operand
                         : shown != vectors.end() && shown->second.along == along
                             ? shown->second.matrix
                             : asMatrix(builder, operand, along));
    }
    Value result = computedAsMatrix(builder, &op, operands);
    Value size = sizeOf(builder, op.getLoc(), result, static_cast<int64_t>(along));
    Value view = builder.create<tok::ViewOp>(op.getLoc(), op.getResult(0).getType(), result, size);
    op.getResult(0).replaceAllUsesWith(view);
    op.erase();
    vectors[view] = {result, along};
    fired = true;
  }
  return fired;
}

// exp(x) shown as a column -> exp(x shown as a column), where x is a vector and nothing else uses exp(x).
bool rewrite::viewsBeforeCells(func::FuncOp block, analysis::FactsAnalysis &facts) {
  bool fired = false;
  SmallVector<tok::ViewOp> views(block.getBody().front().getOps<tok::ViewOp>());
  llvm::DenseSet<Operation *> made; // by asMatrix
  while (!views.empty()) {
    tok::ViewOp view = views.pop_back_val();
    Operation *op = view.getOperand().getDefiningOp();
    if (!isMatrix(view.getResult()) || !op || !computesCells(op) || !isVector(op->getResult(0)))
      continue;
    std::optional<Along> along = literal(view.getSizes()[1]) == 1   ? std::optional(Along::Rows)
                                 : literal(view.getSizes()[0]) == 1 ? std::optional(Along::Columns)
                                                                    : std::nullopt;
    SmallVector<tok::SizeOp> sizes; // of what is computed, and so of the matrix
    bool isUsedElsewhere = llvm::any_of(op->getUsers(), [&](Operation *user) {
      if (auto size = dyn_cast<tok::SizeOp>(user))
        sizes.push_back(size);
      return user != view && !isa<tok::SizeOp>(user);
    });
    if (!along || isUsedElsewhere || (!made.contains(view) && !showsAll(facts, view, *along)))
      continue;
    OpBuilder builder(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(isVector(operand) ? asMatrix(builder, operand, *along) : operand);
      if (isVector(operand))
        made.insert(views.emplace_back(operands.back().getDefiningOp<tok::ViewOp>()));
    }
    Value result = computedAsMatrix(builder, op, operands);
    for (tok::SizeOp size : sizes)
      size->replaceAllUsesWith(
          ValueRange(sizeOf(builder, op->getLoc(), result, static_cast<int64_t>(*along))));
    view.getResult().replaceAllUsesWith(result);
    view.erase();
    for (tok::SizeOp size : sizes)
      size.erase();
    op->erase();
    fired = true;
  }
  return fired;
}
