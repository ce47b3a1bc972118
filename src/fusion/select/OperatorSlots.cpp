#include "fusion/select/OperatorSlots.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

namespace {

// What comes before and behind operations of other partitions.
struct Separation {
  BitVector before; // nodes that they read
  BitVector behind; // nodes that depend on them
};

} // namespace

static std::vector<Separation> separationsOf(const BlockGraph &graph, ArrayRef<int> nodes) {
  BitVector inside(graph.size());
  for (int node : nodes)
    inside.set(node);
  std::vector<BitVector> needs(graph.size(), BitVector(graph.size())); // what it depends on
  for (int index = 0; index < graph.size(); ++index)
    for (ArrayRef<int> earlier :
         {ArrayRef<int>(graph[index].producers), ArrayRef<int>(graph[index].before)})
      for (int other : earlier)
        if (other >= 0) {
          needs[index].set(other);
          needs[index] |= needs[other];
        }
  std::vector<Separation> separations;
  for (int outside = 0; outside < graph.size(); ++outside) {
    if (inside[outside])
      continue;
    Separation separation{BitVector(graph.size()), BitVector(graph.size())};
    for (int producer : graph[outside].producers)
      if (producer >= 0 && inside[producer])
        separation.before.set(producer);
    for (int node : nodes)
      if (needs[node][outside])
        separation.behind.set(node);
    if (separation.before.none() || separation.behind.none())
      continue;
    auto same = llvm::find_if(
        separations, [&](const Separation &other) { return other.behind == separation.behind; });
    if (same != separations.end())
      same->before |= separation.before;
    else if (separations.size() < mostSeparating)
      separations.push_back(std::move(separation));
  }
  return separations;
}

std::vector<OperatorSlot> fusion::operatorSlots(const OperatorPool &pool, ArrayRef<int> nodes) {
  std::vector<Separation> separations = separationsOf(pool.graph(), nodes);
  // Sets of separations as bits: those that each node is behind, and those that an operator may be behind,
  // which are any of these together.
  SmallVector<unsigned> behind(pool.graph().size()), together = {0};
  for (int node : nodes)
    for (auto [number, separation] : llvm::enumerate(separations))
      behind[node] |= unsigned(separation.behind[node]) << number;
  for (int node : nodes)
    for (size_t i = 0; i < together.size(); ++i)
      if (unsigned both = together[i] | behind[node]; !llvm::is_contained(together, both))
        together.push_back(both);

  std::vector<OperatorSlot> slots;
  for (auto [frame, unused] : llvm::enumerate(pool.memo().frames))
    for (unsigned set : together) {
      OperatorSlot slot{static_cast<int>(frame), BitVector(pool.graph().size()),
                        BitVector(pool.graph().size())};
      for (int node : nodes) {
        const MemoGroup *group = pool.cost().group(node, slot.frame);
        // A native computes one node, so that it is behind the same as this one.
        if (!group ||
            (pool.memo().frames[frame].isNative ? behind[node] != set : (behind[node] & ~set) != 0))
          continue;
        slot.allowed.set(node);
        bool isNeeded = false;
        for (auto [number, separation] : llvm::enumerate(separations))
          isNeeded |= (set >> number & 1) && separation.before[node];
        slot.storable[node] = group->storable && !isNeeded;
      }
      if (slot.allowed.any())
        slots.push_back(std::move(slot));
    }
  return slots;
}
