#include "codegen/loops/LoopBody.h"

#include "codegen/Aggregation.h"
#include "codegen/KernelBody.h"
#include "codegen/LaunchSizes.h"
#include "ir/tok/ElementTypes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

FailureOr<LoopBody> LoopBody::analyze(plan::OperatorOp op, const schedule::Schedule &schedule) {
  if (failed(checkSchedule(op, schedule)))
    return failure();
  LoopBody body(op, schedule);
  for (const Size &size : op.axisSizes())
    body.axes_.push_back(sizeAtLaunch(op, size));
  for (Operation &operation : body.block())
    if (failed(body.checkOperation(operation)))
      return failure();
  if (failed(body.makePasses()))
    return failure();
  return body;
}

LogicalResult LoopBody::checkOperation(Operation &operation) {
  if (auto read = dyn_cast<plan::ReadOp>(operation)) {
    FailureOr<Access> access = codegen::accessOf(op_, read);
    if (failed(access))
      return failure();
    accesses_.try_emplace(read, std::move(*access));
    return success();
  }
  if (auto write = dyn_cast<plan::WriteOp>(operation)) {
    if (!tok::isArray(op_.getResult(write.getNumber()).getType()))
      return write.emitOpError("there is no code yet for scalars beside parallel axes");
    FailureOr<Access> access = codegen::accessOf(op_, write);
    if (failed(access))
      return failure();
    accesses_.try_emplace(write, std::move(*access));
    return success();
  }
  if (auto reindex = dyn_cast<plan::ReindexOp>(operation)) {
    return checkReindex(reindex);
  }
  if (isa<plan::ReduceOp, plan::ScanOp>(operation)) {
    if (isIndex(kindOf(&operation)))
      return operation.emitOpError("there is no code yet for indices of extremes in these loops");
    // f32 is accumulated in f32 where the lanes of vectors are not added up.
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    bool isInLanes = !reduce || !isOfBlocks(reduce) || schedule_.vectorizesBlocks();
    bool isSingle = plan::cellsOf(operation.getOperand(0)) == ElementType::F32 &&
                    accumulatorOf(&operation) == ElementType::F32;
    return isSingle && isInLanes ? success() : checkAccumulator(&operation);
  }
  if (!isCell(&operation) && !isa<plan::SizeOp>(operation))
    return operation.emitOpError("there is no code for this operation yet");
  return success();
}

LogicalResult LoopBody::checkReindex(plan::ReindexOp reindex) {
  auto read = reindex.getOperand().getDefiningOp<plan::ReadOp>();
  if (!read && !schedule_.kept.contains(reindex.getOperand()))
    return reindex.emitOpError("the operand has to be read or kept");
  if (read && accesses_.find(read)->second.hasIndices())
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

//===- passes --------------------------------------------------------------------------------===//

// The first stage, counted from 0, at which a pass over `axes` can compute the value. On axes
// `elsewhere` it is read at other places than the one that the pass has reached. Then, and in passes
// over other axes, a kept value must be complete.
unsigned LoopBody::stageOf(Value value, ArrayRef<unsigned> axes, ArrayRef<unsigned> elsewhere) {
  std::set<unsigned> others(elsewhere.begin(), elsewhere.end());
  std::tuple key(value.getAsOpaquePointer(), axes.vec(), std::move(others));
  if (auto known = stages_.find(key); known != stages_.end())
    return known->second;
  Operation *operation = value.getDefiningOp();
  unsigned stage = 0;
  if (schedule_.kept.contains(value)) {
    SmallVector<unsigned> own = panelAxes(value);
    bool isHere = own == axes && !llvm::any_of(elsewhere, [&](unsigned axis) {
                    return llvm::is_contained(own, axis);
                  });
    stage = stageOfOperands(operation, own) + (isHere ? 0 : 1);
  } else {
    stage = stageOfOperands(operation, axes, elsewhere);
  }
  return stages_[std::move(key)] = stage;
}

unsigned LoopBody::stageOfOperands(Operation *operation, ArrayRef<unsigned> axes,
                                   ArrayRef<unsigned> elsewhere) {
  SmallVector<unsigned> otherPlaces(elsewhere);
  if (auto reduce = dyn_cast<plan::ReduceOp>(operation)) {
    if (isOfBlocks(reduce))
      return stageOf(reduce.getOperand(), schedule_.innerAxes(reduce.getOperand())) + 1;
    otherPlaces.append(reduce.getOver().begin(), reduce.getOver().end());
  }
  if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
    llvm::append_range(otherPlaces, reindex.getOperand().getType().getAxes());
  unsigned stage = 0;
  for (Value operand : operation->getOperands())
    if (operand.getDefiningOp())
      stage = std::max(stage, stageOf(operand, axes, otherPlaces));
  return stage;
}

LoopPass &LoopBody::passAt(unsigned stage, ArrayRef<unsigned> axes) {
  std::vector<unsigned> sorted(axes.begin(), axes.end());
  llvm::sort(sorted, [&](unsigned a, unsigned b) {
    auto place = [&](unsigned axis) { return llvm::find(schedule_.order, axis); };
    return std::pair(place(a), a) < std::pair(place(b), b);
  });
  auto [entry, isNew] = passesByStage_.try_emplace({stage, sorted});
  LoopPass &pass = entry->second;
  if (isNew) {
    pass.loops.assign(sorted.begin(), sorted.end());
    for (unsigned axis : llvm::reverse(sorted))
      if (schedule_.isVector(axis)) {
        pass.vector = axis;
        llvm::erase(pass.loops, axis);
        break;
      }
  }
  return pass;
}

LogicalResult LoopBody::makePasses() {
  for (Operation &operation : block()) {
    if (operation.getNumResults() == 1 && schedule_.kept.contains(operation.getResult(0))) {
      Value value = operation.getResult(0);
      passAt(stageOf(value, panelAxes(value)), panelAxes(value)).kept.push_back(value);
    }
    if (auto reduce = dyn_cast<plan::ReduceOp>(operation); reduce && isOfBlocks(reduce)) {
      SmallVector<unsigned> axes = schedule_.innerAxes(reduce.getOperand());
      passAt(stageOf(reduce.getOperand(), axes), axes).reductions.push_back(reduce);
    }
    if (auto scan = dyn_cast<plan::ScanOp>(operation)) {
      SmallVector<unsigned> inner = schedule_.innerAxes(scan.getCell());
      if (inner.size() != 1)
        return scan.emitOpError("all axes but that of the scan have to be parallel");
      passAt(stageOf(scan.getOperand(), inner), inner).scans.push_back(scan);
    }
    auto write = dyn_cast<plan::WriteOp>(operation);
    if (!write)
      continue;
    SmallVector<unsigned> axes;
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      if (!schedule_.isParallel(axis) &&
          (write.getCell().getType().runsOver(axis) || write.getMap().isFunctionOfDim(axis)))
        axes.push_back(axis);
    if (axes.empty())
      lastWrites_.push_back(write);
    else
      passAt(stageOfOperands(write, axes), axes).writes.push_back(write);
  }
  for (auto &[stage, pass] : passesByStage_) {
    for (Value value : pass.kept)
      keptBy_[value] = passes_.size();
    passes_.push_back(std::move(pass));
  }
  passesByStage_.clear();
  stages_.clear();
  for (auto [number, pass] : llvm::enumerate(passes_))
    if (failed(checkScans(number)))
      return failure();
  if (schedule_.vectorsOutside &&
      (passes_.size() != 1 || !lastWrites_.empty() || !passes_.front().loops.empty() ||
       !passes_.front().vector || !passes_.front().reductions.empty()))
    return op_.emitOpError("vectors can't be outside of the loop over blocks: there is more than "
                           "one pass over them");
  return success();
}

// What a pass computes uses scans of that pass, or those that are kept.
LogicalResult LoopBody::checkScans(unsigned number) {
  const LoopPass &pass = passes_[number];
  SmallVector<Value> used;
  for (plan::ScanOp scan : pass.scans)
    used.push_back(scan.getOperand());
  for (plan::ReduceOp reduce : pass.reductions)
    used.push_back(reduce.getOperand());
  for (plan::WriteOp write : pass.writes)
    llvm::append_range(used, write->getOperands());
  llvm::append_range(used, pass.kept);
  llvm::DenseSet<Value> visited;
  while (!used.empty()) {
    Value value = used.pop_back_val();
    Operation *operation = value.getDefiningOp();
    bool isLoaded = schedule_.kept.contains(value) && passOf(value) != number;
    if (!operation || isLoaded || !visited.insert(value).second)
      continue;
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (reduce && isOfBlocks(reduce))
      continue;
    auto scan = dyn_cast<plan::ScanOp>(operation);
    if (scan && !llvm::is_contained(pass.scans, scan))
      return scan.emitOpError("has to be kept, since another pass uses what it gives");
    if (!scan)
      llvm::append_range(used, operation->getOperands());
  }
  return success();
}

//===- description ---------------------------------------------------------------------------===//

abi::KernelPlan LoopBody::describe() const {
  abi::KernelPlan plan = describeArrays(op_);
  for (abi::KernelOutput &output : plan.outputs)
    output.kind = abi::KernelOutput::Kind::Array;
  plan.extents[0] = plan.extents[1] = Size::constant(1);
  for (unsigned axis : schedule_.parallel)
    plan.extents[0] = plan.extents[0] * axes_[axis];
  // What a place of a tile touches or computes, whichever is more, in doubles.
  constexpr int64_t guessedSize = 64;
  int64_t most = 1;
  for (Operation &operation : block())
    for (Value result : operation.getResults()) {
      int64_t cells = 1;
      for (unsigned axis : schedule_.innerAxes(result))
        cells *= axes_[axis].isConstant() ? std::max<int64_t>(1, axes_[axis].constantValue())
                                          : guessedSize;
      most = std::max(most, cells);
    }
  // What is packed serves all blocks of a tile.
  constexpr int64_t mostBytesBesidePacked = 4096;
  plan.tileBytesPerStep = 8 * most;
  if (!schedule_.packed.empty())
    plan.tileBytesPerStep = std::min(plan.tileBytesPerStep, mostBytesBesidePacked);
  return plan;
}
