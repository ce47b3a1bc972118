// Kernels treat an array of any rank as a matrix, whose rows are all dimensions but the last. They
// can broadcast an operand along all rows or along the columns. An operand with size 1 in only some
// of the outer dimensions, such as [1,b,n] with a result [a,b,n], fits neither case: this rule
// materialises its broadcast.
#include "rewrite/BlockRules.h"

using namespace mlir;
using namespace tokamak;

namespace {

bool isTensorCellOperation(Operation *op) {
  return isa<tok::BinaryOp, tok::IfElseOp>(op) && tok::isTensor(op->getResult(0).getType());
}

// Whether the operand's outer dimensions are those of the result, or all 1.
bool isPlain(ArrayRef<Size> operand, ArrayRef<Size> result) {
  ArrayRef<Size> outer = operand.drop_back();
  bool same = llvm::all_of_zip(outer, result.drop_back(),
                               [](const Size &own, const Size &of) { return own.provedEqual(of); });
  return same || llvm::all_of(outer, [](const Size &size) { return size.isConstant(1); });
}

class Expansion {
public:
  Expansion(Operation *op, analysis::FactsAnalysis &facts)
      : op_(op), operands_(op->getOperands()), builder_(op), facts_(facts) {}

  // True if an operand was expanded.
  bool run() {
    bool fired = false;
    SmallVector<Size, 2> result = facts_.factsOf(op_->getResult(0)).dims;
    // If it is not known which operands are broadcast, do nothing: the block will be split here.
    for (size_t i = 0; i < result.size(); ++i)
      if (!operandOf(i, result[i]))
        return false;
    for (OpOperand &operand : op_->getOpOperands()) {
      if (!tok::isArray(operand.get().getType()))
        continue;
      SmallVector<Size, 2> own = facts_.factsOf(operand.get()).dims;
      if (isPlain(own, result))
        continue;
      operand.set(repeated(operand.get(), own, result));
      fired = true;
    }
    return fired;
  }

private:
  // `value`, broadcast to the outer dimensions of the result.
  Value repeated(Value value, ArrayRef<Size> own, ArrayRef<Size> result) {
    SmallVector<Value> sizes;
    for (size_t i = 0; i + 1 < own.size(); ++i)
      sizes.push_back(size(operandOf(i, result[i]), i));
    sizes.push_back(size(value, own.size() - 1));
    return builder_.create<tok::ExpandOp>(op_->getLoc(), value.getType(), value, sizes);
  }

  // The first operand that has the result's size in a dimension, so is not broadcast along it.
  Value operandOf(size_t dimension, const Size &wanted) {
    for (Value operand : operands_)
      if (tok::isArray(operand.getType()) &&
          facts_.factsOf(operand).dims[dimension].provedEqual(wanted))
        return operand;
    return {};
  }

  Value size(Value array, size_t dimension) {
    return builder_.create<tok::SizeOp>(op_->getLoc(), builder_.getI64Type(), array,
                                        builder_.getI64IntegerAttr(dimension + 1));
  }

  Operation *op_;
  SmallVector<Value, 3> operands_; // the original ones, which facts_ knows
  OpBuilder builder_;
  analysis::FactsAnalysis &facts_;
};

} // namespace

bool rewrite::expandBroadcasts(func::FuncOp block, analysis::FactsAnalysis &facts) {
  SmallVector<Operation *> operations;
  block.walk([&](Operation *op) {
    if (isTensorCellOperation(op))
      operations.push_back(op);
  });
  bool fired = false;
  for (Operation *op : operations)
    fired |= Expansion(op, facts).run();
  return fired;
}
