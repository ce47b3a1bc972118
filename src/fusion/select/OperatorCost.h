// Estimates what operators read, write and compute, and how long that takes on a machine. For
// operators with a driver, the driver's entries are counted instead of cells. Native products are
// estimated, too, so that they can be compared with kernels.
//
//   OperatorCost cost(graph, memo, machine);
//   cost.price(candidate);                       // fills in reads, arrays, nanoseconds
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
  llvm::SmallVector<int, 6> reads; // nodes whose stored arrays or aggregates are read
  int arrays = 0;                  // array inputs and results
  double nanoseconds = 0;

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

class OperatorCost {
public:
  OperatorCost(const BlockGraph &graph, const MemoTable &memo, const cost::MachineModel &machine)
      : graph_(graph), memo_(memo), machine_(machine) {}

  // Sets `reads`, `arrays` and `nanoseconds`, given members, roots and frame.
  void price(FusedOperator &candidate) const;

  // How many points the axes have that a value of this shape runs over in the frame.
  double points(AxisSet axes, const Shape &shape, const Frame &frame) const;

  // Lower bounds, over all plans.
  double leastFlops(int node) const;
  double leastBytesToRead(mlir::Value value) const;
  double leastBytesToStore(int node) const;

private:
  void addMember(int member, const MemoGroup &group, cost::Work &work) const;
  void addProductAtEntries(const Node &node, const Verdict &verdict, const Frame &frame,
                           cost::Work &work) const;
  void addProductByRows(const Node &node, cost::Work &work) const;
  void addOperand(const Node &node, mlir::Value operand, const Frame &frame,
                  cost::Work &work) const;
  void addResult(int root, const Frame &frame, cost::Work &work) const;
  // Whether the native computes this transposed product without packing its factors.
  bool isUnpacked(const Node &node) const;
  void addNative(int member, cost::Work &work) const;
  double multiplications(const Node &node) const;
  double productFlops(const Node &node) const;
  double gathersOf(double accesses, const Node &node, mlir::Value array, const Size &columns) const;
  double denseBytesOf(mlir::Value value) const;
  double bytesOf(mlir::Value value) const;

  const BlockGraph &graph_;
  const MemoTable &memo_;
  const cost::MachineModel &machine_;
};

} // namespace tokamak::fusion
#endif
