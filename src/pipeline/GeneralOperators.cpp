#include "pipeline/GeneralOperators.h"

#include "ir/plan/IterationSpace.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/SizesAttribute.h"
#include "ir/tok/TokDialect.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

namespace {

// The sizes of an operand or result that follow from those of the axes by which it is read or written.
class SizesByAxes {
public:
  // `axes` are general, `ownAxes` and `known` are what is known of the axes and of the array.
  SizesByAxes(ArrayRef<Size> axes, ArrayRef<Size> ownAxes, ArrayRef<Size> known)
      : axes_(axes), ownAxes_(ownAxes), known_(known) {}

  // False if they don't follow from it: a part of an array is longer than the axis.
  bool add(AffineMap map) {
    for (auto [dimension, place] : llvm::enumerate(map.getResults())) {
      Size size = Size::constant(1);
      if (auto axis = dyn_cast<AffineDimExpr>(place)) {
        if (!known_[dimension].provedEqual(ownAxes_[axis.getPosition()]))
          return false;
        size = axes_[axis.getPosition()];
      } else if (place != getAffineConstantExpr(0, map.getContext()) ||
                 !known_[dimension].isConstant(1)) {
        return false;
      }
      if (sizes_.size() <= dimension)
        sizes_.push_back(size);
      else if (!(sizes_[dimension] == size))
        return false;
    }
    return true;
  }
  bool areComplete() const { return sizes_.size() == known_.size(); }
  Attribute attribute(MLIRContext *context) const { return tok::sizesAttribute(context, sizes_); }

private:
  ArrayRef<Size> axes_, ownAxes_, known_;
  SmallVector<Size> sizes_;
};

} // namespace

// Fails, with the operator as it was, if its sizes don't follow from its axes.
static LogicalResult makeSizesGeneral(plan::OperatorOp op) {
  SmallVector<Size> ownAxes = op.axisSizes(), axes = ownAxes;
  for (auto [number, size] : llvm::enumerate(axes))
    if (!size.isConstant(1))
      size = Size::symbol(static_cast<int64_t>(number));
  // Cells that run over another axis instead: it is as long.
  for (auto reindex : op.getBody().getOps<plan::ReindexOp>()) {
    auto type = cast<plan::CellType>(reindex.getOperand().getType());
    for (auto [from, to] : llvm::zip_equal(type.getAxes(), reindex.getMap().getResults()))
      if (auto axis = dyn_cast<AffineDimExpr>(to))
        axes[std::max(from, axis.getPosition())] = axes[std::min(from, axis.getPosition())];
  }
  MLIRContext *context = op.getContext();
  SmallVector<Attribute> operands, results;
  llvm::StringSet<> areRead;
  Block &body = op.getBody().front();
  for (auto [argument, known] : llvm::zip_equal(body.getArguments(), op.operandSizes())) {
    SizesByAxes sizes(axes, ownAxes, known);
    if (argument.use_empty())
      return failure();
    for (Operation *user : argument.getUsers()) {
      auto read = dyn_cast<plan::ReadOp>(user);
      if (!read || !read.getIndices().empty() || read.getOutside() || !sizes.add(read.getMap()))
        return failure();
      for (AffineExpr place : read.getMap().getResults())
        if (auto axis = dyn_cast<AffineDimExpr>(place))
          areRead.insert(axes[axis.getPosition()].text());
    }
    if (!sizes.areComplete())
      return failure();
    operands.push_back(sizes.attribute(context));
  }
  for (const Size &size : axes)
    if (!size.isConstant() && !areRead.contains(size.text()))
      return failure(); // nothing would say at run time how long the axis is
  results.resize(op.getNumResults());
  SmallVector<SmallVector<Size>> known = op.resultSizes();
  for (auto write : body.getOps<plan::WriteOp>()) {
    SizesByAxes sizes(axes, ownAxes, known[write.getNumber()]);
    if (!write.getIndices().empty() || !sizes.add(write.getMap()) || !sizes.areComplete())
      return failure();
    results[write.getNumber()] = sizes.attribute(context);
  }
  if (!llvm::all_of(results, [](Attribute sizes) { return bool(sizes); }) ||
      !body.getOps<plan::SizeOp>().empty())
    return failure();
  op.setOperandSizesAttr(ArrayAttr::get(context, operands));
  op.setResultSizesAttr(ArrayAttr::get(context, results));
  op.setAxisSizesAttr(tok::sizesAttribute(context, axes));
  return success();
}

// Numbers become scalar operands.
static void makeNumbersOperands(plan::OperatorOp op) {
  Block &body = op.getBody().front();
  OpBuilder outside(op);
  for (auto constant : llvm::make_early_inc_range(body.getOps<plan::ConstantOp>())) {
    auto number = dyn_cast<FloatAttr>(constant.getValue());
    if (!number)
      continue;
    Value scalar =
        outside.create<tok::ConstantOp>(op.getLoc(), number.getValueAsDouble()).getResult();
    op.getInputsMutable().append(scalar);
    BlockArgument argument = body.addArgument(scalar.getType(), op.getLoc());
    OpBuilder inside(constant);
    auto type = cast<plan::CellType>(constant.getType());
    auto map = AffineMap::get(op.axisSizes().size(), 0, {}, op.getContext());
    Value cell = inside.create<plan::ReadOp>(
        constant.getLoc(), plan::CellType::get(op.getContext(), type.getAxes(), scalar.getType()),
        argument, AffineMapAttr::get(map), ValueRange(), FloatAttr());
    if (cell.getType() != type)
      cell = inside.create<plan::CastOp>(constant.getLoc(), type, cell);
    constant.replaceAllUsesWith(cell);
    constant.erase();
  }
}

// Integers that are computed with as numbers become numbers before.
static void castIntegersBefore(plan::OperatorOp op) {
  OpBuilder outside(op);
  for (auto [input, argument] :
       llvm::zip_equal(op->getOpOperands(), op.getBody().front().getArguments())) {
    if (!argument.getType().isInteger(64) || !argument.hasOneUse())
      continue;
    auto read = cast<plan::ReadOp>(*argument.user_begin());
    auto cast = read->hasOneUse() ? dyn_cast<plan::CastOp>(*read->user_begin()) : nullptr;
    if (!cast || !llvm::cast<plan::CellType>(cast.getType()).getElement().isF64())
      continue;
    input.set(outside.create<tok::CastOp>(op.getLoc(), outside.getF64Type(), input.get()));
    argument.setType(outside.getF64Type());
    read.getCell().setType(llvm::cast<plan::CellType>(cast.getType()));
    cast.replaceAllUsesWith(read.getCell());
    cast.erase();
  }
}

// Arrays, then scalars in the order in which the body reads them.
static void orderOperands(plan::OperatorOp op) {
  Block &body = op.getBody().front();
  llvm::SetVector<unsigned> order;
  for (BlockArgument argument : body.getArguments())
    if (isa<TensorType>(argument.getType()))
      order.insert(argument.getArgNumber());
  for (auto read : body.getOps<plan::ReadOp>())
    order.insert(cast<BlockArgument>(read.getOperand()).getArgNumber());
  MLIRContext *context = op.getContext();
  SmallVector<Value> inputs;
  SmallVector<Attribute> sizes;
  llvm::SmallVector<int64_t> numbers(order.size());
  for (unsigned before : order) {
    BlockArgument argument = body.getArgument(before);
    numbers[before] = static_cast<int64_t>(inputs.size());
    inputs.push_back(op.getInputs()[before]);
    sizes.push_back(before < op.getOperandSizes().size() ? op.getOperandSizes()[before]
                                                         : ArrayAttr::get(context, {}));
    argument.replaceAllUsesWith(body.addArgument(argument.getType(), argument.getLoc()));
  }
  body.eraseArguments(0, order.size());
  auto renumbered = [&](ArrayRef<int64_t> operands) {
    return llvm::map_to_vector(operands, [&](int64_t operand) { return numbers[operand]; });
  };
  op.setSparse(renumbered(op.getSparse()));
  op.setDrivers(renumbered(op.getDrivers()));
  op.getInputsMutable().assign(inputs);
  op.setOperandSizesAttr(ArrayAttr::get(context, sizes));
}

// How many of the body's operations compute something.
static int64_t computations(plan::OperatorOp op) {
  return llvm::count_if(op.getBody().front(), [](Operation &operation) {
    return !isa<plan::ReadOp, plan::ConstantOp, plan::CastOp, plan::WriteOp>(operation);
  });
}

static bool aggregates(plan::OperatorOp op) {
  return llvm::any_of(op.getBody().front(), [](Operation &operation) {
    return isa<plan::ReduceOp, plan::ScanOp>(operation);
  });
}

// Whether an operator only computes cells, in rows that aren't computed across (ir/plan/IterationSpace.h): its code
// is the same for all longer ones.
static bool hasLongRows(plan::OperatorOp op) {
  SmallVector<Size> axes = op.axisSizes();
  return !aggregates(op) && !axes.empty() &&
         (axes.size() == 1 ||
          Size::constant(plan::mostColumnsAcross + 1).provedAtMost(axes.back()));
}

void pipeline::makeOperatorsGeneral(func::FuncOp block, Generality which) {
  for (auto op : llvm::to_vector(block.getOps<plan::OperatorOp>())) {
    bool isAlone = which == Generality::All || computations(op) == 1;
    bool isSmall = which == Generality::All || (op.getCompact() && (isAlone || !aggregates(op)));
    if ((!isSmall && !hasLongRows(op)) || failed(makeSizesGeneral(op)) || !isSmall)
      continue;
    if (isAlone)
      op.setCompact(false); // as those that are built in
    makeNumbersOperands(op);
    castIntegersBefore(op);
    orderOperands(op);
  }
}
