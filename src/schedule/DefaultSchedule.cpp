// The rules that give an operator its schedule where nothing else is asked for.
#include "schedule/Instructions.h"
#include "schedule/ScheduledBody.h"

#include "ir/plan/IterationSpace.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;

ScheduledBody::ScheduledBody(plan::OperatorOp op, Hardware hardware)
    : op(op), hardware(hardware), axes(op.axisSizes()),
      reductions(op.getBody().getOps<plan::ReduceOp>()),
      writes(op.getBody().getOps<plan::WriteOp>()) {
  for (Operation &operation : op.getBody().front())
    if (isa<plan::ReduceOp, plan::ScanOp>(operation))
      aggregations.push_back(&operation);
}

// Cells of at most 32 bits are computed sixteen at a time. The doubles among them that are only added
// up, conversions and products, need no functions, which exist for eight.
static int64_t lanesOf(plan::OperatorOp op) {
  constexpr int64_t lanesOfDoubles = 8, lanesOfFloats = 16;
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
    return cell.getElement().getIntOrFloatBitWidth() <= 32 || isFactor(&operation) ||
           (isa<plan::CastOp>(operation) && llvm::all_of(operation.getUsers(), isUsed));
  };
  return llvm::all_of(op.getBody().front(), isNarrow) ? lanesOfFloats : lanesOfDoubles;
}

//===- axes ----------------------------------------------------------------------------------===//

// Whether neighbours along the axis are neighbours in all results that it appears in.
static bool isContiguous(ScheduledBody &body, unsigned axis) {
  bool appears = false;
  for (plan::WriteOp write : body.writes) {
    AffineMap map = write.getMap();
    if (map.getNumResults() == 0 || !map.isFunctionOfDim(axis))
      continue;
    appears = true;
    if (llvm::any_of(map.getResults().drop_back(),
                     [&](AffineExpr other) { return other.isFunctionOfDim(axis); }) ||
        plan::stepAlong(map.getResults().back(), axis) != 1)
      return false;
  }
  return appears;
}

static bool isWrittenAlong(plan::WriteOp write, unsigned axis) {
  return write.getMap().isFunctionOfDim(axis) || runsOver(write.getCell(), axis);
}

// Whether all that is computed is written along the axis or reduced over it, and nothing else is done with what is
// reduced.
static bool isReducedToResults(ScheduledBody &body, unsigned axis) {
  auto isResult = [&](Operation *aggregation) {
    auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
    return reduce && llvm::is_contained(reduce.getOver(), axis) &&
           reduce.getKind() <= AggregateKind::Max &&
           llvm::all_of(reduce->getUsers(), llvm::IsaPred<plan::WriteOp>);
  };
  return llvm::all_of(body.writes,
                      [&](plan::WriteOp write) {
                        return isWrittenAlong(write, axis) ||
                               (isResult(write.getCell().getDefiningOp()) &&
                                body.schedule.isWhole(write));
                      }) &&
         llvm::all_of(body.aggregations, [&](Operation *aggregation) {
           return isResult(aggregation) || runsOver(aggregation->getResult(0), axis);
         });
}

bool ScheduledBody::isReadElsewhere(unsigned axis) {
  return llvm::any_of(op.getBody().getOps<plan::ReindexOp>(), [&](plan::ReindexOp reindex) {
    if (reindex.getOperand().getDefiningOp<plan::ReadOp>())
      return false;
    for (auto [own, place] :
         llvm::zip(reindex.getOperand().getType().getAxes(), reindex.getMap().getResults()))
      if (own == axis && place != getAffineDimExpr(axis, op.getContext()))
        return true;
    return false;
  });
}

// Whatever is aggregated runs over the axes that tiles are cut from, so that no tile computes what
// another one computes too; likewise all that is written.
static void chooseParallel(ScheduledBody &body) {
  SmallVector<unsigned> &parallel = body.schedule.parallel;
  for (unsigned axis = 0; axis < body.axes.size(); ++axis) {
    auto isAggregated = [&](Operation *op) { return runsOver(op->getOperand(0), axis); };
    auto isWritten = [&](plan::WriteOp write) { return isWrittenAlong(write, axis); };
    if (body.isParallel(axis) && llvm::all_of(body.aggregations, isAggregated) &&
        llvm::all_of(body.writes, isWritten) && !body.isReadElsewhere(axis))
      parallel.push_back(axis);
  }
  // Where no axis is left, partial aggregates are merged.
  for (unsigned axis = 0; axis < body.axes.size() && parallel.empty(); ++axis)
    if (body.op.axisKind(axis) == plan::AxisKind::Reduced && isReducedToResults(body, axis))
      parallel.push_back(axis);
  // An axis of size 1 gives the only tile.
  for (unsigned axis = 0; axis < body.axes.size() && parallel.empty(); ++axis)
    if (body.isParallel(axis) && body.axes[axis].isConstant(1))
      parallel.push_back(axis);
}

static void moveLast(SmallVectorImpl<unsigned> &axes, unsigned axis) {
  llvm::erase(axes, axis);
  axes.push_back(axis);
}

// Vectors run along axes that are contiguous in a result, that are reduced within a block, or that sums of products
// run over, whose cells are factors of other sums. A scan has one vector of neighbours, along which nothing is scanned.
static void chooseVectors(ScheduledBody &body) {
  Schedule &schedule = body.schedule;
  std::optional<unsigned> contiguous;
  for (unsigned axis : schedule.parallel)
    if (isContiguous(body, axis) && !body.axes[axis].isConstant(1))
      contiguous = axis;
  if (contiguous) {
    schedule.vectors = {*contiguous};
    if (body.scans() || schedule.parallel.size() == 1)
      return moveLast(schedule.parallel, *contiguous);
    llvm::erase(schedule.parallel, *contiguous);
  }
  if (body.scans())
    return;
  for (unsigned axis = 0; axis < body.axes.size(); ++axis) {
    auto isReducedToBlocks = [&](plan::ReduceOp reduce) {
      return llvm::is_contained(reduce.getOver(), axis) &&
             schedule.innerAxes(reduce.getCell()).empty();
    };
    auto isAlongProducts = [&](plan::ReduceOp reduce) {
      return plan::productIn(reduce) && runsOver(reduce.getCell(), axis);
    };
    if (!schedule.isParallel(axis) && !schedule.isVector(axis) &&
        (body.isParallel(axis) || llvm::any_of(body.reductions, isReducedToBlocks) ||
         llvm::any_of(body.reductions, isAlongProducts)))
      schedule.vectors.push_back(axis);
  }
}

// What is scanned is scanned again at each place along the loops outside.
void ScheduledBody::chooseOrder() {
  for (auto kind : {plan::AxisKind::Parallel, plan::AxisKind::Reduced, plan::AxisKind::Scanned})
    for (unsigned axis = 0; axis < axes.size(); ++axis)
      if (op.axisKind(axis) == kind && !schedule.isParallel(axis) && (scans() || !isParallel(axis)))
        schedule.order.push_back(axis);
}

//===- what is kept ------------------------------------------------------------------------===//

bool ScheduledBody::isComputed(Value value) const {
  Operation *operation = value.getDefiningOp();
  return operation && !isa<plan::ReadOp, plan::ConstantOp, plan::SizeOp>(operation) &&
         !schedule.innerAxes(value).empty();
}

bool ScheduledBody::hasWork(Value value) const {
  Operation *operation = value.getDefiningOp();
  return isComputed(value) &&
         (!isa<plan::CastOp, plan::ReindexOp>(operation) || hasWork(operation->getOperand(0)));
}

bool ScheduledBody::dependsOn(Operation *operation, Operation *other) {
  auto [known, isNew] = dependences.try_emplace(operation);
  if (isNew) {
    BackwardSliceOptions options;
    options.inclusive = true;
    getBackwardSlice(operation, &known->second, options);
  }
  return known->second.contains(other);
}

// Whether the operation, or one of which it is computed without a kept value between, is
// expensive and needed by `reduction`, too.
static bool sharesWork(ScheduledBody &body, Operation *operation, Operation *reduction) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *of) {
    return !body.schedule.kept.contains(of->getResult(0)) &&
           !body.schedule.innerAxes(of->getResult(0)).empty();
  };
  SetVector<Operation *> computedOf;
  getBackwardSlice(operation, &computedOf, options);
  return llvm::any_of(computedOf, [&](Operation *of) {
    return (isExpensive(of) || isa<plan::ReduceOp>(of)) && body.dependsOn(reduction, of);
  });
}

// Of what is complete only after a pass over the block: that of which `operation` is computed, and
// `other` is not.
static SmallVector<plan::ReduceOp> passesBetween(ScheduledBody &body, Operation *other,
                                                 Operation *operation) {
  SmallVector<plan::ReduceOp> passes;
  for (plan::ReduceOp reduce : body.reductions)
    if (body.schedule.isOfBlocks(reduce) && reduce != operation &&
        body.dependsOn(operation, reduce) && !body.dependsOn(other, reduce))
      passes.push_back(reduce);
  return passes;
}

// Whether something uses the scan together with an aggregate that is complete only after a pass,
// or in loops over other axes.
static bool isUsedInOtherPass(ScheduledBody &body, plan::ScanOp scan) {
  const Schedule &schedule = body.schedule;
  auto isOther = [&](unsigned axis) {
    return !schedule.isParallel(axis) && !runsOver(scan.getCell(), axis);
  };
  auto needsOtherLoops = [&](Operation *user) {
    auto write = dyn_cast<plan::WriteOp>(user);
    return llvm::any_of(plan::axesOf(user->getOperands(), write ? write.getMap() : AffineMap()),
                        isOther);
  };
  SetVector<Operation *> users(scan->user_begin(), scan->user_end());
  for (size_t number = 0; number < users.size(); ++number) {
    Operation *user = users[number];
    if (needsOtherLoops(user) || !passesBetween(body, scan, user).empty())
      return true;
    auto reduce = dyn_cast<plan::ReduceOp>(user);
    // What is reduced at each place of a loop reads the scan at places that it has not reached.
    if (reduce && !schedule.isOfBlocks(reduce) && !schedule.isOfTiles(reduce))
      return true;
    if (!reduce)
      users.insert(user->user_begin(), user->user_end());
  }
  return false;
}

// The factors of a sum that is computed for each vector of another axis: they would be computed
// again for each of these vectors.
static void keepFactors(ScheduledBody &body, plan::ReduceOp reduce) {
  SmallVector<unsigned> inner = body.schedule.innerAxes(reduce.getCell());
  if (inner.empty())
    return;
  plan::BinaryOp product = plan::productIn(reduce);
  for (Value factor : product ? product.getOperands() : reduce->getOperands())
    if (body.hasWork(factor) &&
        llvm::none_of(inner, [&](unsigned axis) { return runsOver(factor, axis); }))
      body.schedule.kept.insert(factor);
}

void ScheduledBody::chooseKept() {
  for (Operation &user : op.getBody().front()) {
    // A value that is used together with an aggregate which needs the same expensive work is used in
    // a later pass than the one that computes the aggregate.
    for (Value operand : user.getOperands())
      if (Operation *operation = operand.getDefiningOp(); isComputed(operand))
        if (llvm::any_of(passesBetween(*this, operation, &user), [&](plan::ReduceOp reduce) {
              return sharesWork(*this, operation, reduce);
            }))
          schedule.kept.insert(operand);
    if (auto scan = dyn_cast<plan::ScanOp>(user); scan && isUsedInOtherPass(*this, scan))
      schedule.kept.insert(scan.getCell());
    if (auto reduce = dyn_cast<plan::ReduceOp>(user))
      keepFactors(*this, reduce);
    if (auto reindex = dyn_cast<plan::ReindexOp>(user); reindex && isComputed(reindex.getOperand()))
      schedule.kept.insert(reindex.getOperand());
  }
}

//===- blocks ------------------------------------------------------------------------------===//

// The sums of products that are computed for each vector.
static SmallVector<plan::ReduceOp> contractions(ScheduledBody &body) {
  SmallVector<plan::ReduceOp> sums;
  for (plan::ReduceOp reduce : body.reductions)
    if (plan::productIn(reduce) && !body.schedule.isOfBlocks(reduce))
      sums.push_back(reduce);
  return sums;
}

// Rows of images are short, and a vector that is not full takes as long as one that is, and hardly longer than one of half
// the lanes: they have the number of lanes of a register, or half of them where these take no more vectors.
static void chooseLanesOfImages(ScheduledBody &body) {
  Schedule &schedule = body.schedule;
  for (plan::ReduceOp reduce : contractions(body))
    for (Value factor : plan::productIn(reduce).getOperands()) {
      auto read = factor.getDefiningOp<plan::ReadOp>();
      if (!read || !plan::isSpread(read, reduce))
        continue;
      const Size &length = body.axes[schedule.vectors.front()];
      bool fitsIntoEight = length.isConstant() && length.constantValue() <= 8;
      int64_t lanesOfRegister =
          body.hardware.vectorBytes * 8 / reduce.getAccumulator().getIntOrFloatBitWidth();
      if (schedule.lanes > 8 && (lanesOfRegister < schedule.lanes || fitsIntoEight))
        schedule.lanes = 8;
    }
}

// Windows that differ from place to place of a block, as those of each channel alone do. Where a block shares them, they
// are packed: vectors that are contiguous are read faster than those that begin anywhere.
static void chooseWindows(ScheduledBody &body) {
  Schedule &schedule = body.schedule;
  if (schedule.vectors.size() != 1)
    return;
  unsigned vector = schedule.vectors.front();
  for (plan::ReduceOp reduce : contractions(body))
    for (Value factor : plan::productIn(reduce).getOperands()) {
      auto read = factor.getDefiningOp<plan::ReadOp>();
      if (read && plan::isSpread(read, reduce) && runsOver(factor, vector) &&
          runsOver(factor, schedule.parallel.back()))
        schedule.windows.insert(factor);
    }
  if (failed(checkSchedule(body.op, schedule)))
    schedule.windows.clear();
}

// Blocks are cut from an axis that one factor of a product does not run over, so that its vectors
// are loaded once for all places of a block.
static void chooseAxisOfBlocks(ScheduledBody &body, plan::BinaryOp product) {
  Schedule &schedule = body.schedule;
  auto isInVectors = [&](Value factor) {
    return llvm::any_of(schedule.vectors, [&](unsigned axis) { return runsOver(factor, axis); });
  };
  unsigned best = schedule.parallel.back();
  for (unsigned axis : schedule.parallel)
    for (Value factor : product.getOperands())
      if (!runsOver(factor, axis) && isInVectors(factor))
        best = axis;
  moveLast(schedule.parallel, best);
}

static void chooseBlock(ScheduledBody &body) {
  Schedule &schedule = body.schedule;
  // In which order aggregates of tiles are added up depends on blocks, which are the same on every
  // target then.
  if (llvm::any_of(body.reductions, [&](auto reduce) { return schedule.isOfTiles(reduce); })) {
    (schedule.vectorizesBlocks() ? schedule.unroll : schedule.block) = 4;
    return;
  }
  SmallVector<plan::ReduceOp> sums = contractions(body);
  // Registers that hold accumulators, of each vector of doubles or of the accumulators' type.
  int64_t bits = sums.empty() ? 64 : sums[0].getAccumulator().getIntOrFloatBitWidth();
  int64_t registersOfVector =
      std::max<int64_t>(1, bits / 8 * schedule.lanes / body.hardware.vectorBytes);
  int64_t vectors = std::max<int64_t>(1, body.hardware.vectorRegisters * 3 / 4 / registersOfVector);
  if (schedule.vectorizesBlocks()) {
    schedule.unroll = std::min<int64_t>(4, vectors);
    return;
  }
  if (sums.empty()) {
    (body.aggregations.empty() ? schedule.unroll : schedule.block) = 4;
    return;
  }
  if (!schedule.parallel.empty()) {
    chooseAxisOfBlocks(body, plan::productIn(sums[0]));
    chooseWindows(body);
  }
  if (llvm::any_of(schedule.windows,
                   [&](Value windows) { return runsOver(windows, schedule.parallel.back()); })) {
    schedule.block = 4;
    return;
  }
  bool fitsOneVector = llvm::all_of(schedule.vectors, [&](unsigned axis) {
    return isConstantUpTo(body.axes[axis], schedule.lanes);
  });
  schedule.unroll = vectors >= 16 && !fitsOneVector ? 2 : 1;
  schedule.block = 8;
  while (schedule.block > 1 && schedule.block * schedule.unroll > vectors)
    schedule.block /= 2;
}

static std::optional<unsigned> axisOfPacking(ScheduledBody &body, plan::ReduceOp reduce,
                                             Value factor) {
  constexpr int64_t shortRow = 64;
  auto read = factor.getDefiningOp<plan::ReadOp>();
  if (!read || runsOver(factor, body.schedule.parallel.back()) ||
      !tok::isArray(read.getOperand().getType()))
    return {};
  for (unsigned axis : llvm::reverse(body.schedule.vectors)) {
    if (!runsOver(factor, axis) || !runsOver(reduce.getCell(), axis))
      continue;
    AffineExpr last = read.getMap().getResults().back();
    bool isContiguous = last == getAffineDimExpr(axis, body.op.getContext());
    bool isNear = isContiguous && !plan::isSpread(read, reduce);
    return isNear && isConstantUpTo(body.axes[axis], shortRow) ? std::nullopt : std::optional(axis);
  }
  return {};
}

// The factors of sums that are computed for each vector, where their vectors lie apart in memory: in
// long rows, or across rows.
static void choosePacked(ScheduledBody &body) {
  Schedule &schedule = body.schedule;
  if (schedule.vectorizesBlocks() || schedule.parallel.empty())
    return;
  SmallVector<plan::ReduceOp> sums = contractions(body);
  for (plan::ReduceOp reduce : sums)
    for (Value factor : plan::productIn(reduce).getOperands())
      if (std::optional<unsigned> axis = axisOfPacking(body, reduce, factor))
        schedule.packed[factor] = *axis;
  schedule.vectorsOutside = sums.size() == 1 && body.aggregations.size() == 1 &&
                            schedule.kept.empty() && schedule.vectors.size() == 1 &&
                            schedule.packed.size() == 1 &&
                            llvm::all_of(body.writes, [&](plan::WriteOp write) {
                              return schedule.innerAxes(write.getCell()) == schedule.vectors;
                            });
}

// Bodies of any shape.
static bool scheduleAxes(ScheduledBody &body) {
  chooseParallel(body);
  chooseVectors(body);
  body.chooseOrder();
  body.chooseKept();
  if (!body.op.getCompact()) {
    if (!body.schedule.vectors.empty())
      chooseLanesOfImages(body);
    chooseBlock(body);
    choosePacked(body);
  }
  return true;
}

// Of the arrays that have a cell at each place of the tiles.
static int64_t distanceOfStreams(ScheduledBody &body) {
  llvm::SmallSetVector<unsigned, 4> arrays;
  bool areNarrow = true;
  for (plan::ReadOp read : body.op.getBody().getOps<plan::ReadOp>())
    if (llvm::all_of(body.schedule.parallel,
                     [&](unsigned axis) { return runsOver(read.getCell(), axis); })) {
      arrays.insert(read.getNumber());
      areNarrow &= byteSize(plan::cellsOf(read.getCell())) <= 4;
    }
  const StreamDistances &distances = body.hardware.streams;
  return arrays.size() == 1 && areNarrow ? distances.ofOneSingle : distances.bytesAhead;
}

// By the first rules whose schedule is legal, or else by the last ones.
Schedule schedule::defaultSchedule(plan::OperatorOp op, Hardware hardware) {
  ScheduledBody body(op, hardware);
  int64_t lanes = lanesOf(op);
  ScopedDiagnosticHandler silence(op.getContext(), [](Diagnostic &) { return success(); });
  for (auto rules : {scheduleEntries, scheduleMergedRows, scheduleOnlyRow, scheduleAxes}) {
    body.schedule = {};
    body.schedule.lanes = lanes;
    if (!rules(body))
      continue;
    body.schedule.streamBytesAhead = distanceOfStreams(body);
    if (succeeded(checkSchedule(op, body.schedule)))
      break;
  }
  return std::move(body.schedule);
}
