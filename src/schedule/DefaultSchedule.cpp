// The rules that give an operator its schedule where nothing else is asked for.
#include "schedule/Schedule.h"

#include "ir/tok/ElementTypes.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;

static constexpr int64_t lanesOfDoubles = 8, lanesOfFloats = 16;

static bool isWide(Type element) { return element.getIntOrFloatBitWidth() > 32; }
static bool runsOver(Value cell, unsigned axis) {
  return cast<plan::CellType>(cell.getType()).runsOver(axis);
}

namespace {

class Scheduler {
public:
  Scheduler(plan::OperatorOp op, VectorRegisters registers)
      : op_(op), registers_(registers), axes_(op.axisSizes()) {
    for (Operation &operation : op.getBody().front()) {
      if (isa<plan::ReduceOp, plan::ScanOp>(operation))
        aggregations_.push_back(&operation);
      if (auto write = dyn_cast<plan::WriteOp>(operation))
        writes_.push_back(write);
    }
  }

  Schedule schedule() {
    chooseLanes();
    chooseParallel();
    chooseVectors();
    chooseOrder();
    noteDependences();
    chooseKept();
    chooseBlock();
    choosePacked();
    return std::move(schedule_);
  }

private:
  // Cells of at most 32 bits are computed sixteen at a time. Doubles among them that are only added
  // up need no functions, which exist for eight.
  void chooseLanes() {
    auto isSummed = [](Operation *user) {
      return isa<plan::ReduceOp, plan::ScanOp>(user) ||
             (isa<plan::BinaryOp>(user) && llvm::all_of(user->getUsers(), [](Operation *sum) {
                return isa<plan::ReduceOp>(sum);
              }));
    };
    bool isNarrow = true;
    for (Operation &operation : op_.getBody().front()) {
      if (operation.getNumResults() == 0 || isa<plan::SizeOp>(operation))
        continue;
      auto cell = cast<plan::CellType>(operation.getResult(0).getType());
      isNarrow &= cell.getAxes().empty() || !isWide(cell.getElement()) ||
                  llvm::all_of(operation.getUsers(), isSummed);
    }
    schedule_.lanes = isNarrow ? lanesOfFloats : lanesOfDoubles;
  }

  bool isParallel(unsigned axis) { return op_.axisKind(axis) == plan::AxisKind::Parallel; }

  // Whether neighbours along the axis are neighbours in all results that it appears in.
  bool isContiguous(unsigned axis) {
    bool appears = false;
    for (plan::WriteOp write : writes_) {
      AffineMap map = write.getMap();
      if (map.getNumResults() == 0 || !map.isFunctionOfDim(axis))
        continue;
      appears = true;
      AffineExpr last = map.getResults().back();
      for (AffineExpr place : map.getResults().drop_back())
        if (place.isFunctionOfDim(axis))
          return false;
      AffineExpr next = last.replace(getAffineDimExpr(axis, op_.getContext()),
                                     getAffineDimExpr(axis, op_.getContext()) + 1);
      if (simplifyAffineExpr(next - last, map.getNumDims(), map.getNumSymbols()) !=
          getAffineConstantExpr(1, op_.getContext()))
        return false;
    }
    return appears;
  }

  // Whatever is aggregated runs over the axes that tiles are cut from, so that no tile computes what
  // another one computes too; likewise all that is written.
  void chooseParallel() {
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      if (isParallel(axis) &&
          llvm::all_of(
              aggregations_,
              [&](Operation *aggregation) { return runsOver(aggregation->getOperand(0), axis); }) &&
          llvm::all_of(writes_,
                       [&](plan::WriteOp write) {
                         return write.getMap().isFunctionOfDim(axis) ||
                                runsOver(write.getCell(), axis);
                       }) &&
          !isReadElsewhere(axis))
        schedule_.parallel.push_back(axis);
    // An axis of size 1 gives the only tile.
    for (unsigned axis = 0; axis < axes_.size() && schedule_.parallel.empty(); ++axis)
      if (isParallel(axis) && axes_[axis].isConstant(1))
        schedule_.parallel.push_back(axis);
  }

  // Whether what is computed at one place of the axis is used at others.
  bool isReadElsewhere(unsigned axis) {
    return llvm::any_of(op_.getBody().getOps<plan::ReindexOp>(), [&](plan::ReindexOp reindex) {
      if (reindex.getOperand().getDefiningOp<plan::ReadOp>())
        return false;
      for (auto [own, place] :
           llvm::zip(reindex.getOperand().getType().getAxes(), reindex.getMap().getResults()))
        if (own == axis && place != getAffineDimExpr(axis, op_.getContext()))
          return true;
      return false;
    });
  }

  bool scans() const {
    return llvm::any_of(aggregations_, [](Operation *op) { return isa<plan::ScanOp>(op); });
  }

  void moveLast(unsigned axis) {
    llvm::erase(schedule_.parallel, axis);
    schedule_.parallel.push_back(axis);
  }

  // Vectors run along axes that are contiguous in a result, or that are reduced within a block. A scan
  // has one vector of neighbours, along which nothing is scanned.
  void chooseVectors() {
    SmallVector<unsigned> contiguous;
    for (unsigned axis : schedule_.parallel)
      if (isContiguous(axis) && !axes_[axis].isConstant(1))
        contiguous.push_back(axis);
    if (!contiguous.empty() && (scans() || schedule_.parallel.size() == 1)) {
      moveLast(contiguous.back());
      schedule_.vectors = {contiguous.back()};
      return;
    }
    if (!contiguous.empty()) {
      schedule_.vectors.push_back(contiguous.back());
      llvm::erase(schedule_.parallel, contiguous.back());
    }
    if (scans())
      return;
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      if (!schedule_.isParallel(axis) && !schedule_.isVector(axis) &&
          (isParallel(axis) || isReducedToBlocks(axis)))
        schedule_.vectors.push_back(axis);
  }

  // Whether something is reduced over the axis to one value for each place of a block.
  bool isReducedToBlocks(unsigned axis) {
    return llvm::any_of(aggregations_, [&](Operation *operation) {
      auto reduce = dyn_cast<plan::ReduceOp>(operation);
      return reduce && llvm::is_contained(reduce.getOver(), axis) &&
             schedule_.innerAxes(reduce.getCell()).empty();
    });
  }

  void chooseOrder() {
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      if (!isParallel(axis))
        schedule_.order.push_back(axis);
  }

  //===- what is kept ------------------------------------------------------------------------===//

  bool isBlockReduction(Operation *operation) {
    return isa<plan::ReduceOp>(operation) && schedule_.innerAxes(operation->getResult(0)).empty();
  }

  static bool isExpensive(Operation *operation) {
    constexpr int manyInstructions = 8;
    if (auto unary = dyn_cast<plan::UnaryOp>(operation))
      return instructionsOf(unary.getKind()) >= manyInstructions;
    if (auto binary = dyn_cast<plan::BinaryOp>(operation))
      return instructionsOf(binary.getKind()) >= manyInstructions;
    return isa<plan::ReduceOp>(operation);
  }

  void noteDependences() {
    unsigned count = 0;
    for (Operation &operation : op_.getBody().front())
      numbers_[&operation] = count++;
    for (Operation &operation : op_.getBody().front()) {
      llvm::BitVector &own = dependences_[&operation];
      own.resize(count);
      own.set(numbers_[&operation]);
      for (Value operand : operation.getOperands())
        if (Operation *defining = operand.getDefiningOp())
          own |= dependences_[defining];
    }
  }

  // Whether the operation, or one of which it is computed without a kept value between, is
  // expensive and needed by `reduction`, too.
  bool sharesWork(Operation *operation, Operation *reduction) {
    llvm::DenseSet<Operation *> visited;
    return sharesWork(operation, reduction, visited);
  }
  bool sharesWork(Operation *operation, Operation *reduction,
                  llvm::DenseSet<Operation *> &visited) {
    if (!visited.insert(operation).second || schedule_.kept.contains(operation->getResult(0)) ||
        schedule_.innerAxes(operation->getResult(0)).empty())
      return false;
    if (isExpensive(operation) && dependences_[reduction].test(numbers_[operation]))
      return true;
    return llvm::any_of(operation->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && sharesWork(operand.getDefiningOp(), reduction, visited);
    });
  }

  bool isComputed(Value value) {
    Operation *operation = value.getDefiningOp();
    return operation && !isa<plan::ReadOp, plan::ConstantOp, plan::SizeOp>(operation) &&
           !schedule_.innerAxes(value).empty();
  }

  // Whether more than conversions of what is read are computed for the value.
  bool hasWork(Value value) {
    Operation *operation = value.getDefiningOp();
    if (isa<plan::ReadOp, plan::ConstantOp, plan::SizeOp>(operation) ||
        schedule_.innerAxes(value).empty())
      return false;
    return !isa<plan::CastOp, plan::ReindexOp>(operation) || hasWork(operation->getOperand(0));
  }

  void chooseKept() {
    for (Operation &operation : op_.getBody().front()) {
      keepForLaterPasses(operation);
      if (auto scan = dyn_cast<plan::ScanOp>(operation); scan && isUsedInOtherPass(scan))
        schedule_.kept.insert(scan.getCell());
      if (auto reduce = dyn_cast<plan::ReduceOp>(operation))
        keepFactors(reduce);
      if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
        if (isComputed(reindex.getOperand()))
          schedule_.kept.insert(reindex.getOperand());
    }
  }

  // A value that is used together with an aggregate which needs the same expensive work is used in a
  // later pass than the one that computes the aggregate.
  void keepForLaterPasses(Operation &user) {
    for (Value operand : user.getOperands()) {
      if (!isComputed(operand))
        continue;
      Operation *defining = operand.getDefiningOp();
      for (Operation *reduction : aggregations_)
        if (isBlockReduction(reduction) && reduction != &user &&
            dependences_[&user].test(numbers_[reduction]) &&
            !dependences_[defining].test(numbers_[reduction]) && sharesWork(defining, reduction)) {
          schedule_.kept.insert(operand);
          break;
        }
    }
  }

  // Whether something uses the scan together with an aggregate that is complete only after a pass,
  // or in loops over other axes.
  bool isUsedInOtherPass(plan::ScanOp scan) {
    SmallVector<unsigned> axes = schedule_.innerAxes(scan.getCell());
    auto needsOtherLoops = [&](Operation *user) {
      auto isOther = [&](unsigned axis) {
        return !schedule_.isParallel(axis) && !llvm::is_contained(axes, axis);
      };
      if (auto write = dyn_cast<plan::WriteOp>(user))
        for (unsigned axis = 0; axis < axes_.size(); ++axis)
          if (write.getMap().isFunctionOfDim(axis) && isOther(axis))
            return true;
      return llvm::any_of(user->getOperands(), [&](Value operand) {
        auto cell = dyn_cast<plan::CellType>(operand.getType());
        return cell && llvm::any_of(cell.getAxes(), isOther);
      });
    };
    auto needsAggregate = [&](Operation *user) {
      return llvm::any_of(aggregations_, [&](Operation *aggregation) {
        return isBlockReduction(aggregation) && aggregation != user &&
               dependences_[user].test(numbers_[aggregation]) &&
               !dependences_[scan].test(numbers_[aggregation]);
      });
    };
    SmallVector<Operation *> users(scan->getUsers());
    llvm::DenseSet<Operation *> visited;
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      if (!visited.insert(user).second)
        continue;
      if (needsOtherLoops(user) || needsAggregate(user))
        return true;
      if (!isBlockReduction(user))
        llvm::append_range(users, user->getUsers());
    }
    return false;
  }

  // The factors of a sum that is computed for each vector of another axis: they would be computed
  // again for each of these vectors.
  void keepFactors(plan::ReduceOp reduce) {
    SmallVector<unsigned> inner = schedule_.innerAxes(reduce.getCell());
    if (inner.empty())
      return;
    SmallVector<Value> factors = {reduce.getOperand()};
    if (plan::BinaryOp product = plan::productIn(reduce))
      factors = {product.getLhs(), product.getRhs()};
    for (Value factor : factors)
      if (hasWork(factor) &&
          !llvm::any_of(inner, [&](unsigned axis) { return runsOver(factor, axis); }))
        schedule_.kept.insert(factor);
  }

  //===- blocks ------------------------------------------------------------------------------===//

  // The sum of products that is computed for each vector, if there is one.
  plan::ReduceOp contraction() {
    for (Operation *operation : aggregations_)
      if (auto reduce = dyn_cast<plan::ReduceOp>(operation);
          reduce && plan::productIn(reduce) && !isBlockReduction(operation))
        return reduce;
    return {};
  }

  // Blocks are cut from an axis that one factor of a product does not run over, so that its vectors
  // are loaded once for all places of a block.
  void chooseBlock() {
    // Registers that hold accumulators, of each vector of doubles or of the accumulators' type.
    int64_t bytes = 8 * schedule_.lanes;
    plan::ReduceOp product = contraction();
    if (product)
      bytes = schedule_.lanes * product.getAccumulator().getIntOrFloatBitWidth() / 8;
    int64_t vectors = std::max<int64_t>(1, registers_.count * 3 / 4 /
                                               std::max<int64_t>(1, bytes / registers_.bytes));
    if (schedule_.vectorizesBlocks()) {
      schedule_.unroll = std::min<int64_t>(4, vectors);
      return;
    }
    if (!product) {
      schedule_.block = aggregations_.empty() ? 1 : 4;
      schedule_.unroll = aggregations_.empty() ? 4 : 1;
      return;
    }
    plan::BinaryOp factors = plan::productIn(product);
    unsigned best = schedule_.parallel.empty() ? 0 : schedule_.parallel.back();
    for (unsigned axis : schedule_.parallel)
      for (Value factor : {factors.getLhs(), factors.getRhs()})
        if (!runsOver(factor, axis) && llvm::any_of(schedule_.vectors, [&](unsigned vector) {
              return runsOver(factor, vector);
            }))
          best = axis;
    if (!schedule_.parallel.empty())
      moveLast(best);
    schedule_.unroll = vectors >= 16 && !fitsOneVector() ? 2 : 1;
    schedule_.block = 8;
    while (schedule_.block > 1 && schedule_.block * schedule_.unroll > vectors)
      schedule_.block /= 2;
  }

  // The factors of sums that are computed for each vector, where their vectors lie apart in memory: in
  // long rows, or across rows.
  void choosePacked() {
    if (schedule_.vectorizesBlocks() || schedule_.parallel.empty())
      return;
    unsigned sums = 0;
    for (Operation *operation : aggregations_) {
      auto reduce = dyn_cast<plan::ReduceOp>(operation);
      plan::BinaryOp product = reduce ? plan::productIn(reduce) : plan::BinaryOp();
      if (!product || isBlockReduction(operation))
        continue;
      ++sums;
      for (Value factor : {product.getLhs(), product.getRhs()})
        if (std::optional<unsigned> axis = axisOfPacking(reduce, factor))
          schedule_.packed[factor] = *axis;
    }
    schedule_.vectorsOutside = sums == 1 && aggregations_.size() == 1 && schedule_.kept.empty() &&
                               schedule_.vectors.size() == 1 && schedule_.packed.size() == 1 &&
                               llvm::all_of(writes_, [&](plan::WriteOp write) {
                                 return schedule_.innerAxes(write.getCell()) == schedule_.vectors;
                               });
  }

  std::optional<unsigned> axisOfPacking(plan::ReduceOp reduce, Value factor) {
    constexpr int64_t shortRow = 64;
    auto read = factor.getDefiningOp<plan::ReadOp>();
    if (!read || read.getOutside() || runsOver(factor, schedule_.parallel.back()) ||
        !tok::isArray(read.getOperand().getType()))
      return {};
    for (unsigned axis : llvm::reverse(schedule_.vectors)) {
      if (!runsOver(factor, axis) || !runsOver(reduce.getCell(), axis))
        continue;
      AffineExpr last = read.getMap().getResults().back();
      bool isContiguous = last == getAffineDimExpr(axis, op_.getContext());
      bool isShort = axes_[axis].isConstant() && axes_[axis].constantValue() <= shortRow;
      return isContiguous && isShort ? std::nullopt : std::optional(axis);
    }
    return {};
  }

  bool fitsOneVector() {
    return llvm::all_of(schedule_.vectors, [&](unsigned axis) {
      return axes_[axis].isConstant() && axes_[axis].constantValue() <= schedule_.lanes;
    });
  }

  plan::OperatorOp op_;
  VectorRegisters registers_;
  SmallVector<Size> axes_;
  SmallVector<Operation *> aggregations_;
  SmallVector<plan::WriteOp> writes_;
  Schedule schedule_;
  llvm::DenseMap<Operation *, unsigned> numbers_;
  llvm::DenseMap<Operation *, llvm::BitVector> dependences_; // all that an operation is computed of
};

} // namespace

Schedule schedule::defaultSchedule(plan::OperatorOp op, VectorRegisters registers) {
  return Scheduler(op, registers).schedule();
}
