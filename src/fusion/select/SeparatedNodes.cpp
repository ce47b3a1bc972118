#include "fusion/select/SeparatedNodes.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// Finds the operations that no operator can contain together: because no frame allows both, or because
// one needs a result that depends on the other and that can't be computed in the same operator. If it
// is computed in several, this holds for the first operator that computes it.
SeparatedNodes::SeparatedNodes(const OperatorPool &pool, ArrayRef<int> nodes)
    : separated_(pool.graph().size()) {
  const BlockGraph &graph = pool.graph();
  size_t frames = pool.memo().frames.size(), size = graph.size();
  BitVector inside(size);
  for (int node : nodes)
    inside.set(node);
  BitVector natives(frames);
  for (auto [number, frame] : llvm::enumerate(pool.memo().frames))
    natives[number] = frame.isNative;
  std::vector<BitVector> loops(size, BitVector(frames)); // frames that allow several operations
  for (int node : nodes) {
    separated_[node].resize(size);
    for (const MemoGroup &group : pool.memo().groups[node])
      loops[node].set(group.frame);
    loops[node].reset(natives);
  }
  // By operation and frame: how an operation, computed in this frame, depends on the first one.
  enum Dependence : uint8_t { None, Together, Separate };
  std::vector<Dependence> inFrame(size * frames);
  std::vector<Dependence> least(size); // in the best frame
  for (int first : nodes) {
    std::fill(inFrame.begin(), inFrame.end(), None);
    std::fill(least.begin(), least.end(), None);
    least[first] = Together;
    for (int frame : loops[first].set_bits())
      inFrame[first * frames + frame] = Together;
    for (int index = first + 1; index < graph.size(); ++index) {
      const Node &node = graph[index];
      auto depends = [&](int other) { return other >= first && least[other] != None; };
      bool isDependent =
          llvm::any_of(node.producers, depends) || llvm::any_of(node.before, depends);
      if (isDependent)
        least[index] = Separate;
      if (!inside[index])
        continue;
      if (isDependent)
        for (const MemoGroup &group : pool.memo().groups[index]) {
          Dependence &most = inFrame[index * frames + group.frame];
          for (auto [operand, producer] : llvm::enumerate(node.producers))
            if (depends(producer))
              most = std::max(most, group.fusable >> operand & 1
                                        ? inFrame[producer * frames + group.frame]
                                        : Separate);
          least[index] = std::min(least[index], most);
        }
      if (least[index] == Separate || !loops[first].anyCommon(loops[index])) {
        separated_[first].set(index);
        separated_[index].set(first);
      }
    }
  }
}

namespace {

// Nodes of one colour are not separated from each other, so a clique has at most as many nodes as there
// are colours.
class MaximumClique {
public:
  explicit MaximumClique(const std::vector<BitVector> &separated) : separated_(separated) {}

  SmallVector<int> among(const BitVector &candidates) {
    expand(candidates);
    return best_;
  }

private:
  void expand(BitVector candidates) {
    if (++steps_ > SeparatedNodes::mostSteps)
      return;
    if (candidates.none() && current_.size() > best_.size())
      best_ = current_;
    SmallVector<std::pair<int, size_t>> nodes; // with the colour, colours in ascending order
    BitVector left = candidates;
    for (size_t colour = 1; left.any(); ++colour)
      for (BitVector same = left; same.any();) {
        int node = same.find_first();
        same.reset(node);
        same.reset(separated_[node]);
        left.reset(node);
        nodes.emplace_back(node, colour);
      }
    for (auto [node, colour] : llvm::reverse(nodes)) {
      if (current_.size() + colour <= best_.size())
        return;
      current_.push_back(node);
      BitVector others = candidates;
      others &= separated_[node];
      expand(std::move(others));
      current_.pop_back();
      candidates.reset(node);
    }
  }

  const std::vector<BitVector> &separated_;
  SmallVector<int> current_, best_;
  int steps_ = 0;
};

} // namespace

SmallVector<int> SeparatedNodes::mostAmong(const BitVector &candidates) const {
  return MaximumClique(separated_).among(candidates);
}
