// Rules for the bodies that most programs consist of: loops over all cells of arrays of one shape, and
// over the rows of matrices, which are computed in blocks of as many as a vector has cells: eight, or
// sixteen of at most 32 bits. Long rows are read in vectors along their columns; of short ones the same
// column of a block is a vector.
//
//   exp(X) * 2 + Y          one loop over all cells
//   softmax by rows         passes over the columns of a block of rows
//   t(X) %*% (w * (X %*% v))  two passes, of which the second adds to the result
//   colSums(X), 10 columns  the sums stay in registers
#include "schedule/Instructions.h"
#include "schedule/ScheduledBody.h"

#include "ir/plan/IterationSpace.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;
using plan::mostColumnsInRegisters;
using plan::mostNarrowColumns;

// The order in which sums add up depends on these figures, so they are the same on every machine.
// Bodies with more instructions per vector than this are not computed for eight rows together: one row
// has enough independent instructions, and compiling the copies takes longer than they save.
static constexpr int instructionsWorthEightRows = 24;
// Aggregates of columns stay in registers if they have at most mostColumnsInRegisters columns in all,
// and if a row takes at most this many scalar instructions for each vector of columns.
static constexpr int mostInstructionsPerRow = 4;
// Not if a row of more columns than this is divided by a number of its own, which takes a third of the registers: cells
// of four rows, that add to sums in memory, are 1.4 times as fast.
static constexpr int64_t mostColumnsBesideDivisions = 72;

// Tiles are cut from these axes; those of size 1 are the same everywhere. What is reduced over one of
// these and not over the others is reduced within a tile.
static void walkAlong(ScheduledBody &body, ArrayRef<unsigned> axes) {
  for (unsigned axis = 0; axis < body.axes.size(); ++axis) {
    auto isReducedAlone = [&](plan::ReduceOp reduce) {
      auto isOver = [&](unsigned other) { return llvm::is_contained(reduce.getOver(), other); };
      return isOver(axis) && !llvm::all_of(axes, isOver);
    };
    if (body.axes[axis].isConstant(1) && llvm::none_of(body.reductions, isReducedAlone))
      body.schedule.parallel.push_back(axis);
  }
  llvm::append_range(body.schedule.parallel, axes);
}

// Cuts a long body into parts of about as many instructions as let vectors overlap, where few values cross from one part to
// the next. These are kept, and so is what crosses several cuts. Sum over cuts of the values that cross, by dynamic
// programming over the operations in their order.
static void cutIntoStrips(ScheduledBody &body) {
  constexpr int mostInstructionsOfPart = 75;
  constexpr int64_t placesOfStrip = 256; // a panel of doubles takes 2 KiB
  SmallVector<Operation *> operations;
  llvm::DenseMap<Operation *, size_t> positions;
  for (Operation &operation : body.op.getBody().front()) {
    positions[&operation] = operations.size();
    operations.push_back(&operation);
  }
  std::vector<size_t> lastUses(operations.size(), 0); // of what is computed; 0 of all else
  for (auto [position, operation] : llvm::enumerate(operations))
    if (isCell(operation) && !isa<plan::ConstantOp>(operation) &&
        runsOver(operation->getResult(0), body.schedule.parallel.back()))
      for (Operation *user : operation->getUsers())
        lastUses[position] = std::max(lastUses[position], positions[user]);
  auto crosses = [&](size_t position, size_t cut) {
    return position < cut && lastUses[position] >= cut;
  };
  // By the position behind a part: the fewest crossing values, and where the part begins.
  std::vector<std::pair<int, size_t>> best(operations.size() + 1, {INT_MAX, 0});
  best[0] = {0, 0};
  for (size_t end = 1; end <= operations.size(); ++end) {
    int cost = 1; // a pass of its own costs about as much as a value
    for (size_t position = 0; position < end; ++position)
      cost += crosses(position, end);
    int instructions = 0;
    for (size_t begin = end; begin-- > 0;) {
      instructions += instructionsOf(operations[begin]);
      if (instructions > mostInstructionsOfPart && begin + 1 < end)
        break;
      if (best[begin].first < INT_MAX)
        best[end] = std::min(best[end], {best[begin].first + cost, begin});
    }
  }
  for (size_t cut = best.back().second; cut > 0; cut = best[cut].second)
    for (size_t position = 0; position < cut; ++position)
      if (crosses(position, cut))
        body.schedule.kept.insert(operations[position]->getResult(0));
  if (body.schedule.kept.empty())
    return;
  body.schedule.strip = placesOfStrip;
  if (failed(checkSchedule(body.op, body.schedule))) {
    body.schedule.kept.clear();
    body.schedule.strip = 0;
  }
}

// One loop over the cells of arrays: all axes are one. What is reduced is reduced over all of it.
static void scheduleCells(ScheduledBody &body) {
  body.schedule.vectors = {body.schedule.parallel.back()};
  // A body with few instructions is unrolled four times, so that independent instructions hide each
  // other's latency. A long body has enough of them already, and more code takes longer to compile; of a
  // very long one there are so many between a vector and the next that these don't overlap.
  int instructions = 0;
  for (Operation &operation : body.op.getBody().front())
    instructions += instructionsOf(&operation);
  bool isLong = body.op.getCompact() || instructions > 150;
  body.schedule.unroll = isLong ? 1 : instructions > 50 ? 2 : 4;
  if (isLong && !body.op.getCompact())
    cutIntoStrips(body);
}

//===- rows ----------------------------------------------------------------------------------===//

static bool isMain(const ScheduledBody &body, unsigned axis) {
  return body.axes[axis] == body.mainWidth;
}

// The place in each dimension is an axis or 0, and the axes are in the order of dimensions.
static bool isAlongRows(AffineMap map) {
  SmallVector<unsigned> order;
  for (AffineExpr place : map.getResults())
    if (auto axis = dyn_cast<AffineDimExpr>(place))
      order.push_back(axis.getPosition());
    else if (place != 0)
      return false;
  return llvm::is_sorted(order);
}

// Whether only products that are summed up read the value.
static bool isOnlyFactor(Operation *operation) {
  return llvm::all_of(operation->getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<plan::ReduceOp>(user))
      return plan::productIn(reduce) != nullptr;
    return isa<plan::BinaryOp, plan::CastOp>(user) && isOnlyFactor(user);
  });
}

static bool fitsRows(ScheduledBody &body, plan::ReduceOp reduce) {
  SmallVector<unsigned> operand = body.schedule.innerAxes(reduce.getOperand()),
                        inner = body.schedule.innerAxes(reduce.getCell());
  if (!runsOver(reduce.getOperand(), body.schedule.parallel.back()) || operand.size() > 2 ||
      (operand.size() == 2 && !plan::productIn(reduce)))
    return false;
  auto isShort = [&](unsigned axis) { return isConstantUpTo(body.axes[axis], mostNarrowColumns); };
  if (body.schedule.isOfTiles(reduce))
    return inner.size() < 2 || llvm::any_of(inner, isShort);
  // A product of rows: only one of the three widths may be long.
  return operand.size() < 2 ||
         (inner.size() == 1 &&
          llvm::any_of(
              operand, [&](unsigned axis) { return !isMain(body, axis) || isShort(axis); }));
}

static bool fitsRows(ScheduledBody &body, Operation &operation) {
  const Schedule &schedule = body.schedule;
  if (auto write = dyn_cast<plan::WriteOp>(operation))
    return write.getIndices().empty() && (schedule.isOfTiles(write) || isAlongRows(write.getMap()));
  if (auto reduce = dyn_cast<plan::ReduceOp>(operation))
    return fitsRows(body, reduce);
  unsigned last = schedule.parallel.back();
  size_t inner = schedule.innerAxes(operation.getResult(0)).size();
  if (auto read = dyn_cast<plan::ReadOp>(operation))
    return read.getIndices().empty() && !read.getOutside() && inner < 3 &&
           (!runsOver(read.getCell(), last) || (inner < 2 && isAlongRows(read.getMap())));
  if (isa<plan::ReindexOp>(operation))
    return inner < 2 && !body.isReadElsewhere(last);
  return isCell(&operation) && (inner < 2 || isOnlyFactor(&operation));
}

// Whether the body consists of rows, of which one width may be long; notes it.
static bool hasRows(ScheduledBody &body) {
  if (body.schedule.parallel.empty() || body.scans())
    return false;
  SmallVector<unsigned> columns;
  for (unsigned axis = 0; axis < body.axes.size(); ++axis)
    if (!body.schedule.isParallel(axis))
      columns.push_back(axis);
  auto length = [](const Size &size) {
    return size.isConstant() ? size.constantValue() : INT64_MAX;
  };
  body.mainWidth = Size::constant(1);
  for (unsigned axis : columns)
    if (length(body.axes[axis]) > length(body.mainWidth))
      body.mainWidth = body.axes[axis];
  return llvm::all_of(columns,
                      [&](unsigned axis) {
                        return isMain(body, axis) || length(body.axes[axis]) <= mostNarrowColumns;
                      }) &&
         llvm::all_of(body.op.getBody().front(),
                      [&](Operation &operation) { return fitsRows(body, operation); });
}

// Functions of narrow rows, which fill no vector, take much longer row by row, as products of them do.
static bool hasCompactRows(ScheduledBody &body) {
  Size rows = Size::constant(1);
  for (unsigned axis : body.schedule.parallel)
    rows = rows * body.axes[axis];
  auto takesLong = [&](Operation &operation) {
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    return isExpensive(&operation) ||
           (reduce && body.schedule.innerAxes(reduce.getOperand()).size() > 1);
  };
  return body.op.getCompact() && (!isConstantUpTo(body.mainWidth, plan::mostColumnsAcross) ||
                                  isConstantUpTo(rows, plan::mostCompactRows) ||
                                  llvm::none_of(body.op.getBody().front(), takesLong));
}

// Whether the value is computed in vectors along a row.
static bool isWide(const ScheduledBody &body, Value value) {
  return llvm::any_of(body.schedule.innerAxes(value),
                      [&](unsigned axis) { return body.schedule.isVector(axis); });
}

static int wideInstructions(ScheduledBody &body) {
  int instructions = 0;
  for (Operation &operation : body.op.getBody().front())
    if (isCell(&operation) && isWide(body, operation.getResult(0)))
      instructions += instructionsOf(&operation);
  return instructions;
}

// Whether the value runs along one axis within a row, which is too short for vectors.
static bool isNarrow(const ScheduledBody &body, Value value) {
  SmallVector<unsigned> inner = body.schedule.innerAxes(value);
  return inner.size() == 1 && !body.schedule.isVector(inner.front());
}

// Whether there are values of narrow rows, or products of rows.
static bool hasNarrowPasses(ScheduledBody &body) {
  return llvm::any_of(body.op.getBody().front(), [&](Operation &operation) {
    return llvm::any_of(operation.getResults(), [&](Value value) {
      return isNarrow(body, value) || body.schedule.innerAxes(value).size() > 1;
    });
  });
}

// Whether all results are aggregates of columns, which are few enough for registers: then memory is
// only read, row by row.
static bool fitsRegisters(ScheduledBody &body) {
  const Schedule &schedule = body.schedule;
  if (!body.mainWidth.isConstant() || schedule.vectors.empty() || hasNarrowPasses(body))
    return false;
  int64_t width = body.mainWidth.constantValue();
  for (plan::WriteOp write : body.writes)
    if (!schedule.isOfTiles(write) || schedule.innerAxes(write.getCell()).empty())
      return false;
  int perRow = 0;
  for (Operation &operation : body.op.getBody().front())
    if (isCell(&operation) && schedule.innerAxes(operation.getResult(0)).empty() &&
        runsOver(operation.getResult(0), schedule.parallel.back()))
      perRow += instructionsOf(&operation);
  return static_cast<int64_t>(body.writes.size()) * width <= mostColumnsInRegisters &&
         wideInstructions(body) <= mostInstructionsForMemory &&
         perRow <= mostInstructionsPerRow * ((width + 7) / 8);
}

// Whether cells along a row are divided by one number of it.
static bool dividesByRow(ScheduledBody &body) {
  return llvm::any_of(body.op.getBody().getOps<plan::BinaryOp>(), [&](plan::BinaryOp op) {
    return op.getKind() == BinaryOperator::Div && isWide(body, op.getLhs()) &&
           !isWide(body, op.getRhs());
  });
}

// Values of narrow rows that are results or factors are kept, so that they can be written and
// multiplied along rows; likewise the products of rows.
static void keepNarrow(ScheduledBody &body) {
  auto keep = [&](Value value) {
    if (isNarrow(body, value) && runsOver(value, body.schedule.parallel.back()))
      body.schedule.kept.insert(value);
  };
  for (Operation &operation : body.op.getBody().front()) {
    if (auto write = dyn_cast<plan::WriteOp>(operation); write && body.isComputed(write.getCell()))
      keep(write.getCell());
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (!reduce)
      continue;
    keep(reduce.getCell());
    plan::BinaryOp product = plan::productIn(reduce);
    if (product && body.schedule.innerAxes(product.getCell()).size() == 2)
      for (Value factor : product.getOperands())
        if (body.hasWork(factor))
          keep(factor);
  }
}

// Whether an operation reads the value for eight rows at a time: results, and products that add up rows,
// are computed along rows.
static bool isUsedAcross(const ScheduledBody &body, Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<plan::WriteOp>(user))
      return false;
    if (isa<plan::CastOp, plan::ReindexOp>(user))
      return body.schedule.kept.contains(user->getResult(0)) ||
             isUsedAcross(body, user->getResult(0));
    if (auto reduce = dyn_cast<plan::ReduceOp>(user))
      return !body.schedule.isOfTiles(reduce) ||
             body.schedule.innerAxes(reduce.getOperand()).size() < 2;
    bool isFactor = body.schedule.innerAxes(user->getResult(0)).size() > 1;
    return isNarrow(body, user->getResult(0)) ||
           (isFactor && isUsedAcross(body, user->getResult(0)));
  });
}

static void packRows(ScheduledBody &body) {
  unsigned last = body.schedule.parallel.back();
  for (plan::ReadOp read : body.op.getBody().getOps<plan::ReadOp>())
    if (runsOver(read.getCell(), last) && isNarrow(body, read.getCell()) &&
        isUsedAcross(body, read.getCell()))
      body.schedule.packed[read.getCell()] = last;
}

// Whether nothing is computed but sums of products, with what follows from their cells, for rows of two vectors and more:
// tiles of rows and vectors, as the rules for bodies of any shape have them, load less for each multiplication than the
// rows of one vector.
static bool hasWideProducts(ScheduledBody &body) {
  const Schedule &schedule = body.schedule;
  for (plan::ReduceOp reduce : body.reductions) {
    SmallVector<unsigned> axes = schedule.innerAxes(reduce.getCell());
    if (!plan::productIn(reduce) || schedule.isOfTiles(reduce) || axes.size() != 1 ||
        isConstantUpTo(body.axes[axes.front()], 2 * schedule.lanes - 1))
      return false;
  }
  return !body.reductions.empty() && !body.scans();
}

static bool scheduleRows(ScheduledBody &body) {
  if (!hasRows(body) || hasWideProducts(body))
    return false;
  Schedule &schedule = body.schedule;
  // Without blocks, vectors that are not filled are better than cells one by one; all of a narrow row
  // are computed together.
  bool isNarrowRow = isConstantUpTo(body.mainWidth, plan::mostColumnsAcross),
       isCompact = hasCompactRows(body);
  for (unsigned axis = 0; axis < body.axes.size(); ++axis)
    if (!schedule.isParallel(axis) && isMain(body, axis) && (!isNarrowRow || isCompact))
      schedule.vectors.push_back(axis);
  if (isNarrowRow && isCompact)
    schedule.unroll = (body.mainWidth.constantValue() + schedule.lanes - 1) / schedule.lanes;
  body.chooseOrder();
  if (fitsRegisters(body)) {
    schedule.unroll = std::max<int64_t>(1, body.mainWidth.constantValue() / schedule.lanes);
    if (body.mainWidth.constantValue() > mostColumnsBesideDivisions && dividesByRow(body)) {
      schedule.block = 4;
      schedule.unroll = 2;
    }
    return true;
  }
  bool hasBlocks =
      !isCompact && (wideInstructions(body) <= instructionsWorthEightRows || hasNarrowPasses(body));
  if (hasBlocks) {
    schedule.block = schedule.lanes;
    schedule.vectors.push_back(schedule.parallel.back());
    keepNarrow(body);
  }
  body.chooseKept();
  if (hasBlocks)
    packRows(body);
  return true;
}

bool schedule::scheduleMergedRows(ScheduledBody &body) {
  llvm::BitVector merged = mergedAxes(body.op);
  SmallVector<unsigned> rows;
  bool areAll = true;
  for (unsigned axis = 0; axis < body.axes.size(); ++axis)
    if (!body.axes[axis].isConstant(1)) {
      areAll = rows.empty() || merged[rows.back()];
      if (!areAll)
        break;
      rows.push_back(axis);
    }
  walkAlong(body, rows);
  if (!areAll || body.axes.empty() || !body.op.getBody().getOps<plan::ReindexOp>().empty())
    return scheduleRows(body);
  scheduleCells(body);
  return true;
}

bool schedule::scheduleOnlyRow(ScheduledBody &body) {
  walkAlong(body, {});
  return scheduleRows(body);
}
