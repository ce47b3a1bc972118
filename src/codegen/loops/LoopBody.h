// The passes of a scheduled operator: what is computed in which loops within a block of places. A
// value that is reduced to one cell for each place of the block is complete after a pass; a value
// that is kept in memory may be read by later passes at any place.
//
//   llvm::FailureOr<LoopBody> body = LoopBody::analyze(op, schedule);
//   for (const LoopPass &pass : body->passes()) ...
//
// As text:
//
//   softmax, parallel d0:   pass over d1: reduce max
//                           pass over d1: exp, kept, and its sum
//                           pass over d1: the quotient is written
//   matrix product, parallel d0, vector d1:   pass over d1: the sum over d2 is computed for each
//                           vector and written
#ifndef TOKAMAK_CODEGEN_LOOPS_LOOPBODY_H
#define TOKAMAK_CODEGEN_LOOPS_LOOPBODY_H

#include "abi/KernelPlan.h"
#include "codegen/loops/Access.h"
#include "schedule/Schedule.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tokamak::codegen {

struct LoopPass {
  llvm::SmallVector<unsigned> loops; // axes, from the outermost, without that of vectors
  std::optional<unsigned> vector;    // the innermost loop, in steps of vectors
  llvm::SmallVector<plan::ScanOp> scans;
  llvm::SmallVector<mlir::Value> kept;
  llvm::SmallVector<plan::ReduceOp> reductions; // complete after the pass
  llvm::SmallVector<plan::WriteOp> writes;
};

class LoopBody {
public:
  // Fails with an error at the operation that there is no code for.
  static llvm::FailureOr<LoopBody> analyze(plan::OperatorOp op, const schedule::Schedule &schedule);

  plan::OperatorOp op() const { return op_; }
  mlir::Block &block() const { return op_.getBody().front(); }
  const schedule::Schedule &schedule() const { return schedule_; }
  const Access &accessOf(mlir::Operation *readOrWrite) const {
    return accesses_.find(readOrWrite)->second;
  }
  // Sizes of axes as functions of the launch's inputs.
  llvm::ArrayRef<Size> axes() const { return axes_; }
  llvm::ArrayRef<LoopPass> passes() const { return passes_; }
  // Of cells that are written once for each place of a block, after all passes.
  llvm::ArrayRef<plan::WriteOp> lastWrites() const { return lastWrites_; }
  // Whether the reduction gives one cell for each place of a block.
  bool isOfBlocks(plan::ReduceOp reduce) const {
    return schedule_.innerAxes(reduce.getCell()).empty();
  }
  // The axes of a kept value in memory: all that are not parallel.
  llvm::SmallVector<unsigned> panelAxes(mlir::Value value) const {
    return schedule_.innerAxes(value);
  }
  // Whether all that is done is to scan along an axis, over which the places of a tile are an inner
  // loop then: what is carried lies in memory. Nothing is kept, since one pass reads it all.
  bool carriesInMemory() const {
    return schedule_.vectorizesBlocks() && passes_.size() == 1 && !passes_.front().scans.empty() &&
           passes_.front().reductions.empty() && passes_.front().kept.empty() &&
           lastWrites_.empty();
  }
  // The number of the pass that computes the kept value.
  unsigned passOf(mlir::Value kept) const { return keptBy_.lookup(kept); }

  // A plan without code, name and the sizes that the emitter wants.
  abi::KernelPlan describe() const;

private:
  LoopBody(plan::OperatorOp op, const schedule::Schedule &schedule)
      : op_(op), schedule_(schedule) {}
  llvm::LogicalResult checkOperation(mlir::Operation &operation);
  llvm::LogicalResult checkReindex(plan::ReindexOp reindex);
  llvm::LogicalResult makePasses();
  llvm::LogicalResult checkScans(unsigned number);
  unsigned stageOf(mlir::Value value, llvm::ArrayRef<unsigned> axes,
                   llvm::ArrayRef<unsigned> elsewhere = {});
  unsigned stageOfOperands(mlir::Operation *operation, llvm::ArrayRef<unsigned> axes,
                           llvm::ArrayRef<unsigned> elsewhere = {});
  LoopPass &passAt(unsigned stage, llvm::ArrayRef<unsigned> axes);

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  schedule::Schedule schedule_;
  llvm::SmallVector<Size> axes_;
  llvm::DenseMap<mlir::Operation *, Access> accesses_;
  std::map<std::pair<unsigned, std::vector<unsigned>>, LoopPass> passesByStage_;
  // What stageOf has found.
  std::map<std::tuple<const void *, std::vector<unsigned>, std::set<unsigned>>, unsigned> stages_;
  std::vector<LoopPass> passes_;
  llvm::SmallVector<plan::WriteOp> lastWrites_;
  llvm::DenseMap<mlir::Value, unsigned> keptBy_;
};

} // namespace tokamak::codegen
#endif
