// Which bodies with drivers there is code for, and their default schedule: row by row, in vectors of
// entries and of the columns of dense rows.
#include "schedule/EntryLevel.h"
#include "schedule/Instructions.h"
#include "schedule/Scheduler.h"

#include "ir/tok/ElementTypes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;

static int64_t operandNumber(plan::ReadOp read) {
  return cast<BlockArgument>(read.getOperand()).getArgNumber();
}

static bool isOverRows(plan::ReduceOp reduce, unsigned row) {
  return llvm::is_contained(reduce.getOver(), row);
}

// Whether all that differs from row to row is computed from the drivers' entries alone.
static bool isFlat(plan::OperatorOp op, unsigned row, unsigned column) {
  return llvm::all_of(op.getBody().front(), [&](Operation &operation) {
    if (operation.getNumResults() == 0 || !runsOver(operation.getResult(0), row))
      return true;
    auto read = dyn_cast<plan::ReadOp>(operation);
    return cast<plan::CellType>(operation.getResult(0).getType()).getAxes() ==
               ArrayRef<unsigned>({row, column}) &&
           !isa<plan::ReduceOp>(operation) && (!read || op.isDriver(operandNumber(read)));
  });
}

std::optional<EntryLevel> schedule::entryLevelOf(plan::OperatorOp op) {
  if (!op.hasDrivers())
    return {};
  for (plan::ReadOp read : op.getBody().getOps<plan::ReadOp>())
    if (operandNumber(read) == op.getDrivers().front() && read.getType().getAxes().size() == 2) {
      unsigned row = read.getType().getAxes()[0], column = read.getType().getAxes()[1];
      return EntryLevel{read, row, column, isFlat(op, row, column)};
    }
  return {};
}

//===- legality ------------------------------------------------------------------------------===//

static LogicalResult checkRead(plan::OperatorOp op, plan::ReadOp read, const EntryLevel &level) {
  if (!read.getIndices().empty() || read.getOutside())
    return read.emitOpError("there is no code for gathers and windows yet");
  AffineMap map = read.getMap();
  if (tok::isArray(read.getOperand().getType()) && op.isSparseOperand(operandNumber(read)) &&
      (map.getResult(0) != getAffineDimExpr(level.row, map.getContext()) ||
       map.getResult(1) != getAffineDimExpr(level.column, map.getContext())))
    return read.emitOpError("sparse operands are read at the entries");
  return success();
}

static LogicalResult checkReduction(plan::ReduceOp reduce, const EntryLevel &level) {
  if (reduce.getKind() > AggregateKind::Max)
    return reduce.emitOpError("only sums, products, minima and maxima are taken of entries");
  if (!isOverRows(reduce, level.row))
    return llvm::is_contained(reduce.getOver(), level.column) &&
                   !runsOver(reduce.getOperand(), level.row)
               ? reduce.emitOpError("rows are aggregated of values that extend over the rows")
               : success();
  return runsOver(reduce.getCell(), level.column) && reduce.getKind() != AggregateKind::Sum
             ? reduce.emitOpError("of the columns of entries only sums are taken")
             : success();
}

static LogicalResult checkWrite(plan::OperatorOp op, plan::WriteOp write, const EntryLevel &level) {
  if (!write.getIndices().empty())
    return write.emitOpError("there is no code for results in parts yet");
  Value cell = write.getCell();
  auto reduce = cell.getDefiningOp<plan::ReduceOp>();
  bool isMerged = reduce && isOverRows(reduce, level.row);
  bool isAtEntries = !isMerged && runsOver(cell, level.column);
  size_t axes = cast<plan::CellType>(cell.getType()).getAxes().size();
  if (!isMerged && (!runsOver(cell, level.row) || axes > 2))
    return write.emitOpError("a result must extend over the rows");
  if (isAtEntries != op.isSparseResult(write.getNumber()))
    return write.emitOpError(isAtEntries ? "a result at the entries is a sparse array"
                                         : "only results at the entries are sparse arrays");
  if (isMerged && axes == 2 && runsOver(cell, level.column) &&
      write.getMap().getResult(0) != getAffineDimExpr(level.column, write.getContext()))
    return reduce.emitOpError("the transposed rows are multiplied by columns or narrow rows");
  return success();
}

static LogicalResult checkOperation(plan::OperatorOp op, Operation &operation,
                                    const EntryLevel &level) {
  if (auto read = dyn_cast<plan::ReadOp>(operation))
    return checkRead(op, read, level);
  if (auto reduce = dyn_cast<plan::ReduceOp>(operation))
    return checkReduction(reduce, level);
  if (auto write = dyn_cast<plan::WriteOp>(operation))
    return checkWrite(op, write, level);
  return isa<plan::ReindexOp, plan::ScanOp>(operation)
             ? operation.emitOpError("there is no code for this operation at entries yet")
             : success();
}

LogicalResult schedule::checkEntries(plan::OperatorOp op, const Schedule &schedule) {
  std::optional<EntryLevel> level = entryLevelOf(op);
  if (!level)
    return op.emitOpError("a driver is read along rows and several columns");
  for (Operation &operation : op.getBody().front())
    if (failed(checkOperation(op, operation, *level)))
      return failure();
  if (ArrayRef(schedule.parallel) != ArrayRef(level->row) || schedule.isVector(level->row) ||
      !schedule.isVector(level->column) || schedule.order.empty() ||
      schedule.order.front() != level->column || schedule.block != 1 || schedule.lanes != 8 ||
      !schedule.packed.empty() || schedule.vectorsOutside)
    return op.emitOpError("the entries of a driver are computed row by row, d")
           << level->row << " being parallel, and in vectors of 8 along d" << level->column
           << ", the outermost loop";
  return success();
}

//===- the default schedule ------------------------------------------------------------------===//

// Short bodies compute several vectors together where nothing ends with a row.
int64_t Scheduler::vectorsOfEntries() {
  int instructions = 0;
  for (Operation &operation : op_.getBody().front())
    if (operation.getNumResults() == 1 && !schedule_.innerAxes(operation.getResult(0)).empty())
      instructions += instructionsOf(&operation);
  return instructions <= 20 ? 4 : instructions <= 40 ? 2 : 1;
}

// The sums of all vectors of a dense row are computed together if there are not many.
int64_t Scheduler::vectorsOfRows(unsigned column) const {
  constexpr int64_t mostVectors = 8, vectorsOfUnknown = 4;
  int64_t vectors = 1;
  for (unsigned axis : schedule_.vectors)
    if (axis != column)
      vectors = std::max(vectors,
                         axes_[axis].isConstant()
                             ? (axes_[axis].constantValue() + schedule_.lanes - 1) / schedule_.lanes
                             : vectorsOfUnknown);
  return std::min(vectors, mostVectors);
}

bool Scheduler::scheduleEntries() {
  std::optional<EntryLevel> level = entryLevelOf(op_);
  if (!level)
    return false;
  schedule_.parallel = {level->row};
  schedule_.order = {level->column};
  for (unsigned axis = 0; axis < axes_.size(); ++axis)
    if (axis != level->row)
      schedule_.vectors.push_back(axis);
  schedule_.unroll = level->isFlat ? vectorsOfEntries() : vectorsOfRows(level->column);
  noteDependences();
  chooseKept();
  // Factors at the entries of a sum that each entry adds a dense row to.
  for (Operation *aggregation : aggregations_) {
    auto reduce = dyn_cast<plan::ReduceOp>(aggregation);
    plan::BinaryOp product = reduce ? plan::productIn(reduce) : plan::BinaryOp();
    if (!product || schedule_.innerAxes(reduce.getOperand()).size() < 2)
      continue;
    for (Value factor : {product.getLhs(), product.getRhs()})
      if (ArrayRef<unsigned>(schedule_.innerAxes(factor)) == ArrayRef(level->column) &&
          hasWork(factor) && runsOver(factor, level->row))
        schedule_.kept.insert(factor);
  }
  return true;
}
