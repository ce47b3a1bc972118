// What would have to be known of the cells of a block's inputs for an operation on a sparse matrix
// to be evaluated at its entries only. S / d is zero beside the entries of S where no cell of d is
// zero or NaN, and NaN elsewhere: who runs the block can look at d before it chooses a plan.
//
//   WantedCells wanted = findWantedCells(function, factsOf);
//   wanted.inputs      // S / d: {%d, CellFact::nonZeroNumber()}
//   wanted.readers     // S / rowSums(S): the division, to be planned when the sums are there
#ifndef TOKAMAK_FUSION_EXPLORE_WANTEDCELLS_H
#define TOKAMAK_FUSION_EXPLORE_WANTEDCELLS_H

#include "fusion/explore/BlockFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tokamak::fusion {

// Unit attribute of an argument: it is not as was wanted, and is not asked for again.
inline constexpr llvm::StringLiteral otherCellsAttributeName = "tok.other_cells";

struct WantedCells {
  struct Input {
    unsigned argument;
    CellFact cells;
  };
  llvm::SmallVector<Input> inputs;
  // Operations for which a vector or a number that is computed in the block would have to be known:
  // they, and what depends on them, become a block of their own.
  llvm::SmallVector<mlir::Operation *> readers;

  explicit operator bool() const { return !inputs.empty() || !readers.empty(); }
};

// What is known already is stated at the arguments (ir/tok/CellFacts.h). The function is as before
// when this returns.
WantedCells findWantedCells(mlir::func::FuncOp block, FactsFunction facts);

} // namespace tokamak::fusion
#endif
