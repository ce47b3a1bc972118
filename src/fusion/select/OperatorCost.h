// Estimates what operators read, write and compute, and how long that takes on a machine. For
// operators with a driver, the driver's entries are counted instead of cells. Native products are
// estimated, too, so that they can be compared with kernels.
//
//   OperatorCost cost(graph, memo, machine);
//   cost.price(candidate);                       // fills in reads, arrays, nanoseconds
//
// What a member computes and what reading an operand takes depend on the frame only, so both are
// worked out once, in tables; pricing an operator adds up rows of them.
#ifndef TOKAMAK_FUSION_SELECT_OPERATORCOST_H
#define TOKAMAK_FUSION_SELECT_OPERATORCOST_H

#include "base/Prediction.h"
#include "cost/MachineModel.h"
#include "fusion/explore/MemoTable.h"

#include "llvm/ADT/BitVector.h"

namespace tokamak::fusion {

struct FusedOperator {
  llvm::BitVector members;         // operations computed inside, by index
  llvm::SmallVector<int, 4> roots; // members that are results of the operator, in program order
  int frame = -1;
  llvm::BitVector frames; // other than natives that allow all members; known of operators of a pool
  llvm::SmallVector<int, 6> reads; // nodes whose stored arrays or aggregates are read
  int arrays = 0;                  // array inputs and results
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

// Something that operators may take from outside: a value, or the part of it that one slice reads.
struct OperatorInput {
  mlir::Value value;
  int producer; // index of an operation; -1 for arguments
  bool isArray;
};

class OperatorCost {
public:
  OperatorCost(const BlockGraph &graph, const MemoTable &memo, const cost::MachineModel &machine);

  // Sets `reads`, `arrays` and `nanoseconds`, given members, roots and frame.
  void price(FusedOperator &candidate) const;
  // Also on several threads, for reports. `bytes`, if they are not 0, are those of arrays of which the sizes are
  // estimates: then it says also what work takes that is larger or smaller in all respects.
  Prediction predict(FusedOperator candidate) const;
  Prediction predict(const cost::Work &work, double bytes) const; // of a native

  llvm::ArrayRef<OperatorInput> inputs() const { return inputs_; }
  // By operand of an operation: numbers of inputs.
  llvm::ArrayRef<int> inputsOf(int node) const { return inputsOf_[node]; }
  // Null where the frame doesn't allow the operation.
  const MemoGroup *group(int node, int frame) const { return groups_[frame][node]; }
  // What it computes for each cell (CellWork.h).
  double additions(int node) const { return additions_[node]; }
  // The work of computing an operation, of reading an input and of storing a result.
  const cost::Work &computing(int node, int frame) const { return computing_[frame][node]; }
  const cost::Work &reading(int input, int frame) const { return reading_[frame][input]; }
  const cost::Work &storing(int node, int frame) const { return storing_[frame][node]; }

  const BlockGraph &graph;
  const MemoTable &memo;
  const cost::MachineModel machine; // as operators of the block find it

private:
  OperatorCost(const BlockGraph &graph, const MemoTable &memo, const cost::MachineModel &machine,
               double touchedBytes);
  // Sets `reads` and `arrays`.
  cost::Work workOf(FusedOperator &candidate) const;
  bool hasTiles(const FusedOperator &candidate) const;

  const cost::MachineModel unused_; // as an operator alone finds it
  const double touchedBytes_;       // by the block
  std::vector<OperatorInput> inputs_;
  std::vector<llvm::SmallVector<int, 3>> inputsOf_;
  std::vector<double> additions_;                                      // by node
  std::vector<std::vector<const MemoGroup *>> groups_;                 // by frame
  std::vector<std::vector<cost::Work>> computing_, reading_, storing_; // by frame
};

} // namespace tokamak::fusion
#endif
