// The rules that give an operator its schedule where nothing else is asked for.
#include "schedule/Instructions.h"
#include "schedule/MergedAxes.h"
#include "schedule/Scheduler.h"

#include "ir/tok/ElementTypes.h"

#include <functional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;

static constexpr int64_t lanesOfDoubles = 8, lanesOfFloats = 16;

static bool isWide(Type element) { return element.getIntOrFloatBitWidth() > 32; }

Scheduler::Scheduler(plan::OperatorOp op, VectorRegisters registers)
    : op_(op), registers_(registers), axes_(op.axisSizes()), merged_(mergedAxes(op)) {
  for (Operation &operation : op.getBody().front()) {
    if (isa<plan::ReduceOp, plan::ScanOp>(operation))
      aggregations_.push_back(&operation);
    if (auto write = dyn_cast<plan::WriteOp>(operation))
      writes_.push_back(write);
  }
}

// The first rule whose schedule is legal. Several axes are rows if they can be walked as one; if an
// aggregate along them is used further, the rows are what there is one of.
Schedule Scheduler::schedule() {
  auto isLegal = [&] {
    ScopedDiagnosticHandler silence(op_.getContext(), [](Diagnostic &) { return success(); });
    return succeeded(checkSchedule(op_, schedule_));
  };
  const std::function<bool()> rules[] = {
      [&] { return scheduleEntries(); }, [&] { return scheduleCells(); },
      [&] { return scheduleRows(mergedRows()); }, [&] { return scheduleRows({}); }};
  for (const auto &rule : rules) {
    schedule_ = {};
    if (rule() && isLegal())
      return std::move(schedule_);
  }
  schedule_ = {};
  scheduleAxes();
  return std::move(schedule_);
}

void Scheduler::scheduleAxes() {
  chooseLanes();
  chooseParallel();
  chooseVectors();
  chooseOrder();
  noteDependences();
  chooseKept();
  if (op_.getCompact())
    return;
  chooseBlock();
  choosePacked();
}

// Cells of at most 32 bits are computed sixteen at a time. The doubles among them that are only added
// up, conversions and products, need no functions, which exist for eight.
void Scheduler::chooseLanes() {
  auto isSummed = [](Operation *user) { return isa<plan::ReduceOp, plan::ScanOp>(user); };
  auto isFactor = [&](Operation *user) {
    auto product = dyn_cast<plan::BinaryOp>(user);
    return product && product.getKind() == BinaryOperator::Mul &&
           llvm::all_of(user->getUsers(), isSummed);
  };
  auto isNarrow = [&](Operation &operation) {
    if (operation.getNumResults() == 0 || isa<plan::SizeOp>(operation))
      return true;
    auto cell = cast<plan::CellType>(operation.getResult(0).getType());
    if (cell.getAxes().empty())
      return true;
    if (auto reduce = dyn_cast<plan::ReduceOp>(operation);
        reduce && reduce.getKind() > AggregateKind::Max)
      return false;
    auto isUsed = [&](Operation *user) { return isSummed(user) || isFactor(user); };
    return !isWide(cell.getElement()) || isFactor(&operation) ||
           (isa<plan::CastOp>(operation) && llvm::all_of(operation.getUsers(), isUsed));
  };
  schedule_.lanes = llvm::all_of(op_.getBody().front(), isNarrow) ? lanesOfFloats : lanesOfDoubles;
}

// Whether neighbours along the axis are neighbours in all results that it appears in.
bool Scheduler::isContiguous(unsigned axis) {
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
void Scheduler::chooseParallel() {
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
  // Where no axis is left, partial aggregates are merged: all that is computed is reduced over the
  // axis, and nothing else is done with it.
  for (unsigned axis = 0; axis < axes_.size() && schedule_.parallel.empty(); ++axis)
    if (op_.axisKind(axis) == plan::AxisKind::Reduced && isReducedToResults(axis))
      schedule_.parallel.push_back(axis);
  // An axis of size 1 gives the only tile.
  for (unsigned axis = 0; axis < axes_.size() && schedule_.parallel.empty(); ++axis)
    if (isParallel(axis) && axes_[axis].isConstant(1))
      schedule_.parallel.push_back(axis);
}

bool Scheduler::isReducedToResults(unsigned axis) {
  auto isResult = [&](Operation *aggregation) {
    auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
    return reduce && llvm::is_contained(reduce.getOver(), axis) &&
           reduce.getKind() <= AggregateKind::Max &&
           llvm::all_of(reduce->getUsers(), llvm::IsaPred<plan::WriteOp>);
  };
  return llvm::all_of(writes_,
                      [&](plan::WriteOp write) {
                        Operation *written = write.getCell().getDefiningOp();
                        return isa<plan::ReduceOp>(written) && isResult(written) &&
                               schedule_.isWhole(write);
                      }) &&
         llvm::all_of(aggregations_, [&](Operation *aggregation) {
           return isResult(aggregation) || runsOver(aggregation->getResult(0), axis);
         });
}

// Whether what is computed at one place of the axis is used at others.
bool Scheduler::isReadElsewhere(unsigned axis) {
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

bool Scheduler::scans() const {
  return llvm::any_of(aggregations_, [](Operation *op) { return isa<plan::ScanOp>(op); });
}

void Scheduler::moveLast(unsigned axis) {
  llvm::erase(schedule_.parallel, axis);
  schedule_.parallel.push_back(axis);
}

// Vectors run along axes that are contiguous in a result, or that are reduced within a block. A scan
// has one vector of neighbours, along which nothing is scanned.
void Scheduler::chooseVectors() {
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
bool Scheduler::isReducedToBlocks(unsigned axis) {
  return llvm::any_of(aggregations_, [&](Operation *operation) {
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    return reduce && llvm::is_contained(reduce.getOver(), axis) &&
           schedule_.innerAxes(reduce.getCell()).empty();
  });
}

// What is scanned is scanned again at each place along the loops outside.
void Scheduler::chooseOrder() {
  for (auto kind : {plan::AxisKind::Parallel, plan::AxisKind::Reduced, plan::AxisKind::Scanned})
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      if (op_.axisKind(axis) == kind && !schedule_.isParallel(axis) &&
          (scans() || !isParallel(axis)))
        schedule_.order.push_back(axis);
}

//===- what is kept ------------------------------------------------------------------------===//

bool Scheduler::isBlockReduction(Operation *operation) {
  auto reduce = dyn_cast<plan::ReduceOp>(operation);
  return reduce && schedule_.innerAxes(reduce.getCell()).empty() && !schedule_.isOfTiles(reduce);
}

static bool isWork(Operation *operation) {
  return isExpensive(operation) || isa<plan::ReduceOp>(operation);
}

void Scheduler::noteDependences() {
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
bool Scheduler::sharesWork(Operation *operation, Operation *reduction) {
  llvm::DenseSet<Operation *> visited;
  return sharesWork(operation, reduction, visited);
}
bool Scheduler::sharesWork(Operation *operation, Operation *reduction,
                           llvm::DenseSet<Operation *> &visited) {
  if (!visited.insert(operation).second || schedule_.kept.contains(operation->getResult(0)) ||
      schedule_.innerAxes(operation->getResult(0)).empty())
    return false;
  if (isWork(operation) && dependences_[reduction].test(numbers_[operation]))
    return true;
  return llvm::any_of(operation->getOperands(), [&](Value operand) {
    return operand.getDefiningOp() && sharesWork(operand.getDefiningOp(), reduction, visited);
  });
}

bool Scheduler::isComputed(Value value) {
  Operation *operation = value.getDefiningOp();
  return operation && !isa<plan::ReadOp, plan::ConstantOp, plan::SizeOp>(operation) &&
         !schedule_.innerAxes(value).empty();
}

// Whether more than conversions of what is read are computed for the value.
bool Scheduler::hasWork(Value value) {
  Operation *operation = value.getDefiningOp();
  if (isa<plan::ReadOp, plan::ConstantOp, plan::SizeOp>(operation) ||
      schedule_.innerAxes(value).empty())
    return false;
  return !isa<plan::CastOp, plan::ReindexOp>(operation) || hasWork(operation->getOperand(0));
}

void Scheduler::chooseKept() {
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
void Scheduler::keepForLaterPasses(Operation &user) {
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
bool Scheduler::isUsedInOtherPass(plan::ScanOp scan) {
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
void Scheduler::keepFactors(plan::ReduceOp reduce) {
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
plan::ReduceOp Scheduler::contraction() {
  for (Operation *operation : aggregations_)
    if (auto reduce = dyn_cast<plan::ReduceOp>(operation);
        reduce && plan::productIn(reduce) && !isBlockReduction(operation))
      return reduce;
  return {};
}

// Blocks are cut from an axis that one factor of a product does not run over, so that its vectors
// are loaded once for all places of a block.
void Scheduler::chooseBlock() {
  // In which order aggregates of tiles are added up depends on blocks, which are the same on every
  // target then.
  bool merges = llvm::any_of(aggregations_, [&](Operation *aggregation) {
    auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
    return reduce && schedule_.isOfTiles(reduce);
  });
  if (merges) {
    (schedule_.vectorizesBlocks() ? schedule_.unroll : schedule_.block) = 4;
    return;
  }
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
void Scheduler::choosePacked() {
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

std::optional<unsigned> Scheduler::axisOfPacking(plan::ReduceOp reduce, Value factor) {
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

bool Scheduler::fitsOneVector() {
  return llvm::all_of(schedule_.vectors, [&](unsigned axis) {
    return axes_[axis].isConstant() && axes_[axis].constantValue() <= schedule_.lanes;
  });
}

Schedule schedule::defaultSchedule(plan::OperatorOp op, VectorRegisters registers) {
  return Scheduler(op, registers).schedule();
}
