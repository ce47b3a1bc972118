// Kernels treat an array of any rank as a matrix, whose rows are all dimensions but the last. They
// see one rank, and can broadcast an operand along all rows or along the columns. This rule shows
// an operand of a smaller rank as one of the result's, with leading dimensions of size 1. An
// operand with size 1 in only some of the outer dimensions, such as [1,b,n] with a result [a,b,n],
// fits neither case: its broadcast is materialised.
#include "rewrite/BlockRules.h"

using namespace mlir;
using namespace tokamak;

namespace {

using Sizes = SmallVector<Size, 2>;

int64_t rankOf(Value array) { return cast<RankedTensorType>(array.getType()).getRank(); }

bool isCellOperation(Operation *op) {
  return isa<tok::BinaryOp, tok::IfElseOp>(op) && tok::isArray(op->getResult(0).getType());
}

bool isOne(const Size &size) { return size.isConstant(1); }

// Whether the operand's outer dimensions are those of the result, or all 1.
bool isPlain(ArrayRef<Size> operand, ArrayRef<Size> result) {
  ArrayRef<Size> outer = operand.drop_back();
  bool same = llvm::all_of_zip(outer, result.drop_back(),
                               [](const Size &own, const Size &of) { return own.provedEqual(of); });
  return same || llvm::all_of(outer, isOne);
}

class Expansion {
public:
  Expansion(Operation *op, analysis::FactsAnalysis &facts)
      : op_(op), builder_(op), result_(facts.factsOf(op->getResult(0)).dims) {
    for (OpOperand &operand : op->getOpOperands())
      if (tok::isArray(operand.get().getType()))
        arrays_.push_back({&operand, facts.factsOf(operand.get()).dims});
  }

  // True if an operand was shown in another rank or expanded.
  bool run() {
    bool fired = false;
    for (Array &array : arrays_)
      fired |= raiseRank(array);
    return expandAll() || fired;
  }

private:
  struct Array {
    OpOperand *operand;
    Sizes sizes;
  };

  // Shows an operand of a smaller rank as one of the result's.
  bool raiseRank(Array &array) {
    Value value = array.operand->get();
    int64_t rank = rankOf(op_->getResult(0)), missing = rank - rankOf(value);
    if (missing == 0)
      return false;
    Value one = builder_.create<tok::ConstantOp>(op_->getLoc(), int64_t{1});
    SmallVector<Value> sizes(missing, one);
    for (int64_t i = 0; i < rank - missing; ++i)
      sizes.push_back(size(value, i));
    auto type = cast<RankedTensorType>(op_->getResult(0).getType())
                    .clone(getElementTypeOrSelf(value.getType()));
    array.operand->set(builder_.create<tok::ViewOp>(op_->getLoc(), type, value, sizes));
    array.sizes.insert(array.sizes.begin(), missing, Size::constant(1));
    return true;
  }

  // Expands each operand that kernels can't broadcast. If it is not known which dimensions are
  // broadcast, does nothing: the block will be split here, or planned for these very sizes.
  bool expandAll() {
    for (size_t i = 0; i + 1 < result_.size(); ++i) {
      auto isKnown = [&](const Array &array) {
        return isOne(array.sizes[i]) || array.sizes[i].provedEqual(result_[i]);
      };
      if (!llvm::all_of(arrays_, isKnown) || !arrayOf(i))
        return false;
    }
    SmallVector<std::pair<Array *, Value>> expanded;
    for (Array &array : arrays_)
      if (!isPlain(array.sizes, result_))
        expanded.push_back({&array, repeated(array.operand->get())});
    for (auto [array, value] : expanded)
      array->operand->set(value);
    return !expanded.empty();
  }

  // `value`, broadcast to the outer dimensions of the result.
  Value repeated(Value value) {
    SmallVector<Value> sizes;
    for (size_t i = 0; i + 1 < result_.size(); ++i)
      sizes.push_back(size(arrayOf(i), i));
    sizes.push_back(size(value, result_.size() - 1));
    return builder_.create<tok::ExpandOp>(op_->getLoc(), value.getType(), value, sizes);
  }

  // The first operand that has the result's size in a dimension, so is not broadcast along it.
  Value arrayOf(size_t dimension) {
    for (const Array &array : arrays_)
      if (array.sizes[dimension].provedEqual(result_[dimension]))
        return array.operand->get();
    return {};
  }

  Value size(Value array, size_t dimension) {
    return builder_.create<tok::SizeOp>(op_->getLoc(), builder_.getI64Type(), array,
                                        builder_.getI64IntegerAttr(dimension + 1));
  }

  Operation *op_;
  OpBuilder builder_;
  Sizes result_;
  SmallVector<Array, 3> arrays_;
};

} // namespace

bool rewrite::expandBroadcasts(func::FuncOp block, analysis::FactsAnalysis &facts) {
  SmallVector<Operation *> operations;
  block.walk([&](Operation *op) {
    if (isCellOperation(op))
      operations.push_back(op);
  });
  bool fired = false;
  for (Operation *op : operations)
    fired |= Expansion(op, facts).run();
  return fired;
}
