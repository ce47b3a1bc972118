#include "codegen/loops/LoopBody.h"

#include "codegen/Aggregation.h"
#include "ir/plan/IterationSpace.h"
#include "schedule/Instructions.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

FailureOr<LoopBody> LoopBody::analyze(plan::OperatorOp op, const schedule::Schedule &schedule) {
  if (failed(checkSchedule(op, schedule)))
    return failure();
  LoopBody body(op, schedule);
  body.entries_ = schedule::entryLevelOf(op);
  for (const Size &size : op.axisSizes())
    body.axes_.push_back(sizeAtLaunch(op, size));
  for (Operation &operation : body.block())
    if (failed(body.checkOperation(operation)))
      return failure();
  body.mergeAxes();
  if (failed(body.makePasses()))
    return failure();
  return body;
}

LogicalResult LoopBody::checkOperation(Operation &operation) {
  auto read = dyn_cast<plan::ReadOp>(operation);
  auto write = dyn_cast<plan::WriteOp>(operation);
  if (read || write) {
    FailureOr<Access> access = codegen::accessOf(op_, &operation);
    if (failed(access))
      return failure();
    if (read ? isDriver(read) : op_.isSparseResult(write.getNumber()))
      access->cell.goToEntries(entries_->row);
    accesses_.try_emplace(&operation, std::move(*access));
    return success();
  }
  if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
    return checkReindex(reindex);
  if (isa<plan::ReduceOp, plan::ScanOp>(operation)) {
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (reductionOf(&operation).isIndex() && (!reduce || reduce.getOver().size() != 1))
      return operation.emitOpError("there is no code for indices of extremes along several axes");
    if (reduce && schedule_.isOfTiles(reduce)) {
      if (schedule_.innerAxes(reduce.getCell()).size() > (schedule_.vectorizesBlocks() ? 1 : 2))
        return reduce.emitOpError("there is no code for aggregates of tiles along so many axes");
      tileAggregates_.push_back(reduce);
    }
    return checkAccumulator(&operation);
  }
  if (!schedule::isCell(&operation) && !isa<plan::SizeOp>(operation))
    return operation.emitOpError("there is no code for this operation yet");
  return success();
}

LogicalResult LoopBody::checkReindex(plan::ReindexOp reindex) {
  auto read = reindex.getOperand().getDefiningOp<plan::ReadOp>();
  if (!read && !schedule_.kept.contains(reindex.getOperand()))
    return reindex.emitOpError("the operand has to be read or kept");
  if (read && !accessOf(read).cell.indices.empty())
    return reindex.emitOpError("there is no code for gathers along other axes yet");
  for (auto [axis, place] :
       llvm::zip(reindex.getOperand().getType().getAxes(), reindex.getMap().getResults())) {
    auto other = dyn_cast<AffineDimExpr>(place);
    if (!other)
      return reindex.emitOpError("there is no code for places that are not axes");
    if (!read && schedule_.isParallel(axis) && other.getPosition() != axis)
      return reindex.emitOpError("d")
             << axis << " is parallel, and of what a block keeps, places of other blocks are read";
  }
  return success();
}

// Axes of tiles that are walked as one. Those of size 1, but for the last, are not walked at all. An axis
// that is merged with the next one is not merged with a last one of size 1 between the two.
void LoopBody::mergeAxes() {
  llvm::BitVector merged = schedule::mergedAxes(op_);
  auto isOne = [&](unsigned axis) { return axes_[axis].isConstant(1); };
  for (unsigned axis : schedule_.parallel) {
    if (isOne(axis) && axis != schedule_.parallel.back())
      continue;
    if (!tileAxes_.empty() && merged[lastAxis()] && lastAxis() < axis && !isOne(axis) &&
        llvm::all_of(llvm::seq(lastAxis() + 1, axis), isOne))
      axes_[axis] = axes_[tileAxes_.pop_back_val()] * axes_[axis];
    tileAxes_.push_back(axis);
  }
  for (auto &[operation, access] : accesses_)
    access.forEachFunction([&](LinearFunction &sum) {
      for (unsigned axis : schedule_.parallel)
        if (!llvm::is_contained(tileAxes_, axis))
          sum.factors[axis] = Size::constant(0);
    });
}

//===- loops ---------------------------------------------------------------------------------===//

std::vector<unsigned> PassLoops::allAxes() const {
  std::vector<unsigned> all = axes;
  if (vector)
    all.push_back(*vector);
  return all;
}

SmallVector<Value> LoopPass::uses() const {
  SmallVector<Value> used(kept);
  for (plan::ScanOp scan : scans)
    used.push_back(scan->getOperand(0));
  for (const auto *reduces : {&reductions, &tileAggregates, &products})
    for (plan::ReduceOp reduce : *reduces)
      used.push_back(reduce->getOperand(0));
  for (plan::WriteOp write : writes)
    llvm::append_range(used, write->getOperands());
  return used;
}

std::optional<unsigned> LoopBody::vectorAmong(ArrayRef<unsigned> axes) const {
  SmallVector<unsigned> vectors(llvm::make_filter_range(axes, [&](unsigned axis) {
    return schedule_.isVector(axis) && !schedule_.isParallel(axis);
  }));
  schedule_.sort(vectors);
  return vectors.empty() ? std::nullopt : std::optional(vectors.back());
}

PassLoops LoopBody::loopsOver(ArrayRef<unsigned> axes, std::optional<unsigned> vector) const {
  PassLoops loops{std::vector(axes.begin(), axes.end()), vector ? vector : vectorAmong(axes)};
  schedule_.sort(loops.axes);
  if (loops.vector)
    llvm::erase(loops.axes, *loops.vector);
  loops.isAcross = schedule_.hasBlocksInVectors() && !loops.vector;
  return loops;
}

std::optional<std::pair<Value, Value>> LoopBody::rowFactors(plan::ReduceOp reduce) const {
  plan::BinaryOp product = plan::productIn(reduce);
  if (!schedule_.hasBlocksInVectors() || !schedule_.kept.contains(reduce.getCell()) || !product ||
      !hasPlacesSideBySide(reduce.getCell()) || schedule_.innerAxes(reduce.getCell()).size() != 1 ||
      reduce.getOver().size() != 1 || !isFloat(reductionOf(reduce).accumulator))
    return {};
  Value rows = product.getLhs(), factor = product.getRhs();
  if (!runsOver(rows, lastAxis()))
    std::swap(rows, factor);
  bool isProduct = runsOver(rows, lastAxis()) && !runsOver(factor, lastAxis()) &&
                   schedule_.innerAxes(rows).size() == 1 &&
                   runsOver(rows, reduce.getOver().front());
  return isProduct ? std::optional(std::pair(rows, factor)) : std::nullopt;
}

PassLoops LoopBody::loopsOfKept(Value value) const {
  auto reduce = value.getDefiningOp<plan::ReduceOp>();
  auto factors = reduce ? rowFactors(reduce) : std::nullopt;
  return loopsOver(schedule_.innerAxes(factors ? factors->first : value));
}

//===- passes --------------------------------------------------------------------------------===//

// The first stage, counted from 0, at which a pass with these loops can compute the value. On axes
// `elsewhere` it is read at other places than the one that the pass has reached. Then, and in
// passes with other loops, a kept value must be complete.
unsigned LoopBody::stageOf(Value value, const PassLoops &loops, ArrayRef<unsigned> elsewhere) {
  std::set<unsigned> others(elsewhere.begin(), elsewhere.end());
  std::tuple key(value.getAsOpaquePointer(), loops, std::move(others));
  if (auto known = stages_.find(key); known != stages_.end())
    return known->second;
  Operation *operation = value.getDefiningOp();
  unsigned stage = 0;
  auto reduce = dyn_cast<plan::ReduceOp>(operation);
  if (auto factors = reduce ? rowFactors(reduce) : std::nullopt) {
    stage = stageOf(factors->first, loopsOfKept(value)) + 1;
  } else if (schedule_.kept.contains(value)) {
    PassLoops own = loopsOfKept(value);
    bool isHere =
        own == loops && schedule_.strip == 0 && !llvm::any_of(elsewhere, [&](unsigned axis) {
          return llvm::is_contained(schedule_.innerAxes(value), axis);
        });
    stage = stageOfOperands(operation, own) + (isHere ? 0 : 1);
  } else {
    stage = stageOfOperands(operation, loops, elsewhere);
  }
  return stages_[std::move(key)] = stage;
}

unsigned LoopBody::stageOfOperands(Operation *operation, const PassLoops &loops,
                                   ArrayRef<unsigned> elsewhere) {
  SmallVector<unsigned> otherPlaces(elsewhere);
  if (auto reduce = dyn_cast<plan::ReduceOp>(operation)) {
    if (schedule_.isOfBlocks(reduce))
      return stageOf(reduce.getOperand(), loopsOver(schedule_.innerAxes(reduce.getOperand()))) + 1;
    otherPlaces.append(reduce.getOver().begin(), reduce.getOver().end());
  }
  if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
    llvm::append_range(otherPlaces, reindex.getOperand().getType().getAxes());
  unsigned stage = 0;
  for (Value operand : operation->getOperands())
    if (operand.getDefiningOp())
      stage = std::max(stage, stageOf(operand, loops, otherPlaces));
  return stage;
}

LoopPass &LoopBody::passAt(unsigned stage, const PassLoops &loops) {
  LoopPass &pass = passesByStage_[{stage, loops}];
  pass.loops = loops;
  return pass;
}

LogicalResult LoopBody::makePasses() {
  for (Operation &operation : block()) {
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    for (Value value : operation.getResults())
      if (schedule_.kept.contains(value)) {
        PassLoops loops = loopsOfKept(value);
        if (reduce && rowFactors(reduce)) // complete after the pass
          passAt(stageOf(value, loops) - 1, loops).products.push_back(reduce);
        else
          passAt(stageOfOperands(&operation, loops), loops).kept.push_back(value);
      }
    if (reduce && schedule_.isOfBlocks(reduce)) {
      PassLoops loops = loopsOver(schedule_.innerAxes(reduce.getOperand()));
      passAt(stageOf(reduce.getOperand(), loops), loops).reductions.push_back(reduce);
    }
    if (auto scan = dyn_cast<plan::ScanOp>(operation)) {
      PassLoops loops = loopsOver(schedule_.innerAxes(scan.getCell()));
      if (loops.vector || loops.axes.back() != scan.getOver().front())
        return scan.emitOpError("all loops but those over places have to be outside of that over d")
               << scan.getOver().front();
      passAt(stageOf(scan.getOperand(), loops), loops).scans.push_back(scan);
    }
    if (auto write = dyn_cast<plan::WriteOp>(operation); write && !schedule_.isOfTiles(write))
      placeWrite(write);
  }
  for (plan::ReduceOp reduce : tileAggregates_)
    placeTileAggregate(reduce);
  for (auto &[stage, pass] : passesByStage_) {
    for (Value value : pass.kept)
      keptBy_[value] = passes_.size();
    for (plan::ReduceOp product : pass.products)
      keptBy_[product.getCell()] = passes_.size();
    passes_.push_back(std::move(pass));
  }
  passesByStage_.clear();
  stages_.clear();
  for (auto [number, pass] : llvm::enumerate(passes_)) {
    if (failed(noteUses(number)))
      return failure();
    pass.isRowByRow = isRowByRow(pass);
  }
  if (schedule_.vectorsOutside &&
      (passes_.size() != 1 || !lastPass_.writes.empty() || !tileAggregates_.empty() ||
       !passes_.front().loops.axes.empty() || !passes_.front().loops.vector ||
       !passes_.front().reductions.empty()))
    return op_.emitOpError("vectors can't be outside of the loop over blocks: there is more than "
                           "one pass over them");
  return success();
}

void LoopBody::placeWrite(plan::WriteOp write) {
  SmallVector<unsigned> axes;
  for (unsigned axis = 0; axis < axes_.size(); ++axis)
    if (!schedule_.isParallel(axis) &&
        (write.getCell().getType().runsOver(axis) || write.getMap().isFunctionOfDim(axis)))
      axes.push_back(axis);
  if (axes.empty()) {
    lastPass_.writes.push_back(write);
    return;
  }
  PassLoops loops = loopsOver(axes);
  // What is kept for the places of a block side by side is written in vectors along the rows of the
  // result.
  auto along = dyn_cast<AffineDimExpr>(write.getMap().getResults().back());
  if (loops.isAcross && schedule_.kept.contains(write.getCell()) && along &&
      llvm::is_contained(axes, along.getPosition()))
    loops = loopsOver(axes, along.getPosition());
  passAt(stageOfOperands(write, loops), loops).writes.push_back(write);
}

// The sum of products over two other axes is accumulated in vectors along the longer one; along the
// other one there is a loop for each vector.
void LoopBody::placeTileAggregate(plan::ReduceOp reduce) {
  SmallVector<unsigned> operandAxes = schedule_.innerAxes(reduce.getOperand()),
                        resultAxes = schedule_.innerAxes(reduce.getCell());
  if (operandAxes.empty()) {
    lastPass_.tileAggregates.push_back(reduce);
    return;
  }
  PassLoops loops = loopsOver(operandAxes);
  if (resultAxes.size() == 2) {
    unsigned vector = vectorOf(reduce);
    llvm::erase(operandAxes, resultAxes[0] == vector ? resultAxes[1] : resultAxes[0]);
    loops = loopsOver(operandAxes, vector);
  }
  passAt(stageOf(reduce.getOperand(), loops), loops).tileAggregates.push_back(reduce);
}

// Along the other axis cells are computed one by one, so that what is computed runs along the
// vectors; entries are visited one by one.
unsigned LoopBody::vectorOf(plan::ReduceOp reduce) const {
  SmallVector<unsigned> axes = schedule_.innerAxes(reduce.getCell());
  auto length = [&](unsigned axis) {
    return axes_[axis].isConstant() ? axes_[axis].constantValue() : INT64_MAX;
  };
  auto isOnlyRead = [&](unsigned axis) {
    plan::BinaryOp product = plan::productIn(reduce);
    return product && llvm::all_of(product->getOperands(), [&](Value factor) {
             return !cast<plan::CellType>(factor.getType()).runsOver(axis) ||
                    isa<plan::ReadOp, plan::ReindexOp>(factor.getDefiningOp());
           });
  };
  auto rank = [&](unsigned axis) {
    return std::tuple(!isOverEntries(axis), schedule_.isVector(axis), length(axis),
                      !isOnlyRead(axis), axis);
  };
  return rank(axes[0]) > rank(axes[1]) ? axes[0] : axes[1];
}

// An estimate: the inner product of two rows at each of eight entries.
static constexpr int instructionsOfSampledProduct = 200;

// The loop of an aggregate that is computed at each place of a pass's loops goes to places that a scan of this pass has not
// reached: what it scans has to be kept. Null if there is no such scan.
plan::ScanOp LoopBody::scanWithin(plan::ReduceOp reduce) const {
  if (schedule_.isOfBlocks(reduce) || schedule_.isOfTiles(reduce) || rowFactors(reduce))
    return {};
  SmallVector<Value> computed(reduce->getOperands());
  llvm::DenseSet<Value> visited;
  while (!computed.empty()) {
    Value value = computed.pop_back_val();
    Operation *operation = value.getDefiningOp();
    if (!operation || schedule_.kept.contains(value) || !visited.insert(value).second)
      continue;
    if (auto scan = dyn_cast<plan::ScanOp>(operation))
      return scan;
    llvm::append_range(computed, operation->getOperands());
  }
  return {};
}

// What a pass reads. It uses scans of its own, or those that are kept.
LogicalResult LoopBody::noteUses(unsigned number) {
  LoopPass &pass = passes_[number];
  SmallVector<Value> used = pass.uses();
  llvm::DenseSet<Value> visited;
  while (!used.empty()) {
    Value value = used.pop_back_val();
    Operation *operation = value.getDefiningOp();
    bool isLoaded = schedule_.kept.contains(value) && passOf(value) != number;
    if (!operation || isLoaded || !visited.insert(value).second)
      continue;
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (reduce && schedule_.isOfBlocks(reduce))
      continue;
    if (plan::ScanOp scan = reduce ? scanWithin(reduce) : plan::ScanOp())
      return scan.emitOpError("has to be kept, since what it gives is reduced in loops within");
    int instructions = reduce && sampledProduct(reduce) ? instructionsOfSampledProduct
                                                        : schedule::instructionsOf(operation);
    if (!schedule_.innerAxes(value).empty()) {
      pass.instructions += instructions;
      pass.sharesWork |= reduce || (instructions > 0 && !runsOver(value, lastAxis()));
    }
    if (isa<plan::ReadOp>(operation))
      readBy_[operation].push_back(number);
    auto scan = dyn_cast<plan::ScanOp>(operation);
    if (scan && !llvm::is_contained(pass.scans, scan))
      return scan.emitOpError("has to be kept, since another pass uses what it gives");
    if (!scan)
      llvm::append_range(used, operation->getOperands());
  }
  return success();
}

bool LoopBody::isRowByRow(const LoopPass &pass) const {
  constexpr int64_t longRow = plan::mostNarrowColumns;
  if (!pass.loops.vector || !pass.loops.axes.empty())
    return false;
  const Size &length = axes_[*pass.loops.vector];
  return (!length.isConstant() || length.constantValue() > longRow) && !pass.sharesWork &&
         pass.products.empty() && pass.tileAggregates.empty();
}
