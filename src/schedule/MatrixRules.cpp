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
#include "schedule/Scheduler.h"

#include "ir/plan/IterationSpace.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;
using plan::mostColumnsInRegisters;
using plan::mostNarrowColumns;

// The order in which sums add up depends on these figures, so they are the same on every machine.
// A constant width of at most this is narrow although it is the longest: vectors across rows are filled
// better than vectors along so short ones.
static constexpr int64_t mostNarrowMainColumns = 16;
// Bodies with more instructions per vector than this are not computed for eight rows together: one row
// has enough independent instructions, and compiling the copies takes longer than they save.
static constexpr int instructionsWorthEightRows = 24;
// Aggregates of columns stay in registers if they have at most mostColumnsInRegisters columns in all,
// and if a row takes at most this many scalar instructions for each vector of columns.
static constexpr int mostInstructionsPerRow = 4;

//===- cells ---------------------------------------------------------------------------------===//

// All axes are one, along which nothing is scanned. What is reduced is reduced over all of it.
bool Scheduler::scheduleCells() {
  SmallVector<unsigned> walked = longAxes();
  for (unsigned axis : ArrayRef(walked).drop_back(walked.empty() ? 0 : 1))
    if (!merged_[axis])
      return false;
  if (axes_.empty() || !op_.getBody().getOps<plan::ReindexOp>().empty())
    return false;
  walkAlong(walked);
  schedule_.vectors = {schedule_.parallel.back()};
  chooseLanes();
  // A body with few instructions is unrolled four times, so that independent instructions hide each
  // other's latency. A long body has enough of them already, and more code takes longer to compile.
  int instructions = 0;
  for (Operation &operation : op_.getBody().front())
    instructions += instructionsOf(&operation);
  schedule_.unroll = op_.getCompact() ? 1 : instructions <= 50 ? 4 : instructions <= 150 ? 2 : 1;
  return true;
}

//===- rows ----------------------------------------------------------------------------------===//

bool Scheduler::scheduleRows(ArrayRef<unsigned> rows) {
  if (!hasRows(rows))
    return false;
  chooseLanes();
  unsigned last = schedule_.parallel.back();
  for (unsigned axis = 0; axis < axes_.size(); ++axis)
    if (!schedule_.isParallel(axis) && isMain(axis) && !isNarrow(axis))
      schedule_.vectors.push_back(axis);
  chooseOrder();
  if (fitsRegisters()) {
    schedule_.unroll = std::max<int64_t>(1, mainWidth_.constantValue() / schedule_.lanes);
    return true;
  }
  noteDependences();
  bool hasBlocks =
      !hasCompactRows() && (wideInstructions() <= instructionsWorthEightRows || hasNarrowPasses());
  if (hasBlocks) {
    schedule_.block = schedule_.lanes;
    schedule_.vectors.push_back(last);
    keepNarrow();
  }
  chooseKept();
  if (hasBlocks)
    packRows();
  return true;
}

// Functions of narrow rows, which fill no vector, take much longer row by row.
bool Scheduler::hasCompactRows() {
  constexpr int64_t fewRows = 128;
  Size rows = Size::constant(1);
  for (unsigned axis : schedule_.parallel)
    rows = rows * axes_[axis];
  bool hasFewRows = rows.isConstant() && rows.constantValue() <= fewRows;
  bool isNarrow = mainWidth_.isConstant() && mainWidth_.constantValue() <= mostNarrowMainColumns;
  return op_.getCompact() &&
         (!isNarrow || hasFewRows || llvm::none_of(op_.getBody().front(), [](Operation &operation) {
           return isExpensive(&operation);
         }));
}

SmallVector<unsigned> Scheduler::longAxes() const {
  SmallVector<unsigned> axes;
  for (unsigned axis = 0; axis < axes_.size(); ++axis)
    if (!axes_[axis].isConstant(1))
      axes.push_back(axis);
  return axes;
}

// Tiles are cut from these axes; those of size 1 are the same everywhere. What is reduced over one of
// these and not over the others is reduced within a tile.
void Scheduler::walkAlong(ArrayRef<unsigned> axes) {
  schedule_.parallel.clear();
  for (unsigned axis = 0; axis < axes_.size(); ++axis) {
    bool isReducedAlone = llvm::any_of(aggregations_, [&](Operation *aggregation) {
      auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
      return reduce && llvm::is_contained(reduce.getOver(), axis) &&
             !llvm::all_of(axes, [&](unsigned walked) {
               return llvm::is_contained(reduce.getOver(), walked);
             });
    });
    if (axes_[axis].isConstant(1) && !isReducedAlone)
      schedule_.parallel.push_back(axis);
  }
  schedule_.parallel.append(axes.begin(), axes.end());
}

SmallVector<unsigned> Scheduler::mergedRows() {
  SmallVector<unsigned> rows;
  for (unsigned axis : longAxes()) {
    rows.push_back(axis);
    if (!merged_[axis])
      break;
  }
  return rows;
}

bool Scheduler::hasRows(ArrayRef<unsigned> rows) {
  walkAlong(rows);
  if (schedule_.parallel.empty())
    return false;
  auto length = [](const Size &size) {
    return size.isConstant() ? size.constantValue() : INT64_MAX;
  };
  mainWidth_ = Size::constant(1);
  for (unsigned axis = 0; axis < axes_.size(); ++axis)
    if (!schedule_.isParallel(axis) && length(axes_[axis]) > length(mainWidth_))
      mainWidth_ = axes_[axis];
  // All other widths are short.
  for (unsigned axis = 0; axis < axes_.size(); ++axis)
    if (!schedule_.isParallel(axis) && axes_[axis] != mainWidth_ &&
        length(axes_[axis]) > mostNarrowColumns)
      return false;
  return !scans() && llvm::all_of(op_.getBody().front(),
                                  [&](Operation &operation) { return fitsRows(operation); });
}

bool Scheduler::isNarrow(unsigned axis) const {
  return axes_[axis].isConstant() &&
         axes_[axis].constantValue() <= (isMain(axis) ? mostNarrowMainColumns : mostNarrowColumns);
}

// The place in each dimension is an axis or 0, and the axes are in the order of dimensions.
bool Scheduler::isAlongRows(AffineMap map) {
  SmallVector<unsigned> order;
  for (AffineExpr place : map.getResults()) {
    auto axis = dyn_cast<AffineDimExpr>(place);
    if (!axis && place != getAffineConstantExpr(0, map.getContext()))
      return false;
    if (axis)
      order.push_back(axis.getPosition());
  }
  return llvm::is_sorted(order);
}

// Whether only products that are summed up read the value.
bool Scheduler::isOnlyFactor(Operation *operation) {
  return llvm::all_of(operation->getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<plan::ReduceOp>(user))
      return plan::productIn(reduce) != nullptr;
    return isa<plan::BinaryOp, plan::CastOp>(user) && isOnlyFactor(user);
  });
}

bool Scheduler::fitsRows(Operation &operation) {
  unsigned last = schedule_.parallel.back();
  if (auto write = dyn_cast<plan::WriteOp>(operation)) {
    auto reduce = write.getCell().getDefiningOp<plan::ReduceOp>();
    bool isMerged = reduce && schedule_.isOfTiles(reduce);
    return write.getIndices().empty() && (isMerged || isAlongRows(write.getMap()));
  }
  Value result = operation.getResult(0);
  SmallVector<unsigned> inner = schedule_.innerAxes(result);
  if (auto read = dyn_cast<plan::ReadOp>(operation))
    return read.getIndices().empty() && !read.getOutside() && inner.size() < 3 &&
           (!runsOver(result, last) || (inner.size() < 2 && isAlongRows(read.getMap())));
  auto reduce = dyn_cast<plan::ReduceOp>(operation);
  if (!reduce) {
    if (isa<plan::ReindexOp>(operation))
      return inner.size() < 2 && !isReadElsewhere(last);
    return isCell(&operation) && (inner.size() < 2 || isOnlyFactor(&operation));
  }
  SmallVector<unsigned> operand = schedule_.innerAxes(reduce.getOperand());
  bool isMerged = schedule_.isOfTiles(reduce);
  if (!runsOver(reduce.getOperand(), last) || operand.size() > 2 || inner.size() > 2 ||
      (operand.size() == 2 && !plan::productIn(reduce)))
    return false;
  if (!isMerged) {
    // A product of rows: only one of the three widths may be long.
    bool isWide =
        operand.size() == 2 && llvm::all_of(operand, [&](unsigned axis) {
          return axes_[axis] == mainWidth_ &&
                 !(mainWidth_.isConstant() && mainWidth_.constantValue() <= mostNarrowColumns);
        });
    return !isWide && (operand.size() < 2 || inner.size() == 1);
  }
  return inner.size() < 2 ||
         llvm::any_of(
             inner,
             [&](unsigned axis) {
               return axes_[axis].isConstant() && axes_[axis].constantValue() <= mostNarrowColumns;
             });
}

int Scheduler::wideInstructions() {
  int instructions = 0;
  for (Operation &operation : op_.getBody().front())
    if (isCell(&operation) && llvm::any_of(schedule_.innerAxes(operation.getResult(0)),
                                           [&](unsigned axis) { return schedule_.isVector(axis); }))
      instructions += instructionsOf(&operation);
  return instructions;
}

// Whether there are values of narrow rows, or products of rows.
bool Scheduler::hasNarrowPasses() {
  return llvm::any_of(op_.getBody().front(), [&](Operation &operation) {
    if (operation.getNumResults() == 0)
      return false;
    SmallVector<unsigned> inner = schedule_.innerAxes(operation.getResult(0));
    return inner.size() > 1 || (inner.size() == 1 && !schedule_.isVector(inner.front()));
  });
}

// Whether all results are aggregates of columns, which are few enough for registers: then memory is
// only read, row by row.
bool Scheduler::fitsRegisters() {
  if (!mainWidth_.isConstant() || schedule_.vectors.empty() || hasNarrowPasses())
    return false;
  int64_t columns = 0, width = mainWidth_.constantValue();
  for (plan::WriteOp write : writes_) {
    auto reduce = write.getCell().getDefiningOp<plan::ReduceOp>();
    if (!reduce || !schedule_.isOfTiles(reduce) || schedule_.innerAxes(reduce.getCell()).empty())
      return false;
    columns += width;
  }
  int perRow = 0, passes = 1;
  for (Operation &operation : op_.getBody().front()) {
    if (isCell(&operation) && schedule_.innerAxes(operation.getResult(0)).empty() &&
        runsOver(operation.getResult(0), schedule_.parallel.back()))
      perRow += instructionsOf(&operation);
    if (isBlockReduction(&operation))
      passes = 2;
  }
  return passes <= 2 && columns <= mostColumnsInRegisters &&
         wideInstructions() <= mostInstructionsForMemory &&
         perRow <= mostInstructionsPerRow * ((width + 7) / 8);
}

// Values of narrow rows that are results or factors are kept, so that they can be written and
// multiplied along rows; likewise the products of rows.
void Scheduler::keepNarrow() {
  auto isShort = [&](Value value) {
    SmallVector<unsigned> inner = schedule_.innerAxes(value);
    return inner.size() == 1 && !schedule_.isVector(inner.front()) &&
           runsOver(value, schedule_.parallel.back());
  };
  auto keep = [&](Value value) {
    if (isShort(value) && isComputed(value) && hasWork(value))
      schedule_.kept.insert(value);
  };
  for (Operation &operation : op_.getBody().front()) {
    if (auto write = dyn_cast<plan::WriteOp>(operation))
      if (isComputed(write.getCell()) && isShort(write.getCell()))
        schedule_.kept.insert(write.getCell());
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (!reduce)
      continue;
    if (isShort(reduce.getCell()))
      schedule_.kept.insert(reduce.getCell());
    if (schedule_.innerAxes(reduce.getOperand()).size() == 2)
      if (plan::BinaryOp product = plan::productIn(reduce)) {
        keep(product.getLhs());
        keep(product.getRhs());
      }
  }
}

// Whether an operation reads the value for eight rows at a time: products and results are computed
// along rows.
bool Scheduler::isUsedAcross(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<plan::WriteOp>(user))
      return false;
    if (isa<plan::CastOp, plan::ReindexOp>(user))
      return !schedule_.kept.contains(user->getResult(0)) ? isUsedAcross(user->getResult(0)) : true;
    if (auto reduce = dyn_cast<plan::ReduceOp>(user))
      return schedule_.innerAxes(reduce.getOperand()).size() < 2;
    SmallVector<unsigned> inner = schedule_.innerAxes(user->getResult(0));
    return inner.size() == 1 && !schedule_.isVector(inner.front());
  });
}

void Scheduler::packRows() {
  unsigned last = schedule_.parallel.back();
  for (plan::ReadOp read : op_.getBody().getOps<plan::ReadOp>()) {
    SmallVector<unsigned> inner = schedule_.innerAxes(read.getCell());
    if (runsOver(read.getCell(), last) && inner.size() == 1 && !schedule_.isVector(inner.front()) &&
        isUsedAcross(read.getCell()))
      schedule_.packed[read.getCell()] = last;
  }
}
