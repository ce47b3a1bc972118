#include "fusion/select/PlanBound.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- decisions -----------------------------------------------------------------------------===//

PlanBound::PlanBound(const PartitionFacts &facts)
    : facts_(&facts), storing_(facts.pool.graph().size(), Storing::Open),
      allowed_(facts.pool.graph().size(), BitVector(facts.pool.memo().frames.size())) {
  for (int node : facts.nodes) {
    if (facts.pool.mustBeStored(node))
      storing_[node] = Storing::Stored;
    for (const MemoGroup &group : facts.pool.memo().groups[node])
      allowed_[node].set(group.frame);
  }
  nanoseconds_ = std::max(addUp(Computing), addUp(Moving));
}

PlanBound::PlanBound(const PlanBound &bound, int node, Storing storing) : PlanBound(bound) {
  storing_[node] = storing;
  allow();
  for (View view : {Computing, Moving})
    nanoseconds_ = std::max(nanoseconds_, addUp(view));
}

// Leaves out the frames of which the decisions leave no operator.
void PlanBound::allow() {
  bool changed = true;
  auto keep = [&](int node, const BitVector &frames) {
    size_t before = allowed_[node].count();
    allowed_[node] &= frames;
    changed |= allowed_[node].count() != before;
  };
  while (changed) {
    changed = false;
    for (int index : llvm::reverse(facts_->nodes)) {
      bool isInside = storing_[index] == Storing::Inside;
      BitVector frames = facts_->storable[index], common = allowed_[index];
      if (isInside)
        frames.reset();
      for (const NodeUse &use : facts_->uses[index]) {
        BitVector fused = use.fusable;
        fused &= allowed_[index];
        fused &= allowed_[use.user];
        frames |= fused;
        common &= fused;
        if (isInside)
          keep(use.user, fused);
      }
      keep(index, frames);
      // A sum has one value, so one operator contains all its users.
      if (isInside && facts_->pool.isAddedUp(index) &&
          llvm::none_of(common.set_bits(), [&](int frame) {
            return facts_->pool.cost().group(index, frame)->isSampled;
          })) {
        keep(index, common);
        for (const NodeUse &use : facts_->uses[index])
          keep(use.user, common);
      }
    }
  }
}

//===- the bound -----------------------------------------------------------------------------===//

// What a user, computed in this frame, has to pay for the node: computing it there, or storing and
// reading it.
double PlanBound::ownedBy(View view, const NodeUse &use, int node, int frame) const {
  const Costs &costs = costs_[view][node];
  double read = costs.stored + use.reading[view][frame];
  return use.fusable[frame] ? std::min(costs.inFrame[frame], read) : read;
}

void PlanBound::addNode(View view, int index) {
  const Node &node = facts_->pool.graph()[index];
  size_t frames = facts_->pool.memo().frames.size();
  Costs &costs = costs_[view][index];
  costs.inFrame.assign(frames, infinity);
  costs.owned.assign(frames, infinity);
  costs.stored = infinity;
  double storing = infinity;
  for (int frame : allowed_[index].set_bits()) {
    double computed = costIn(view, facts_->computing[frame][index]);
    for (auto [operand, producer] : llvm::enumerate(node.producers))
      if (producer >= 0 && facts_->inside[producer] && owner_[view][producer] == index &&
          !llvm::is_contained(ArrayRef<int>(node.producers).take_front(operand), producer))
        computed += costs_[view][producer].owned[frame];
    costs.inFrame[frame] = computed;
    if (storing_[index] == Storing::Inside || !facts_->storable[index][frame])
      continue;
    double stored = costIn(view, facts_->storing[frame][index]);
    storing = std::min(storing, stored);
    // What has to be stored is paid for only once, below.
    costs.stored =
        std::min(costs.stored, computed + (storing_[index] == Storing::Stored ? 0 : stored));
  }
  bool isStored = storing_[index] == Storing::Stored;
  double most = isStored ? costs.stored : 0;
  const NodeUse *owner = nullptr;
  for (const NodeUse &use : facts_->uses[index]) {
    double least = infinity;
    for (int frame : allowed_[use.user].set_bits())
      least = std::min(least, ownedBy(view, use, index, frame));
    if (least > most || (!owner && !isStored)) {
      most = least;
      owner = &use;
    }
  }
  owner_[view][index] = owner ? owner->user : -1;
  if (owner)
    for (int frame : allowed_[owner->user].set_bits())
      costs.owned[frame] = ownedBy(view, *owner, index, frame);
  unowned_[view][index] = (isStored ? storing : 0) + (owner ? 0 : costs.stored);
}

double PlanBound::addUp(View view) {
  const OperatorPool &pool = facts_->pool;
  size_t size = pool.graph().size();
  costs_[view].resize(size);
  unowned_[view].assign(size, 0);
  owner_[view].assign(size, -1);
  double sum = 0;
  for (int node : facts_->nodes) {
    if (allowed_[node].none())
      return infinity;
    addNode(view, node);
    sum += unowned_[view][node];
  }
  reading_[view].assign(pool.cost().inputs().size(), 0);
  for (auto [input, readers] : llvm::enumerate(facts_->readers)) {
    double least = readers.empty() ? 0 : infinity;
    for (size_t frame = 0; frame < facts_->reading.size() && !readers.empty(); ++frame)
      if (facts_->reads[input][frame])
        least = std::min(least, costIn(view, facts_->reading[frame][input]));
    reading_[view][input] = least;
    sum += least * static_cast<double>(readers.size());
  }
  return static_cast<double>(facts_->launched.size()) * pool.machine().launchNanoseconds + sum;
}

void PlanBound::raise(PartitionFacts &facts, double enough) {
  PlanBound bound(facts);
  // Where the higher view stays as high, the other one may rise.
  using Height = std::pair<double, double>;
  auto height = [&] {
    double computing = bound.addUp(Computing), moving = bound.addUp(Moving);
    return Height(std::max(computing, moving), computing + moving);
  };
  auto isAbove = [](double a, double b) { return a > b * (1 + 1e-9); };
  Height most = height(), before;
  auto tryWith = [&](int input, int frame, int node) {
    int counted = facts.countedWith[input][frame];
    facts.count(input, frame, node);
    Height raised = height();
    if (isAbove(raised.first, most.first) ||
        (!isAbove(most.first, raised.first) && isAbove(raised.second, most.second)))
      most = raised;
    else
      facts.count(input, frame, counted);
  };
  do {
    before = most;
    for (auto [number, byFrame] : llvm::enumerate(facts.countedWith)) {
      auto input = static_cast<int>(number);
      if (!facts.hasSeveralReaders[input] || !facts.readers[input].empty())
        continue;
      for (int node : facts.nodes)
        for (const MemoGroup &group : facts.pool.memo().groups[node])
          if (byFrame[group.frame] >= 0 && byFrame[group.frame] != node && most.first < enough &&
              facts.readsInEveryCase(node, group, input))
            tryWith(input, group.frame, node);
    }
  } while (isAbove(most.first, before.first) && most.first < enough);
}
