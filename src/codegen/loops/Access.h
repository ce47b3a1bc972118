// Where reads and writes of a body go: the place in each dimension as a linear function of the axes.
//
//   llvm::FailureOr<Access> access = accessOf(op, read);
//   Size step = access->factor(2);             // cells between neighbours along d2
//   if (access->isAlwaysInside()) ...          // no place has to be checked
#ifndef TOKAMAK_CODEGEN_LOOPS_ACCESS_H
#define TOKAMAK_CODEGEN_LOOPS_ACCESS_H

#include "ir/plan/PlanDialect.h"

namespace tokamak::codegen {

// The place in one dimension: the sum of constant, factor * axis and factor * index.
struct LinearPlace {
  Size constant = Size::constant(0);
  llvm::SmallVector<int64_t> factors;                         // by axis
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> indices; // cells that run over axes
  bool isInside = false; // proved to be a place of the dimension
  bool dependsOn(unsigned axis) const { return factors[axis] != 0; }
};

struct Access {
  llvm::SmallVector<LinearPlace> places; // of each dimension
  llvm::SmallVector<Size> sizes;         // of the dimensions, as functions of the launch's inputs
  llvm::SmallVector<Size> strides;       // in cells, likewise
  // The axis of a driver's columns stands for positions among its entries, not for columns.
  bool isAtEntries = false;

  // Cells between neighbours along the axis, and between the array's first cell and the place with
  // all axes at 0.
  Size factor(unsigned axis) const;
  Size constant() const;
  bool runsOver(unsigned axis) const;
  bool hasIndices() const;
  bool isAlwaysInside() const;

  // Adds a dimension whose place is the axis, one of `axisCount`: for memory of our own.
  void addAxis(unsigned axis, size_t axisCount, const Size &stride);
  // Places are those of the entries, which lie one behind the other whatever the row is.
  void goToEntries(unsigned row);
};

// Fail with an error at the operation where there is no code for the map, or where a place may be
// outside of an array and there is no value for it.
llvm::FailureOr<Access> accessOf(plan::OperatorOp op, plan::ReadOp read);
llvm::FailureOr<Access> accessOf(plan::OperatorOp op, plan::WriteOp write);

} // namespace tokamak::codegen
#endif
