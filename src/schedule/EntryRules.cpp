// Which bodies with drivers there is code for, and their default schedule: row by row, in vectors of
// entries and of the columns of dense rows.
#include "schedule/EntryLevel.h"
#include "schedule/Instructions.h"
#include "schedule/ScheduledBody.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;

// Whether all that differs from row to row is computed from the drivers' entries alone.
static bool isFlat(plan::OperatorOp op, unsigned row, unsigned column) {
  return llvm::all_of(op.getBody().front(), [&](Operation &operation) {
    if (operation.getNumResults() == 0 || !runsOver(operation.getResult(0), row))
      return true;
    auto read = dyn_cast<plan::ReadOp>(operation);
    return cast<plan::CellType>(operation.getResult(0).getType()).getAxes() ==
               ArrayRef<unsigned>({row, column}) &&
           !isa<plan::ReduceOp>(operation) && (!read || op.isDriver(read.getNumber()));
  });
}

std::optional<EntryLevel> schedule::entryLevelOf(plan::OperatorOp op) {
  if (!op.hasDrivers())
    return {};
  for (plan::ReadOp read : op.getBody().getOps<plan::ReadOp>())
    if (read.getNumber() == op.getDrivers().front() && read.getType().getAxes().size() == 2) {
      unsigned row = read.getType().getAxes()[0], column = read.getType().getAxes()[1];
      return EntryLevel{read, row, column, isFlat(op, row, column)};
    }
  return {};
}

//===- legality ------------------------------------------------------------------------------===//

static LogicalResult checkWrite(plan::OperatorOp op, plan::WriteOp write, const EntryLevel &level) {
  plan::CellType cell = write.getCell().getType();
  auto reduce = write.getCell().getDefiningOp<plan::ReduceOp>();
  bool isMerged = reduce && llvm::is_contained(reduce.getOver(), level.row);
  bool isAtEntries = !isMerged && cell.runsOver(level.column);
  if (!write.getIndices().empty())
    return write.emitOpError("there is no code for results in parts yet");
  if (!isMerged && (!cell.runsOver(level.row) || cell.getAxes().size() > 2))
    return write.emitOpError("a result must extend over the rows");
  if (isAtEntries != op.isSparseResult(write.getNumber()))
    return write.emitOpError(isAtEntries ? "a result at the entries is a sparse array"
                                         : "only results at the entries are sparse arrays");
  if (isMerged && cell.getAxes().size() == 2 && cell.runsOver(level.column) &&
      write.getMap().getResult(0) != getAffineDimExpr(level.column, write.getContext()))
    return reduce.emitOpError("the transposed rows are multiplied by columns or narrow rows");
  return success();
}

static LogicalResult checkOperation(plan::OperatorOp op, Operation &operation,
                                    const EntryLevel &level) {
  if (auto write = dyn_cast<plan::WriteOp>(operation))
    return checkWrite(op, write, level);
  if (auto read = dyn_cast<plan::ReadOp>(operation)) {
    if (!read.getIndices().empty() || read.getOutside())
      return read.emitOpError("there is no code for gathers and windows yet");
    AffineMap entries = AffineMap::getMultiDimMapWithTargets(
        read.getMap().getNumDims(), {level.row, level.column}, read.getContext());
    if (op.isSparseOperand(read.getNumber()) && read.getMap() != entries)
      return read.emitOpError("sparse operands are read at the entries");
  } else if (auto reduce = dyn_cast<plan::ReduceOp>(operation)) {
    bool overRows = llvm::is_contained(reduce.getOver(), level.row);
    if (reduce.getKind() > AggregateKind::Max)
      return reduce.emitOpError("only sums, products, minima and maxima are taken of entries");
    if (!overRows && llvm::is_contained(reduce.getOver(), level.column) &&
        !runsOver(reduce.getOperand(), level.row))
      return reduce.emitOpError("rows are aggregated of values that extend over the rows");
    if (overRows && runsOver(reduce.getCell(), level.column) &&
        reduce.getKind() != AggregateKind::Sum)
      return reduce.emitOpError("of the columns of entries only sums are taken");
  } else if (isa<plan::ReindexOp, plan::ScanOp>(operation)) {
    return operation.emitOpError("there is no code for this operation at entries yet");
  }
  return success();
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
static int64_t vectorsOfEntries(ScheduledBody &body) {
  int instructions = 0;
  for (Operation &operation : body.op.getBody().front())
    if (operation.getNumResults() == 1 && !body.schedule.innerAxes(operation.getResult(0)).empty())
      instructions += instructionsOf(&operation);
  return instructions <= 20 ? 4 : instructions <= 40 ? 2 : 1;
}

// The sums of all vectors of a dense row are computed together if there are not many.
static int64_t vectorsOfRows(const ScheduledBody &body, unsigned column) {
  constexpr int64_t mostVectors = 8, vectorsOfUnknown = 4;
  int64_t vectors = 1, lanes = body.schedule.lanes;
  for (unsigned axis : body.schedule.vectors)
    if (const Size &size = body.axes[axis]; axis != column)
      vectors = std::max(vectors, size.isConstant() ? (size.constantValue() + lanes - 1) / lanes
                                                    : vectorsOfUnknown);
  return std::min(vectors, mostVectors);
}

bool schedule::scheduleEntries(ScheduledBody &body) {
  std::optional<EntryLevel> level = entryLevelOf(body.op);
  if (!level)
    return false;
  Schedule &schedule = body.schedule;
  schedule.lanes = 8;
  schedule.parallel = {level->row};
  schedule.order = {level->column};
  for (unsigned axis = 0; axis < body.axes.size(); ++axis)
    if (axis != level->row)
      schedule.vectors.push_back(axis);
  schedule.unroll = level->isFlat ? vectorsOfEntries(body) : vectorsOfRows(body, level->column);
  body.chooseKept();
  // Factors at the entries of a sum that each entry adds a dense row to.
  for (plan::ReduceOp reduce : body.reductions) {
    plan::BinaryOp product = plan::productIn(reduce);
    if (!product || schedule.innerAxes(product.getCell()).size() < 2)
      continue;
    for (Value factor : product.getOperands())
      if (schedule.innerAxes(factor) == SmallVector<unsigned>{level->column} &&
          body.hasWork(factor) && runsOver(factor, level->row))
        schedule.kept.insert(factor);
  }
  return true;
}
