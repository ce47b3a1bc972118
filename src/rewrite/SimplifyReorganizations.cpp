// Removes needless slices, inserts, appends, transpositions and reversals.
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

// Whether the range (row begin, row end, column begin, column end) is proved to be the whole array.
static bool isWhole(ValueRange range, const tok::Facts &array, analysis::FactsAnalysis &facts) {
  auto integer = [&](Value index) { return facts.factsOf(index).integer; };
  return array.isMatrix() && integer(range[0]).isConstant(1) && integer(range[2]).isConstant(1) &&
         integer(range[1]).provedEqual(array.rows()) &&
         integer(range[3]).provedEqual(array.columns());
}

// The slices of models (base/Natives.def, strided_slice), where they take neighbouring cells of a matrix: kernels read
// those in place. A part that may be empty or outside of the matrix is left to the native.
bool rewrite::slicesOfMatrices(func::FuncOp block, analysis::FactsAnalysis &facts) {
  constexpr size_t rank = 2, numbersOfDimension = 3;
  return replaceEach<tok::CallNativeOp>(block, [&](tok::CallNativeOp op, OpBuilder &builder) {
    auto numbers = op.getOperands().drop_front();
    if (op.getNative() != "strided_slice" || numbers.size() != rank * numbersOfDimension)
      return Value();
    auto integer = [&](Value number) { return facts.factsOf(number).integer; };
    auto binary = [&](BinaryOperator kind, Value a, Value b) -> Value {
      return builder.create<tok::BinaryOp>(op.getLoc(), kind, a, b);
    };
    tok::Facts array = facts.factsOf(op.getOperand(0));
    Size one = Size::constant(1);
    SmallVector<Value> range;
    for (size_t dimension = 0; dimension < rank; ++dimension) {
      auto own = numbers.slice(numbersOfDimension * dimension, numbersOfDimension);
      Value begin = own[0], length = own[1], last = length;
      Size first = integer(begin), size = integer(length), end = first + size - 1;
      if (!array.isMatrix() || !integer(own[2]).isConstant(1) || !one.provedAtMost(first) ||
          !one.provedAtMost(size) || !end.provedAtMost(array.dims[dimension]))
        return Value();
      if (end.isConstant())
        last = builder.create<tok::ConstantOp>(op.getLoc(), end.constantValue());
      else if (!first.isConstant(1))
        last = binary(BinaryOperator::Sub, binary(BinaryOperator::Add, begin, length),
                      builder.create<tok::ConstantOp>(op.getLoc(), int64_t{1}));
      range.append({begin, last});
    }
    Value part =
        builder.create<tok::SliceOp>(op.getLoc(), op.getResult(0).getType(), op.getOperand(0),
                                     range[0], range[1], range[2], range[3]);
    return part;
  });
}

// X[1:nrow(X), 1:ncol(X)] -> X
bool rewrite::dropWholeSlices(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::SliceOp>(block, [&](tok::SliceOp op, OpBuilder &) -> Value {
    bool whole = op.getOperand().getType() == op.getType() && tok::isArray(op.getType()) &&
                 isWhole(op->getOperands().drop_front(), facts.factsOf(op.getOperand()), facts);
    return whole ? op.getOperand() : Value();
  });
}

// X[1:nrow(X), 1:ncol(X)] = Y -> Y
bool rewrite::dropWholeInserts(func::FuncOp block, analysis::FactsAnalysis &facts) {
  return replaceEach<tok::InsertOp>(block, [&](tok::InsertOp op, OpBuilder &) -> Value {
    if (!tok::isArray(op.getType()) || op.getValue().getType() != op.getType())
      return {};
    tok::Facts into = facts.factsOf(op.getInto());
    bool whole = isWhole(op->getOperands().drop_front(2), into, facts) &&
                 sameSizes(into, facts.factsOf(op.getValue()));
    return whole ? op.getValue() : Value();
  });
}

// cbind(X, cbind(Y, Z)) -> cbind(X, Y, Z), if the inner result has no other user; likewise rbind.
template <typename Op> static bool flatten(func::FuncOp block, analysis::FactsAnalysis &facts) {
  constexpr bool columns = std::is_same_v<Op, tok::CbindOp>;
  return replaceEach<Op>(block, [&](Op op, OpBuilder &builder) -> Value {
    auto common = [&](Value value) {
      tok::Facts known = facts.factsOf(value);
      return columns ? known.rows() : known.columns();
    };
    SmallVector<Value> parts;
    bool nested = false;
    if (!tok::isArray(op.getType()))
      return {};
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<Op>();
      if (inner && inner->hasOneUse() && tok::isArray(inner.getType())) {
        nested = true;
        parts.append(inner.getInputs().begin(), inner.getInputs().end());
      } else {
        parts.push_back(input);
      }
    }
    // Mismatched sizes must be reported at the original operation, so don't rewrite it.
    bool agree = llvm::all_of(parts, [&](Value part) {
      return tok::isArray(part.getType()) && common(part).provedEqual(common(parts[0]));
    });
    if (!nested || !agree)
      return {};
    return builder.create<Op>(op.getLoc(), op.getType(), parts);
  });
}

bool rewrite::flattenAppends(func::FuncOp block, analysis::FactsAnalysis &facts) {
  bool columns = flatten<tok::CbindOp>(block, facts);
  return flatten<tok::RbindOp>(block, facts) || columns;
}

// t(cbind(t(A), t(B))) -> rbind(A, B), t(rbind(t(A), t(B))) -> cbind(A, B).
bool rewrite::appendUntransposed(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::TransposeOp>(block, [](tok::TransposeOp op, OpBuilder &builder) -> Value {
    Operation *append = op.getOperand().getDefiningOp();
    if (!isa_and_nonnull<tok::CbindOp, tok::RbindOp>(append))
      return {};
    SmallVector<Value> parts;
    for (Value part : append->getOperands()) {
      auto transposed = part.getDefiningOp<tok::TransposeOp>();
      if (!transposed)
        return {};
      parts.push_back(transposed.getOperand());
    }
    if (isa<tok::CbindOp>(append))
      return builder.create<tok::RbindOp>(op.getLoc(), op.getType(), parts);
    return builder.create<tok::CbindOp>(op.getLoc(), op.getType(), parts);
  });
}

// X shown in the sizes that it has -> X; a view of a view -> a view of the first array. Between views operations could
// not be fused.
bool rewrite::dropViews(func::FuncOp block, analysis::FactsAnalysis &facts) {
  bool fired = false;
  for (auto view : llvm::make_early_inc_range(block.getBody().front().getOps<tok::ViewOp>())) {
    Value shown = view.getOperand();
    while (auto inner = shown.getDefiningOp<tok::ViewOp>())
      shown = inner.getOperand();
    tok::Facts own = facts.factsOf(shown), result = facts.factsOf(view.getResult());
    bool isSame = shown.getType() == view.getType() && !own.dims.empty() &&
                  llvm::equal(own.dims, result.dims, [](const Size &size, const Size &other) {
                    return size.provedEqual(other);
                  });
    if (isSame) {
      view.getResult().replaceAllUsesWith(shown);
      view->erase();
      fired = true;
    } else if (shown != view.getOperand()) {
      view.getOperandMutable().assign(shown);
      fired = true;
    }
  }
  return fired;
}

static Value reversed(Value value) {
  auto native = value.getDefiningOp<tok::CallNativeOp>();
  return native && native.getNativeName() == "rev" ? native.getInputs()[0] : Value();
}

// rev(rev(X)) -> X
bool rewrite::dropDoubleReversal(func::FuncOp block, analysis::FactsAnalysis &) {
  return replaceEach<tok::CallNativeOp>(block, [](tok::CallNativeOp op, OpBuilder &) -> Value {
    Value once = op.getNumResults() == 1 ? reversed(op->getResult(0)) : Value();
    Value twice = once ? reversed(once) : Value();
    return twice && twice.getType() == op->getResult(0).getType() ? twice : Value();
  });
}
