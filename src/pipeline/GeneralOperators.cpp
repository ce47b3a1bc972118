#include "pipeline/GeneralOperators.h"

#include "ir/plan/IterationSpace.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/SizesAttribute.h"
#include "ir/tok/TokDialect.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

#include <map>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

// The axis that counts windows, if the place is that of a cell in one: the first of those that it runs over.
static std::optional<unsigned> axisOfWindows(AffineExpr place) {
  if (isa<AffineDimExpr, AffineConstantExpr>(place))
    return {};
  std::optional<unsigned> first;
  place.walk([&](AffineExpr part) {
    if (auto axis = dyn_cast<AffineDimExpr>(part))
      first = std::min(first.value_or(axis.getPosition()), axis.getPosition());
  });
  return first;
}

namespace {

// Axes of which each has a size of its own, beside what is known of them.
class GeneralAxes {
public:
  explicit GeneralAxes(plan::OperatorOp op) : own(op.axisSizes()), sizes(own) {
    for (ArrayRef<Size> array : op.operandSizes())
      for (const Size &size : array)
        if (size.isSymbol())
          kept_.try_emplace(size.symbolId(),
                            Size::symbol(static_cast<int64_t>(2 * own.size() + kept_.size()),
                                         size.estimate(-1), size.range()));
  }

  static Size ofAxis(size_t axis) { return Size::symbol(static_cast<int64_t>(axis)); }
  Size ofImage(size_t axis) const { return Size::symbol(static_cast<int64_t>(own.size() + axis)); }
  // A size that stays as it is. The block's symbols get numbers behind those of axes and images. Unknown
  // if it is not computed from sizes of operands.
  Size keep(const Size &size) const {
    return size.substitute([&](int64_t symbol) {
      auto known = kept_.find(symbol);
      return known == kept_.end() ? Size::unknown() : known->second;
    });
  }

  SmallVector<Size> own, sizes;
  // If images are read, by axis: the size of the image's dimension along which it counts windows, which that of the
  // axis follows from; unknown if both keep their size.
  SmallVector<Size> images;

private:
  std::map<int64_t, Size> kept_; // by symbol of the block
};

// The sizes of an operand or result that follow from those of the axes by which it is read or written.
class SizesByAxes {
public:
  // `known` is what is known of the array.
  SizesByAxes(const GeneralAxes &axes, ArrayRef<Size> known) : axes_(axes), known_(known) {}

  // False if they don't follow from it: a part of an array is longer than the axis, or the place is neither that of an
  // axis nor, in an image, that of a cell of a window.
  bool add(AffineMap map, bool isImage = false) {
    for (auto [dimension, place] : llvm::enumerate(map.getResults())) {
      Size size = Size::constant(1);
      if (auto axis = dyn_cast<AffineDimExpr>(place)) {
        if (!known_[dimension].provedEqual(axes_.own[axis.getPosition()]))
          return false;
        size = axes_.sizes[axis.getPosition()];
      } else if (std::optional<unsigned> axis = axisOfWindows(place); axis && isImage) {
        const Size &image = axes_.images[*axis];
        size = image.isUnknown() ? axes_.keep(known_[dimension]) : image;
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
  ArrayRef<Size> sizes() const { return sizes_; }
  bool areComplete() const { return sizes_.size() == known_.size(); }
  Attribute attribute(MLIRContext *context) const { return tok::sizesAttribute(context, sizes_); }

private:
  const GeneralAxes &axes_;
  ArrayRef<Size> known_;
  SmallVector<Size> sizes_;
};

// An operator that reads windows of images, or one of their cells, for sums over channels. Its rows of windows keep
// their size, and so do windows.
class ImageAxes {
public:
  explicit ImageAxes(plan::OperatorOp op) : op_(op) {
    for (auto reduce : op.getBody().getOps<plan::ReduceOp>()) {
      plan::BinaryOp product = plan::productIn(reduce);
      areProducts_ &= bool(product);
      for (Value factor : product ? product->getOperands() : ValueRange())
        if (auto read = factor.getDefiningOp<plan::ReadOp>(); read && isSpread(read, reduce))
          images_.push_back(read);
    }
  }
  bool areOnlyOnes() const {
    return areProducts_ && !images_.empty() && op_.getBody().getOps<plan::ScanOp>().empty();
  }
  bool contain(plan::ReadOp read) const { return llvm::is_contained(images_, read); }

  // False if the windows of two images differ.
  bool makeGeneral(GeneralAxes &axes) const {
    axes.images.resize(axes.own.size());
    for (plan::ReadOp image : images_) {
      ArrayRef<AffineExpr> places = image.getMap().getResults();
      SmallVector<Size> known = op_.operandSizes()[image.getNumber()];
      for (auto [dimension, place] : llvm::enumerate(places)) {
        std::optional<unsigned> along = axisOfWindows(place);
        bool isRow = dimension + 1 == places.size();
        for (unsigned axis = 0; axis < axes.own.size(); ++axis)
          if (place.isFunctionOfDim(axis) && (isRow || (along && axis != *along)))
            axes.sizes[axis] = axes.keep(axes.own[axis]);
        if (!along || isRow)
          continue;
        int64_t step = plan::stepAlong(place, *along).value_or(0);
        if (!known[dimension].isConstant() || !axes.own[*along].isConstant() || step < 1)
          return false;
        // So many windows are in an image of this size, and one more for each step that it is longer.
        Size size = axes.ofImage(*along);
        Size windows = floorDivide(
            size + (axes.own[*along].constantValue() * step - known[dimension].constantValue()),
            Size::constant(step));
        if (!axes.images[*along].isUnknown() && !(axes.sizes[*along] == windows))
          return false;
        axes.sizes[*along] = windows;
        axes.images[*along] = size;
      }
    }
    return true;
  }

private:
  mutable plan::OperatorOp op_; // an operation's accessors are not const
  SmallVector<plan::ReadOp> images_;
  bool areProducts_ = true;
};

} // namespace

// Fails, with the operator as it was, if its sizes don't follow from its axes.
static LogicalResult makeSizesGeneral(plan::OperatorOp op) {
  GeneralAxes general(op);
  SmallVector<Size> &axes = general.sizes;
  for (auto [number, size] : llvm::enumerate(axes))
    if (!size.isConstant(1))
      size = GeneralAxes::ofAxis(number);
  ImageAxes images(op);
  if (images.areOnlyOnes() && !images.makeGeneral(general))
    return failure();
  // Cells that run over another axis instead: it is as long.
  for (auto reindex : op.getBody().getOps<plan::ReindexOp>()) {
    auto type = cast<plan::CellType>(reindex.getOperand().getType());
    for (auto [from, to] : llvm::zip_equal(type.getAxes(), reindex.getMap().getResults()))
      if (auto axis = dyn_cast<AffineDimExpr>(to))
        axes[std::max(from, axis.getPosition())] = axes[std::min(from, axis.getPosition())];
  }
  MLIRContext *context = op.getContext();
  SmallVector<Attribute> operands, results;
  llvm::SmallSet<int64_t, 8> areRead; // symbols
  Block &body = op.getBody().front();
  for (auto [argument, known] : llvm::zip_equal(body.getArguments(), op.operandSizes())) {
    SizesByAxes sizes(general, known);
    if (argument.use_empty())
      return failure();
    for (Operation *user : argument.getUsers()) {
      auto read = dyn_cast<plan::ReadOp>(user);
      if (!read || !read.getIndices().empty() || (read.getOutside() && !images.areOnlyOnes()) ||
          !sizes.add(read.getMap(), images.areOnlyOnes() && images.contain(read)))
        return failure();
    }
    if (!sizes.areComplete())
      return failure();
    for (const Size &size : sizes.sizes()) {
      if (size.isUnknown())
        return failure();
      if (size.isSymbol())
        areRead.insert(size.symbolId());
    }
    operands.push_back(sizes.attribute(context));
  }
  for (const Size &size : axes)
    if (size.isUnknown() ||
        !size.everySymbol([&](int64_t symbol) { return areRead.contains(symbol); }))
      return failure(); // nothing would say at run time how long the axis is
  SmallVector<SmallVector<Size>> known = op.resultSizes();
  SmallVector<SizesByAxes> written; // by result, of which parts may be written one after another
  for (ArrayRef<Size> result : known)
    written.emplace_back(general, result);
  for (auto write : body.getOps<plan::WriteOp>())
    if (!write.getIndices().empty() || !written[write.getNumber()].add(write.getMap()))
      return failure();
  for (const SizesByAxes &sizes : written) {
    if (!sizes.areComplete())
      return failure();
    results.push_back(sizes.attribute(context));
  }
  if (!body.getOps<plan::SizeOp>().empty())
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
    bool isShared = hasLongRows(op) || ImageAxes(op).areOnlyOnes();
    if ((!isSmall && !isShared) || failed(makeSizesGeneral(op)) || !isSmall)
      continue;
    if (isAlone)
      op.setCompact(false); // as those that are built in
    makeNumbersOperands(op);
    castIntegersBefore(op);
    orderOperands(op);
  }
}
