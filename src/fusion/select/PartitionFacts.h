// What bounds of a partition's plans ask again and again, worked out once: what operations cost in each
// slot, which results they use and which arrays they read, and which of them no operator contains together.
//
//   PartitionFacts facts(pool, partition.nodes);
//   double computed = facts.computing[slot][node].computing;        // nanoseconds
//   for (int use : facts.usesOf[node])
//     if (facts.uses[use].fusable[slot])  ...                       // an operator can compute both
#ifndef TOKAMAK_FUSION_SELECT_PARTITIONFACTS_H
#define TOKAMAK_FUSION_SELECT_PARTITIONFACTS_H

#include "fusion/select/OperatorSlots.h"
#include "fusion/select/SeparatedNodes.h"

namespace tokamak::fusion {

// Reading an input in a slot. Operators read it once, whatever they compute with it.
struct InputReading {
  int input, slot;
  llvm::SmallVector<int> readers;                 // operations that may read it, in program order
  llvm::SmallVector<cost::Parts> parts;           // by reader: the least, in an operator with it
  std::vector<llvm::SmallVector<int>> exclusives; // of readers: positions; no operator contains two
};

// A reader of an InputReading; none if what is read takes no time.
struct InputReader {
  int reading = -1, position = -1;
};

// One node that another one uses, as any of its operands.
struct NodeUse {
  int user, producer;
  int input;
  llvm::BitVector fusable;                // slots in which an operator can compute both
  llvm::SmallVector<InputReader> readers; // by slot
};

// Uses of a node that one operator computes, by users of which no operator contains two: at most one of them
// computes the node inside.
struct ExclusiveUses {
  int producer;
  llvm::SmallVector<int> uses;
  double reading; // nanoseconds: the least that one of them takes to read it
};

struct PartitionFacts {
  // `nodes` of the pool's block, in program order.
  PartitionFacts(const OperatorPool &pool, llvm::ArrayRef<int> nodes);

  const OperatorPool &pool;
  llvm::ArrayRef<int> nodes;
  llvm::BitVector inside; // the nodes
  std::vector<OperatorSlot> slots;
  SeparatedNodes separated;
  llvm::SmallVector<int> launched; // of which no operator contains two

  // By slot and node: the least parts of computing and storing.
  std::vector<std::vector<cost::Parts>> computing, storing;

  std::vector<NodeUse> uses;
  std::vector<llvm::SmallVector<int, 2>> usesOf, usesBy; // by node: by others, and of others
  std::vector<ExclusiveUses> exclusiveUses;
  std::vector<llvm::SmallVector<int, 1>> exclusivesOf; // by use: numbers of exclusiveUses
  std::vector<InputReading> readings;
  // By node: the inputs that it reads in every case, of other partitions and of the block, by slot.
  std::vector<std::vector<llvm::SmallVector<InputReader>>> outside;

  // Whether only one operator may compute the node: a sum, but no sampled product.
  bool isComputedOnce(int node) const;
  // The same of a node that nothing but such a sum needs: to compute it elsewhere, too, would be of no use.
  bool isComputedOnceAtBest(int node) const;
  // Whether no operator contains both nodes.
  bool areExclusive(int a, int b) const;

private:
  // What an operator with a reader moves at least.
  std::vector<std::vector<double>> fewest_; // by slot and node

  bool isFusable(const OperatorSlot &slot, Use use) const;
  struct FewestBytes {
    std::vector<double> read, written;
  };
  FewestBytes fewestBytes(const OperatorSlot &slot) const;
  void notePartsOfWork();
  void noteUses();
  void noteReadings();
  void noteExclusiveUses();
  void noteExclusives(InputReading &reading) const;
};

} // namespace tokamak::fusion
#endif
