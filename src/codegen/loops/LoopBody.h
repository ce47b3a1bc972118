// The passes of a scheduled operator: what is computed in which loops within a block of places. A
// value that is reduced to one cell for each place of the block is complete after a pass; a value
// that is kept in memory may be read by later passes at any place.
//
//   llvm::FailureOr<LoopBody> body = LoopBody::analyze(op, schedule);
//   for (const LoopPass &pass : body->passes()) ...
//
// What is reduced over the axes that tiles are cut from is accumulated as long as a tile lasts
// (TileAggregates.h). As text:
//
//   softmax, parallel d0:   pass over d1: reduce max
//                           pass over d1: exp, kept, and its sum
//                           pass over d1: the quotient is written
//   matrix product, parallel d0, vector d1:   pass over d1: the sum over d2 is computed for each
//                           vector and written
//   t(X) %*% (X %*% v), parallel d0:   pass over d1: the product with v
//                           pass over d1: the rows times what they gave are added to the result
#ifndef TOKAMAK_CODEGEN_LOOPS_LOOPBODY_H
#define TOKAMAK_CODEGEN_LOOPS_LOOPBODY_H

#include "abi/KernelPlan.h"
#include "codegen/loops/Access.h"
#include "schedule/EntryLevel.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tokamak::codegen {

// The loops of a pass within a block.
struct PassLoops {
  std::vector<unsigned> axes;     // from the outermost, without that of vectors
  std::optional<unsigned> vector; // the innermost loop, in steps of vectors
  bool isAcross = false;          // the places of the block are the lanes of vectors
  std::vector<unsigned> allAxes() const;
  auto operator<=>(const PassLoops &other) const = default;
};

struct LoopPass {
  PassLoops loops;
  llvm::SmallVector<plan::ScanOp> scans;
  llvm::SmallVector<mlir::Value> kept;
  llvm::SmallVector<plan::ReduceOp> reductions;     // complete after the pass
  llvm::SmallVector<plan::ReduceOp> tileAggregates; // to which the pass adds
  llvm::SmallVector<plan::ReduceOp> products;       // kept ones, of whole rows (RowProduct.h)
  llvm::SmallVector<plan::WriteOp> writes;
  int instructions = 0; // of cell operators, for one vector
  // Whether something is computed once for all places of a block.
  bool sharesWork = false;
  // The rows of a block are computed one by one, in the order of memory: the hardware prefetcher
  // follows one stream better than eight, and the code of one row compiles faster than that of
  // eight.
  bool isRowByRow = false;
  // The cells that it aggregates, keeps and writes.
  llvm::SmallVector<mlir::Value> uses() const;
};

// The sum over k of left(i, k) * right(j, k) at the entries (i, j) of a driver.
struct SampledProduct {
  mutable plan::ReadOp left, right; // an operation's accessors are not const
  unsigned axis;                    // k
  ElementType accumulator;
};

class LoopBody {
public:
  // Fails with an error at the operation that there is no code for.
  static llvm::FailureOr<LoopBody> analyze(plan::OperatorOp op, const schedule::Schedule &schedule);

  plan::OperatorOp op() const { return op_; }
  mlir::Block &block() const { return op_.getBody().front(); }
  const schedule::Schedule &schedule() const { return schedule_; }
  // Of an operator that is evaluated at the entries of a driver.
  const std::optional<schedule::EntryLevel> &entries() const { return entries_; }
  bool isOverEntries(unsigned axis) const { return entries_ && entries_->column == axis; }
  bool isDriver(plan::ReadOp read) const { return entries_ && op_.isDriver(read.getNumber()); }
  // If the rows of both factors are read as vectors.
  std::optional<SampledProduct> sampledProduct(plan::ReduceOp reduce) const;
  const Access &accessOf(mlir::Operation *readOrWrite) const {
    return accesses_.find(readOrWrite)->second;
  }
  // Sizes of axes as functions of the launch's inputs. Of axes that are walked as one, the last has
  // the size of all.
  llvm::ArrayRef<Size> axes() const { return axes_; }
  // The axes that tiles are cut from, of those that are walked as one the last; and the last of
  // all, which blocks are cut from.
  llvm::ArrayRef<unsigned> tileAxes() const { return tileAxes_; }
  unsigned lastAxis() const { return tileAxes_.back(); }
  llvm::ArrayRef<LoopPass> passes() const { return passes_; }
  // After these, without loops: what is written and aggregated of each place of a block once.
  const LoopPass &lastPass() const { return lastPass_; }
  llvm::ArrayRef<plan::ReduceOp> tileAggregates() const { return tileAggregates_; }
  // Of a sum of products over tiles, for each place along two other axes: the axis of its vectors.
  unsigned vectorOf(plan::ReduceOp tileAggregate) const;
  // Whether the panel of a kept value has the cells of a block's places side by side. Rows that are
  // read in vectors lie one behind the other instead.
  bool hasPlacesSideBySide(mlir::Value kept) const {
    return schedule_.hasBlocksInVectors() && !vectorAmong(schedule_.innerAxes(kept));
  }
  // Whether all that is done is to scan along an axis, over which the places of a tile are an inner
  // loop then: what is carried lies in memory. Nothing is kept, since one pass reads it all.
  bool carriesInMemory() const {
    return schedule_.vectorizesBlocks() && passes_.size() == 1 && !passes_.front().scans.empty() &&
           passes_.front().reductions.empty() && passes_.front().kept.empty() &&
           passes_.front().tileAggregates.empty() && lastPass_.uses().empty();
  }
  // The factors of a kept sum of products with a row of short rows: what runs over the places of a
  // block, and the other one; nullopt for all other values.
  std::optional<std::pair<mlir::Value, mlir::Value>> rowFactors(plan::ReduceOp reduce) const;
  // The loops of a pass over axes, vectors being along the innermost of those that have some, or
  // along `vector`.
  PassLoops loopsOver(llvm::ArrayRef<unsigned> axes, std::optional<unsigned> vector = {}) const;
  // The loops of the pass that computes the kept value.
  PassLoops loopsOfKept(mlir::Value value) const;
  // The numbers of the passes that read an operand, in ascending order.
  llvm::SmallVector<unsigned> passesReading(plan::ReadOp read) const {
    return readBy_.lookup(read);
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
  void mergeAxes();
  llvm::LogicalResult makePasses();
  void placeWrite(plan::WriteOp write);
  void placeTileAggregate(plan::ReduceOp reduce);
  plan::ScanOp scanWithin(plan::ReduceOp reduce) const;
  llvm::LogicalResult noteUses(unsigned number);
  bool isRowByRow(const LoopPass &pass) const;
  std::optional<unsigned> vectorAmong(llvm::ArrayRef<unsigned> axes) const;
  unsigned stageOf(mlir::Value value, const PassLoops &loops,
                   llvm::ArrayRef<unsigned> elsewhere = {});
  unsigned stageOfOperands(mlir::Operation *operation, const PassLoops &loops,
                           llvm::ArrayRef<unsigned> elsewhere = {});
  LoopPass &passAt(unsigned stage, const PassLoops &loops);

  mutable plan::OperatorOp op_; // an operation's accessors are not const
  schedule::Schedule schedule_;
  std::optional<schedule::EntryLevel> entries_;
  llvm::SmallVector<Size> axes_;
  llvm::SmallVector<unsigned> tileAxes_;
  llvm::DenseMap<mlir::Operation *, Access> accesses_;
  std::map<std::pair<unsigned, PassLoops>, LoopPass> passesByStage_;
  // What stageOf has found.
  std::map<std::tuple<const void *, PassLoops, std::set<unsigned>>, unsigned> stages_;
  std::vector<LoopPass> passes_;
  LoopPass lastPass_;
  llvm::SmallVector<plan::ReduceOp> tileAggregates_;
  llvm::DenseMap<mlir::Value, unsigned> keptBy_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> readBy_;
};

} // namespace tokamak::codegen
#endif
