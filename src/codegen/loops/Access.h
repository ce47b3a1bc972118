// Where reads and writes of a body go: the cell of the array as a linear function of the axes. The
// sizes in it are functions of the sizes of array operands, which is what a launch knows.
//
//   Size rows = sizeAtLaunch(op, *Size::parse("s3 + 1"));    // such as abi::sizeOfInput(0, 0)
//   llvm::FailureOr<Access> access = accessOf(op, read);
//   Size step = access->cell.factors[2];       // cells between neighbours along d2
//   if (!access->hasChecks()) ...              // no place has to be checked
#ifndef TOKAMAK_CODEGEN_LOOPS_ACCESS_H
#define TOKAMAK_CODEGEN_LOOPS_ACCESS_H

#include "ir/plan/PlanDialect.h"

#include <vector>

namespace tokamak::codegen {

// `size` is constant, a size of an operand, or computed from such sizes.
Size sizeAtLaunch(plan::OperatorOp op, const Size &size);

// The sum of constant, factor * axis and factor * index.
struct LinearFunction {
  Size constant = Size::constant(0);
  llvm::SmallVector<Size> factors;                         // by axis
  llvm::SmallVector<std::pair<mlir::Value, Size>> indices; // cells that run over axes
  // The axis of a driver's columns stands for positions among its entries, not for columns.
  bool isAtEntries = false;

  explicit LinearFunction(size_t axisCount = 0) : factors(axisCount, Size::constant(0)) {}
  bool dependsOn(unsigned axis) const { return !factors[axis].isConstant(0); }
  // Entries lie one behind the other whatever the row is.
  void goToEntries(unsigned row);
};

struct Access {
  struct Dimension {
    LinearFunction place;
    Size size, cells; // between neighbouring places
    bool isChecked;   // because the place may be outside
  };
  LinearFunction cell; // its number in the array
  std::vector<Dimension> dimensions;

  auto checks() const {
    return llvm::make_filter_range(dimensions,
                                   [](const Dimension &dimension) { return dimension.isChecked; });
  }
  bool hasChecks() const { return !checks().empty(); }

  bool dependsOn(unsigned axis) const;
  void forEachFunction(llvm::function_ref<void(LinearFunction &)> visit);
};

// Fails with an error at the operation, a read or a write, where there is no code for its map, or
// where a place may be outside of the array and there is no value for it.
llvm::FailureOr<Access> accessOf(plan::OperatorOp op, mlir::Operation *readOrWrite);

} // namespace tokamak::codegen
#endif
