// What the default rules work with: the body of an operator, and its schedule so far.
// DefaultSchedule.cpp has the rules for bodies of any shape, MatrixRules.cpp those for loops over the
// cells or the rows of matrices, EntryRules.cpp those for the entries of sparse ones.
//
//   ScheduledBody body(op, Hardware());
//   if (scheduleMergedRows(body) && mlir::succeeded(checkSchedule(op, body.schedule))) ...
#ifndef TOKAMAK_SCHEDULE_SCHEDULEDBODY_H
#define TOKAMAK_SCHEDULE_SCHEDULEDBODY_H

#include "schedule/Schedule.h"

namespace tokamak::schedule {

struct ScheduledBody {
  ScheduledBody(plan::OperatorOp op, Hardware hardware);

  bool isParallel(unsigned axis) { return op.axisKind(axis) == plan::AxisKind::Parallel; }
  bool scans() const { return aggregations.size() > reductions.size(); }
  // Whether what is computed at one place of the axis is used at others.
  bool isReadElsewhere(unsigned axis);
  // Whether it is computed within a block, and not only read.
  bool isComputed(mlir::Value value) const;
  // Whether more than conversions of what is read are computed for the value.
  bool hasWork(mlir::Value value) const;
  // Whether `operation` is computed of `other`, or is it.
  bool dependsOn(mlir::Operation *operation, mlir::Operation *other);
  void chooseOrder();
  void chooseKept();

  plan::OperatorOp op;
  Hardware hardware;
  llvm::SmallVector<Size> axes;
  llvm::SmallVector<mlir::Operation *> aggregations; // reductions and scans
  llvm::SmallVector<plan::ReduceOp> reductions;
  llvm::SmallVector<plan::WriteOp> writes;
  Schedule schedule;
  Size mainWidth = Size::constant(1); // of rows: the longest axis that is not parallel
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<mlir::Operation *>> dependences;
};

// Each changes the empty schedule of the body; false if the rules are not for such bodies.
bool scheduleEntries(ScheduledBody &body);
// Several axes are rows if they can be walked as one; all of them are the cells of arrays.
bool scheduleMergedRows(ScheduledBody &body);
// Rows are what there is one of: for aggregates along all axes that are used further.
bool scheduleOnlyRow(ScheduledBody &body);

} // namespace tokamak::schedule
#endif
