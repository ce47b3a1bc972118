// The level of an operator with drivers: it is evaluated at the entries of a sparse operand alone, so
// that the axis of that operand's columns does not count from 0 to its size, but goes over the entries
// of a row. All other axes are dense.
//
//   if (std::optional<EntryLevel> level = entryLevelOf(op))
//     unsigned axis = level->column;
//
// A value that is written or aggregated at the entries must be zero where the driver has none; what
// builds the operator proves this (base/SparseSafety.h).
#ifndef TOKAMAK_SCHEDULE_ENTRYLEVEL_H
#define TOKAMAK_SCHEDULE_ENTRYLEVEL_H

#include "schedule/Schedule.h"

namespace tokamak::schedule {

struct EntryLevel {
  // The read of the first driver; an operation's accessors are not const.
  mutable plan::ReadOp driver;
  unsigned row, column; // axes
  // Nothing depends on the row: one loop computes all entries of a tile, as if they were one row.
  bool isFlat;
};

// None if the operator has no driver, or one that is not read along rows and columns.
std::optional<EntryLevel> entryLevelOf(plan::OperatorOp op);

// Whether there is code for the body at the entries of its driver, and the schedule is one of rows;
// an error at the operation says why not.
llvm::LogicalResult checkEntries(plan::OperatorOp op, const Schedule &schedule);

} // namespace tokamak::schedule
#endif
