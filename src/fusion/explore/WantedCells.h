// Facts about the cells of a block's inputs that would allow operations on a sparse matrix to be
// evaluated at its entries only. S / d is zero outside the entries of S if no cell of d is zero or
// NaN, else NaN in some of these cells: the runtime can check d before it chooses a plan.
//
//   WantedCells wanted = findWantedCells(function, factsOf);
//   wanted.inputs      // S / d: {%d, CellFact::nonZeroNumber()}
//   wanted.readers     // S / rowSums(S): the division, to be planned when the sums are computed
#ifndef TOKAMAK_FUSION_EXPLORE_WANTEDCELLS_H
#define TOKAMAK_FUSION_EXPLORE_WANTEDCELLS_H

#include "fusion/explore/BlockFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace tokamak::fusion {

// Unit attribute of an argument: it was checked and is not as wanted, so don't want it again.
inline constexpr llvm::StringLiteral otherCellsAttributeName = "tok.other_cells";

struct WantedCells {
  std::map<unsigned, CellFact> inputs; // by number of the argument
  // Operations that would need facts about a vector or scalar that is computed in the block. These
  // and the operations that depend on them can become a block of their own, planned later.
  llvm::SmallVector<mlir::Operation *> readers;

  explicit operator bool() const { return !inputs.empty() || !readers.empty(); }
};

// Facts that are known already are attributes of the arguments (ir/tok/CellFacts.h). The function
// is unchanged when this returns.
WantedCells findWantedCells(mlir::func::FuncOp block, FactsFunction facts);

} // namespace tokamak::fusion
#endif
