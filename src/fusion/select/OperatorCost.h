// Estimates what operators read, write and compute, and how long that takes on a machine. For
// operators with a driver, the driver's entries are counted instead of cells. Native products are
// estimated, too, so that they can be compared with kernels.
//
//   OperatorCost cost{graph, memo, machine};
//   cost.price(candidate);                       // fills in reads, inputs, arrays, nanoseconds
#ifndef TOKAMAK_FUSION_SELECT_OPERATORCOST_H
#define TOKAMAK_FUSION_SELECT_OPERATORCOST_H

#include "cost/MachineModel.h"
#include "fusion/explore/MemoTable.h"

#include "llvm/ADT/BitVector.h"

namespace tokamak::fusion {

struct FusedOperator {
  llvm::BitVector members;         // operations computed inside, by index
  llvm::SmallVector<int, 4> roots; // members that are results of the operator, in program order
  int frame = -1;
  llvm::SmallVector<int, 6> reads;          // nodes whose stored arrays or aggregates are read
  llvm::SmallVector<mlir::Value, 6> inputs; // arrays that are read
  int arrays = 0;                           // array inputs and results
  double nanoseconds = 0;
  double total = 0; // nanoseconds, with the operators for inputs that no one else stores

  // Visits, as a Use, each operand that a member takes from outside of the operator.
  template <typename Visit> void forEachInput(const BlockGraph &graph, Visit visit) const {
    for (int member : members.set_bits())
      for (auto [operand, producer] : llvm::enumerate(graph[member].producers))
        if (producer < 0 || !members[producer])
          visit(Use{member, static_cast<int>(operand)});
  }
  bool isRoot(int index) const { return llvm::is_contained(roots, index); }
  bool doesRead(int index) const { return llvm::is_contained(reads, index); }
};

// How many points the axes have that a value of this shape runs over in the frame.
double pointsOf(const BlockFacts &facts, const Frame &frame, Axes axes, const Shape &shape);

struct OperatorCost {
  const BlockGraph &graph;
  const MemoTable &memo;
  const cost::MachineModel &machine;

  // Sets `reads`, `inputs`, `arrays` and `nanoseconds`, given members, roots and frame.
  void price(FusedOperator &candidate) const;

  // Lower bounds, over all plans.
  double leastFlops(int node) const;
  double leastBytesToRead(mlir::Value array) const;
  double leastBytesToStore(int node) const;
};

} // namespace tokamak::fusion
#endif
