// What bounds of a partition's plans ask again and again, worked out once: what operations cost in each
// frame, which of them no operator contains together, and with which one reading an array is counted.
//
//   PartitionFacts facts(pool, partition.nodes);
//   facts.setShare(0, frame, 0.5);              // half of computing and half of moving cells
//   double computed = facts.views[0].computing[frame][node];
#ifndef TOKAMAK_FUSION_SELECT_PARTITIONFACTS_H
#define TOKAMAK_FUSION_SELECT_PARTITIONFACTS_H

#include "fusion/select/SeparatedNodes.h"

namespace tokamak::fusion {

// An operator takes its launch, its overhead, and the longer of computing and moving cells, which is no
// less than any mean of the two. In a view, this mean is chosen by frame, so that what operations cost
// adds up.
struct View {
  // By frame: the share of computing. The rest is the share of moving.
  llvm::SmallVector<double> share;
  // By frame, and node or input: the overhead and the mean.
  std::vector<std::vector<double>> computing, storing, reading;
};
inline constexpr int viewCount = 2;
inline double costIn(double share, const cost::Parts &parts) {
  return parts.overhead + share * parts.computing + (1 - share) * parts.moving;
}

// Parts of an operator's time.
enum Part : uint8_t { Computing, Moving };

// One node that another one uses, as any of its operands.
struct NodeUse {
  int user;
  int input;
  llvm::BitVector fusable;     // frames in which an operator can compute both
  llvm::BitVector readByOwner; // frames in which reading it is not counted elsewhere
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
  View views[viewCount];

  void setShare(int view, int frame, double share);
  // By part, frame and node: the most by which the other part is above this one, of computing and storing a
  // node and of reading its operands; and of reading a node.
  std::vector<std::vector<double>> hidden[2], hiddenReading[2];

  // Counts reading an input in a frame with another node.
  void count(int input, int frame, int node);
  bool readsInEveryCase(int node, const MemoGroup &group, int input) const;

private:
  void notePartsOfWork();
  void chooseReaders();
  void noteUses();
  void noteHidden();
};

} // namespace tokamak::fusion
#endif
