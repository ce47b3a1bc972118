// What the default rules work with: an operator, its schedule so far, and what they ask about the body.
// DefaultSchedule.cpp has the rules for bodies of any shape, MatrixRules.cpp those for loops over the
// cells or the rows of matrices, EntryRules.cpp those for the entries of sparse ones.
//
//   Schedule schedule = Scheduler(op, VectorRegisters()).schedule();
#ifndef TOKAMAK_SCHEDULE_SCHEDULER_H
#define TOKAMAK_SCHEDULE_SCHEDULER_H

#include "schedule/Schedule.h"

#include "llvm/ADT/BitVector.h"

namespace tokamak::schedule {

class Scheduler {
public:
  Scheduler(plan::OperatorOp op, VectorRegisters registers);
  Schedule schedule();

private:
  // Bodies of any shape.
  void scheduleAxes();
  void chooseLanes();
  bool isParallel(unsigned axis) { return op_.axisKind(axis) == plan::AxisKind::Parallel; }
  bool isContiguous(unsigned axis);
  void chooseParallel();
  bool isReducedToResults(unsigned axis);
  bool isReadElsewhere(unsigned axis);
  bool scans() const;
  void moveLast(unsigned axis);
  void chooseVectors();
  bool isReducedToBlocks(unsigned axis);
  void chooseOrder();
  void chooseBlock();
  void choosePacked();
  std::optional<unsigned> axisOfPacking(plan::ReduceOp reduce, mlir::Value factor);
  bool fitsOneVector();
  plan::ReduceOp contraction();

  // Entries of sparse matrices.
  bool scheduleEntries();
  int64_t vectorsOfEntries();
  int64_t vectorsOfRows(unsigned column) const;

  // Cells and rows of matrices.
  bool scheduleCells();
  bool scheduleRows(llvm::ArrayRef<unsigned> rows);
  llvm::SmallVector<unsigned> mergedRows();
  bool hasRows(llvm::ArrayRef<unsigned> rows);
  llvm::SmallVector<unsigned> longAxes() const; // all but those of size 1
  void walkAlong(llvm::ArrayRef<unsigned> axes);
  bool fitsRows(mlir::Operation &operation);
  bool isAlongRows(mlir::AffineMap map);
  bool isOnlyFactor(mlir::Operation *operation);
  bool isNarrow(unsigned axis) const;
  bool isMain(unsigned axis) const { return axes_[axis] == mainWidth_; }
  int wideInstructions();
  bool hasNarrowPasses();
  bool hasCompactRows();
  bool fitsRegisters();
  void keepNarrow();
  void packRows();
  bool isUsedAcross(mlir::Value value);

  // What is kept.
  bool isBlockReduction(mlir::Operation *operation);
  void noteDependences();
  bool sharesWork(mlir::Operation *operation, mlir::Operation *reduction);
  bool sharesWork(mlir::Operation *operation, mlir::Operation *reduction,
                  llvm::DenseSet<mlir::Operation *> &visited);
  bool isComputed(mlir::Value value);
  bool hasWork(mlir::Value value);
  void chooseKept();
  void keepForLaterPasses(mlir::Operation &user);
  bool isUsedInOtherPass(plan::ScanOp scan);
  void keepFactors(plan::ReduceOp reduce);

  plan::OperatorOp op_;
  VectorRegisters registers_;
  llvm::SmallVector<Size> axes_;
  llvm::BitVector merged_; // axes that can be walked as one with the next (MergedAxes.h)
  llvm::SmallVector<mlir::Operation *> aggregations_;
  llvm::SmallVector<plan::WriteOp> writes_;
  Schedule schedule_;
  Size mainWidth_ = Size::constant(1); // of rows: the longest axis that is not parallel
  llvm::DenseMap<mlir::Operation *, unsigned> numbers_;
  llvm::DenseMap<mlir::Operation *, llvm::BitVector>
      dependences_; // all that an operation is computed of
};

} // namespace tokamak::schedule
#endif
