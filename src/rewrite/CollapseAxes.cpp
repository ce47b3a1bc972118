// Operators over arrays of other ranks than two, as ones over fewer axes. Neighbouring axes that every array has
// next to each other, or not at all, become one; axes of one place go. Arrays are shown in the dimensions that are
// left, at least two, at no cost. So one kernel serves [1,64,56,56] and [1,128,28,28]: both are matrices with a row
// for each channel, beside which a bias [64,1,1] is a column; where nothing is repeated they are vectors.
#include "ir/plan/PlanDialect.h"
#include "ir/tok/SizesAttribute.h"
#include "rewrite/BlockRules.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;

namespace {

using Numbers = SmallVector<unsigned, 4>;
using Sizes = SmallVector<Size>;

class AxisCollapse {
public:
  explicit AxisCollapse(plan::OperatorOp op)
      : op_(op), builder_(op), location_(op.getLoc()), axisSizes_(op.axisSizes()),
        isSeparate_(axisSizes_.size(), false) {
    for (ArrayRef<Size> sizes : op.operandSizes())
      operands_.push_back({Sizes(sizes)});
    for (ArrayRef<Size> sizes : op.resultSizes())
      results_.push_back({Sizes(sizes)});
  }

  // True if the operator was replaced.
  bool run() {
    auto isMatrix = [](Type type) {
      auto array = dyn_cast<RankedTensorType>(type);
      return !array || array.getRank() == 2;
    };
    if ((llvm::all_of(op_->getOperandTypes(), isMatrix) &&
         llvm::all_of(op_->getResultTypes(), isMatrix)) ||
        !op_.getSparse().empty() || !op_.getSparseResults().empty() || !noteBody())
      return false;
    chooseRuns();
    chooseDimensions();
    if (!isChanged() || !canShowResults())
      return false;
    replace();
    return true;
  }

private:
  // An operand or result; a scalar has no dimensions.
  struct Array {
    Sizes sizes;
    std::optional<Numbers> axes =
        {};                 // of its dimensions, without those of one place; null: not known yet
    bool endsAlone = false; // the last dimension has one place
    Numbers runs = {};
    SmallVector<std::optional<unsigned>, 4> dimensions =
        {}; // the runs they are in the end; null: one place
  };

  //===- what may become one axis ------------------------------------------------------------===//

  // False if the body does something with places of axes other than to read, write and reduce along them.
  bool noteBody() {
    for (Operation &operation : op_.getBody().front()) {
      if (auto read = dyn_cast<plan::ReadOp>(operation)) {
        if (read.getOutside() || !read.getIndices().empty() ||
            !note(operands_[read.getNumber()], read.getMap()))
          return false;
      } else if (auto write = dyn_cast<plan::WriteOp>(operation)) {
        if (!write.getIndices().empty() || !note(results_[write.getNumber()], write.getMap()))
          return false;
      } else if (auto reduce = dyn_cast<plan::ReduceOp>(operation)) {
        // A scalar is what is left of a reduction.
        bool isOfOneCell = llvm::all_of(
            reduce.getOver(), [&](int64_t axis) { return axisSizes_[axis].isConstant(1); });
        if (isIndex(reduce.getKind()) || (isOfOneCell && givesScalars()) ||
            (!hasTiles() && !llvm::all_of(reduce->getUsers(), llvm::IsaPred<plan::WriteOp>)))
          return false;
        // Tiles of products are cut from the axes before that of their vectors.
        bool isProduct = plan::productIn(reduce) != nullptr;
        for (unsigned axis = 0; axis < axisSizes_.size(); ++axis)
          if (std::optional<unsigned> next = nextOf(axis))
            isSeparate_[axis] |= llvm::is_contained(reduce.getOver(), axis) !=
                                     llvm::is_contained(reduce.getOver(), *next) ||
                                 (isProduct && *next == lastOfResults());
      } else if (!isa<plan::ConstantOp, plan::UnaryOp, plan::BinaryOp, plan::IfElseOp,
                      plan::CastOp>(operation)) {
        return false;
      }
    }
    return llvm::all_of(operands_, [](const Array &array) { return array.axes.has_value(); }) &&
           canCutResults();
  }

  // Whether all results that are no sums can still be cut into tiles along one axis if those of one place go. Without such an
  // axis, tiles leave parts of sums, and nothing beside sums.
  bool canCutResults() {
    SmallVector<const Array *> cut;
    for (auto write : op_.getBody().getOps<plan::WriteOp>())
      if (!write.getCell().getDefiningOp<plan::ReduceOp>())
        cut.push_back(&results_[write.getNumber()]);
    auto isOfOneCell = [](const Array *result) { return result->axes->empty(); };
    bool hasSums = !op_.getBody().getOps<plan::ReduceOp>().empty();
    return cut.empty() || (!hasSums && llvm::all_of(cut, isOfOneCell)) ||
           llvm::any_of(*cut.front()->axes, [&](unsigned axis) {
             return llvm::all_of(
                 cut, [&](const Array *result) { return llvm::is_contained(*result->axes, axis); });
           });
  }

  // The axis along which neighbours are neighbours in the results.
  std::optional<unsigned> lastOfResults() {
    for (auto write : op_.getBody().getOps<plan::WriteOp>())
      if (auto axis = dyn_cast_or_null<AffineDimExpr>(
              write.getMap().getNumResults() ? write.getMap().getResults().back() : AffineExpr()))
        return axis.getPosition();
    return {};
  }

  // Whether an axis that tiles are cut from has more than one place. If none has, one of a single place must stay where
  // what is reduced is used again: tiles along reduced axes leave parts of sums, which are only added up for results.
  bool hasTiles() {
    for (unsigned axis = 0; axis < axisSizes_.size(); ++axis)
      if (op_.axisKind(axis) == plan::AxisKind::Parallel && !axisSizes_[axis].isConstant(1))
        return true;
    return false;
  }

  bool givesScalars() const {
    return llvm::any_of(results_, [](const Array &array) { return array.sizes.empty(); });
  }

  // False if the whole array isn't read or written, or in another order than before.
  bool note(Array &array, AffineMap map) {
    Numbers axes;
    for (auto [place, size] : llvm::zip_equal(map.getResults(), array.sizes)) {
      if (auto axis = dyn_cast<AffineDimExpr>(place)) {
        if (!size.provedEqual(axisSizes_[axis.getPosition()]) ||
            llvm::is_contained(axes, axis.getPosition()))
          return false;
        if (!size.isConstant(1))
          axes.push_back(axis.getPosition());
      } else if (place != getAffineConstantExpr(0, map.getContext()) || !size.isConstant(1)) {
        return false;
      }
    }
    if (array.axes && *array.axes != axes)
      return false;
    for (unsigned axis = 0; axis < axisSizes_.size(); ++axis)
      if (std::optional<unsigned> next = nextOf(axis)) {
        auto own = llvm::find(axes, axis), other = llvm::find(axes, *next);
        bool hasOwn = own != axes.end(), hasOther = other != axes.end();
        isSeparate_[axis] |= hasOwn != hasOther || (hasOwn && own + 1 != other);
      }
    array.axes = axes;
    array.endsAlone = !array.sizes.empty() && array.sizes.back().isConstant(1);
    return true;
  }

  // The next axis of more than one place.
  std::optional<unsigned> nextOf(unsigned axis) const {
    for (unsigned next = axis + 1; next < axisSizes_.size(); ++next)
      if (!axisSizes_[next].isConstant(1))
        return next;
    return {};
  }

  //===- axes and dimensions -----------------------------------------------------------------===//

  void chooseRuns() {
    bool isNew = true;
    for (auto [axis, size] : llvm::enumerate(axisSizes_)) {
      runOf_.push_back({});
      if (size.isConstant(1))
        continue;
      if (isNew)
        runSizes_.push_back(Size::constant(1));
      runOf_.back() = runSizes_.size() - 1;
      runSizes_.back() = runSizes_.back() * size;
      isNew = isSeparate_[axis];
    }
    if (runSizes_.empty()) // operators have an axis, even of one place
      runSizes_.push_back(Size::constant(1));
    for (SmallVector<Array> *arrays : {&operands_, &results_})
      for (Array &array : *arrays)
        for (unsigned axis : *array.axes)
          if (array.runs.empty() || array.runs.back() != *runOf_[axis])
            array.runs.push_back(*runOf_[axis]);
  }

  // Arrays have the dimensions of the one that runs over most axes, so that rows stay rows beside columns.
  void chooseDimensions() {
    Numbers most;
    for (SmallVector<Array> *arrays : {&results_, &operands_})
      for (const Array &array : *arrays)
        if (array.runs.size() > most.size())
          most = array.runs;
    size_t rank = std::max<size_t>(most.size(), 2);
    for (SmallVector<Array> *arrays : {&results_, &operands_})
      for (Array &array : *arrays) {
        if (array.sizes.empty())
          continue;
        auto next = array.runs.begin();
        for (unsigned run : most) {
          bool isOwn = next != array.runs.end() && *next == run;
          array.dimensions.push_back(isOwn ? std::optional(*next++) : std::nullopt);
        }
        if (next != array.runs.end()) { // in another order
          array.dimensions.assign(array.runs.begin(), array.runs.end());
          if (!array.endsAlone && array.dimensions.size() < rank)
            array.dimensions.insert(array.dimensions.begin(), rank - array.dimensions.size(), {});
        }
        array.dimensions.resize(rank);
      }
  }

  Sizes sizesOf(const Array &array) const {
    Sizes sizes;
    for (std::optional<unsigned> run : array.dimensions)
      sizes.push_back(run ? runSizes_[*run] : Size::constant(1));
    return sizes;
  }

  bool isChanged() const {
    auto differs = [&](const Array &array) { return sizesOf(array) != array.sizes; };
    return llvm::any_of(operands_, differs) || llvm::any_of(results_, differs);
  }

  //===- the new operator --------------------------------------------------------------------===//

  // Whether the sizes of results are known or those of operands.
  bool canShowResults() const {
    auto isOfOperand = [&](const Size &size) {
      return size.isConstant() || llvm::any_of(operands_, [&](const Array &array) {
               return llvm::is_contained(array.sizes, size);
             });
    };
    return llvm::all_of(results_,
                        [&](const Array &array) { return llvm::all_of(array.sizes, isOfOperand); });
  }

  Value constant(int64_t number) { return builder_.create<tok::ConstantOp>(location_, number); }

  // The size of a dimension of an operand, given as a number of the program.
  Value size(const Size &size) {
    if (size.isConstant())
      return constant(size.constantValue());
    for (auto [operand, array] : llvm::zip_equal(op_.getInputs(), operands_))
      if (auto found = llvm::find(array.sizes, size); found != array.sizes.end())
        return builder_.create<tok::SizeOp>(
            location_, builder_.getI64Type(), operand,
            builder_.getI64IntegerAttr(found - array.sizes.begin() + 1));
    llvm_unreachable("axes are as long as dimensions of operands");
  }

  Value multiplied(Value a, Value b) {
    return builder_.create<tok::BinaryOp>(location_, BinaryOperator::Mul, a, b);
  }

  // The operand in its new dimensions.
  Value shown(Value operand, const Array &array) {
    if (sizesOf(array) == array.sizes)
      return operand;
    while (auto view = operand.getDefiningOp<tok::ViewOp>())
      operand = view.getOperand();
    if (auto before = operand.getDefiningOp<plan::OperatorOp>())
      if (before.resultSizes()[cast<OpResult>(operand).getResultNumber()] == sizesOf(array))
        return operand;
    SmallVector<Value> sizes;
    for (std::optional<unsigned> run : array.dimensions) {
      if (!run || runSizes_[*run].isConstant()) {
        sizes.push_back(constant(run ? runSizes_[*run].constantValue() : 1));
        continue;
      }
      Value product;
      for (auto [axis, runOfAxis] : llvm::enumerate(runOf_))
        if (runOfAxis == run) {
          Value factor = size(axisSizes_[axis]);
          product = product ? multiplied(product, factor) : factor;
        }
      sizes.push_back(product);
    }
    return builder_.create<tok::ViewOp>(location_, typeOf(operand, array), operand, sizes);
  }

  static Type typeOf(Value value, const Array &array) {
    if (array.sizes.empty())
      return value.getType();
    SmallVector<int64_t> sizes(array.dimensions.size(), ShapedType::kDynamic);
    return RankedTensorType::get(sizes, getElementTypeOrSelf(value.getType()));
  }

  AffineMap mapOf(const Array &array) const {
    MLIRContext *context = builder_.getContext();
    auto places = llvm::map_to_vector(array.dimensions, [&](std::optional<unsigned> run) {
      return run ? getAffineDimExpr(*run, context) : getAffineConstantExpr(0, context);
    });
    return AffineMap::get(runSizes_.size(), 0, places, context);
  }

  ArrayAttr attributeOf(ArrayRef<Array> arrays) const {
    MLIRContext *context = builder_.getContext();
    return ArrayAttr::get(context,
                          llvm::map_to_vector(arrays, [&](const Array &array) -> Attribute {
                            return tok::sizesAttribute(context, sizesOf(array));
                          }));
  }

  // The runs of axes, each once, in ascending order.
  template <typename Axis> SmallVector<Axis> runsOf(ArrayRef<Axis> axes) const {
    llvm::SmallSetVector<Axis, 4> runs;
    for (Axis axis : axes)
      if (runOf_[axis])
        runs.insert(*runOf_[axis]);
    SmallVector<Axis> sorted = runs.takeVector();
    llvm::sort(sorted);
    return sorted;
  }

  void replace() {
    SmallVector<Value> operands;
    for (auto [operand, array] : llvm::zip_equal(op_.getInputs(), operands_))
      operands.push_back(array.sizes.empty() ? operand : shown(operand, array));
    SmallVector<Type> types;
    for (auto [result, array] : llvm::zip_equal(op_.getResults(), results_))
      types.push_back(typeOf(result, array));
    OperationState state(location_, op_->getName(), operands, types, op_->getAttrs());
    state.addRegion();
    auto op = cast<plan::OperatorOp>(builder_.create(state));
    op.setOperandSizesAttr(attributeOf(operands_));
    op.setResultSizesAttr(attributeOf(results_));
    op.setAxisSizesAttr(tok::sizesAttribute(builder_.getContext(), runSizes_));
    op.getBody().takeBody(op_.getBody());
    for (auto [argument, operand] : llvm::zip_equal(op.getBody().getArguments(), operands))
      argument.setType(operand.getType());
    rewriteBody(op.getBody().front());
    for (auto [result, own, array] : llvm::zip_equal(op_.getResults(), op.getResults(), results_)) {
      Value whole = own;
      if (sizesOf(array) != array.sizes) {
        auto sizes =
            llvm::map_to_vector(array.sizes, [&](const Size &given) { return size(given); });
        whole = builder_.create<tok::ViewOp>(location_, result.getType(), own, sizes);
      }
      result.replaceAllUsesWith(whole);
    }
    op_.erase();
  }

  void rewriteBody(Block &body) const {
    for (Operation &operation : llvm::make_early_inc_range(body)) {
      if (auto read = dyn_cast<plan::ReadOp>(operation))
        read.setMap(mapOf(operands_[read.getNumber()]));
      else if (auto write = dyn_cast<plan::WriteOp>(operation))
        write.setMap(mapOf(results_[write.getNumber()]));
      for (Value cell : operation.getResults()) {
        auto type = cast<plan::CellType>(cell.getType());
        cell.setType(
            plan::CellType::get(type.getContext(), runsOf(type.getAxes()), type.getElement()));
      }
      if (auto reduce = dyn_cast<plan::ReduceOp>(operation)) {
        reduce.setOver(runsOf(reduce.getOver()));
        if (reduce.getOver().empty())
          dropReduction(reduce);
      }
    }
  }

  // Of one cell.
  static void dropReduction(plan::ReduceOp reduce) {
    Value cell = reduce.getOperand();
    if (cell.getType() != reduce.getType())
      cell = OpBuilder(reduce).create<plan::CastOp>(reduce.getLoc(), reduce.getType(), cell);
    reduce.replaceAllUsesWith(cell);
    reduce.erase();
  }

  plan::OperatorOp op_;
  OpBuilder builder_;
  Location location_;
  SmallVector<Size> axisSizes_;
  SmallVector<bool> isSeparate_; // from the next axis of more than one place
  SmallVector<Array> operands_, results_;
  SmallVector<std::optional<unsigned>> runOf_; // by axis; none of one place
  Sizes runSizes_;
};

} // namespace

bool rewrite::collapseAxes(func::FuncOp block, analysis::FactsAnalysis &) {
  bool fired = false;
  for (auto op : llvm::to_vector(block.getOps<plan::OperatorOp>()))
    fired |= AxisCollapse(op).run();
  // Results are shown in their own dimensions, which operators don't read any longer.
  SmallVector<tok::ViewOp> views(block.getOps<tok::ViewOp>());
  for (tok::ViewOp view : llvm::reverse(views))
    if (view.use_empty())
      view.erase();
  return fired;
}
