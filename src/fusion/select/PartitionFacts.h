// What bounds of a partition's plans ask again and again, worked out once: what operations cost in each
// frame, which of them no operator contains together, and with which one reading an array is counted.
//
//   PartitionFacts facts(pool, partition.nodes);
//   double computed = costIn(Computing, facts.computing[frame][node]);
#ifndef TOKAMAK_FUSION_SELECT_PARTITIONFACTS_H
#define TOKAMAK_FUSION_SELECT_PARTITIONFACTS_H

#include "fusion/select/SeparatedNodes.h"

namespace tokamak::fusion {

// Which of an operator's parts are added up, beside launches and overhead: computing, or moving cells
// from and to memory.
enum View : uint8_t { Computing, Moving };
inline double hideableIn(View view, const cost::Parts &parts) {
  return view == Computing ? parts.computing : parts.moving;
}
inline double costIn(View view, const cost::Parts &parts) {
  return parts.overhead + hideableIn(view, parts);
}

// One node that another one uses, as any of its operands.
struct NodeUse {
  int user;
  llvm::BitVector fusable; // frames in which an operator can compute both
  // By view and frame: what reading costs beside what is counted elsewhere.
  llvm::SmallVector<double, 8> reading[2];
};

// What is the same for all decisions.
struct PartitionFacts {
  // `nodes` of the pool's block, in program order.
  PartitionFacts(const OperatorPool &pool, llvm::ArrayRef<int> nodes);

  const OperatorPool &pool;
  llvm::ArrayRef<int> nodes;
  llvm::BitVector inside; // the nodes
  SeparatedNodes separated;
  // Of which no operator contains two: operations; and, by input, operations that read it, together with
  // the one that it is counted with.
  llvm::SmallVector<int> launched;
  std::vector<llvm::SmallVector<int>> readers;
  std::vector<llvm::BitVector>
      reads; // by input: the frames in which one of these operations is allowed
  // By input and frame: the node that reading it is counted with, which can't compute it in this frame.
  // The `readers` read it once more each. If all nodes can compute it in the frame, it is counted with the
  // owner of its producer.
  static constexpr int withOwner = -1, withNone = -2;
  std::vector<llvm::SmallVector<int>> countedWith;
  llvm::BitVector hasSeveralReaders;
  // By frame, and node or input: the least parts of computing, storing and reading.
  std::vector<std::vector<cost::Parts>> computing, storing, reading;

  std::vector<llvm::SmallVector<NodeUse, 2>> uses; // by node: by other nodes
  std::vector<llvm::BitVector> storable;           // by node: frames
  // By view and node: the most that an operator can do, while it does the other part of its work, of
  // computing and storing it and of reading all its operands; and of reading it.
  std::vector<double> hidden[2], hiddenReading[2];

  // Counts reading an input in a frame with another node.
  void count(int input, int frame, int node);
  bool readsInEveryCase(int node, const MemoGroup &group, int input) const;

private:
  void notePartsOfWork();
  void noteHidden();
  void chooseReaders();
  void noteUses();
};

} // namespace tokamak::fusion
#endif
