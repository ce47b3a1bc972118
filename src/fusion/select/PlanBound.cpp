#include "fusion/select/PlanBound.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- decisions -----------------------------------------------------------------------------===//

PlanBound::PlanBound(const PartitionFacts &facts)
    : facts_(&facts), frames_(facts.pool.memo().frames.size()),
      storing_(facts.pool.graph().size(), Storing::Open),
      allowed_(facts.pool.graph().size(), BitVector(frames_)) {
  for (int node : facts.nodes) {
    if (facts.pool.mustBeStored(node))
      storing_[node] = Storing::Stored;
    for (const MemoGroup &group : facts.pool.memo().groups[node])
      allowed_[node].set(group.frame);
  }
  size_t size = facts.pool.graph().size();
  for (InView &parts : parts_) {
    parts.inFrame.assign(size * frames_, infinity);
    parts.owned = parts.inFrame;
    parts.stored.assign(size, infinity);
    parts.unowned.assign(size, 0);
    parts.owner.assign(size, -1);
    parts.reading.assign(facts.readers.size(), 0);
  }
  for (int view = 0; view < viewCount; ++view)
    nanoseconds_ = std::max(nanoseconds_, addUp(view));
}

PlanBound::PlanBound(const PlanBound &bound, int node, Storing storing) : PlanBound(bound) {
  storing_[node] = storing;
  int first = std::min(node, allow());
  for (int view = 0; view < viewCount; ++view)
    nanoseconds_ = std::max(nanoseconds_, addUp(view, first));
}

// Leaves out the frames of which the decisions leave no operator. Gives the first node for which that
// changes anything.
int PlanBound::allow() {
  bool changed = true;
  int first = std::numeric_limits<int>::max();
  auto keep = [&](int node, const BitVector &frames) {
    size_t before = allowed_[node].count();
    allowed_[node] &= frames;
    if (allowed_[node].count() == before)
      return;
    changed = true;
    first = std::min(first, node);
    for (int producer : facts_->pool.graph()[node].producers)
      if (producer >= 0 && facts_->inside[producer])
        first = std::min(first, producer);
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
  return first;
}

//===- the bound -----------------------------------------------------------------------------===//

// What a user, computed in this frame, has to pay for the node: computing it there, or storing and
// reading it.
double PlanBound::ownedBy(int view, const NodeUse &use, int node, int frame) const {
  const InView &parts = parts_[view];
  double read = parts.stored[node];
  if (use.readByOwner[frame])
    read += facts_->views[view].reading[frame][use.input];
  return use.fusable[frame] ? std::min(parts.inFrame[node * frames_ + frame], read) : read;
}

void PlanBound::addNode(int view, int index) {
  const Node &node = facts_->pool.graph()[index];
  const View &costs = facts_->views[view];
  InView &parts = parts_[view];
  double *inFrame = &parts.inFrame[index * frames_], *owned = &parts.owned[index * frames_];
  std::fill_n(inFrame, frames_, infinity);
  std::fill_n(owned, frames_, infinity);
  parts.stored[index] = infinity;
  SmallVector<const double *, 4> ownedOperands;
  for (auto [operand, producer] : llvm::enumerate(node.producers))
    if (producer >= 0 && facts_->inside[producer] && parts.owner[producer] == index &&
        !llvm::is_contained(ArrayRef<int>(node.producers).take_front(operand), producer))
      ownedOperands.push_back(&parts.owned[producer * frames_]);
  double storing = infinity;
  for (int frame : allowed_[index].set_bits()) {
    double computed = costs.computing[frame][index];
    for (const double *operand : ownedOperands)
      computed += operand[frame];
    inFrame[frame] = computed;
    if (storing_[index] == Storing::Inside || !facts_->storable[index][frame])
      continue;
    double stored = costs.storing[frame][index];
    storing = std::min(storing, stored);
    // What has to be stored is paid for only once, below.
    parts.stored[index] =
        std::min(parts.stored[index], computed + (storing_[index] == Storing::Stored ? 0 : stored));
  }
  bool isStored = storing_[index] == Storing::Stored;
  double most = isStored ? parts.stored[index] : 0;
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
  parts.owner[index] = owner ? owner->user : -1;
  if (owner)
    for (int frame : allowed_[owner->user].set_bits())
      owned[frame] = ownedBy(view, *owner, index, frame);
  parts.unowned[index] = (isStored ? storing : 0) + (owner ? 0 : parts.stored[index]);
}

void PlanBound::addReaders(int view) {
  InView &parts = parts_[view];
  parts.readers = 0;
  for (auto [input, readers] : llvm::enumerate(facts_->readers)) {
    if (readers.empty())
      continue;
    double least = infinity;
    for (int frame : facts_->reads[input].set_bits())
      least = std::min(least, facts_->views[view].reading[frame][input]);
    parts.reading[input] = least;
    parts.readers += least * static_cast<double>(readers.size());
  }
}

double PlanBound::addUp(int view, int first) {
  if (first == 0)
    addReaders(view);
  double sum = parts_[view].readers;
  for (int node : facts_->nodes) {
    if (allowed_[node].none())
      return infinity;
    if (node >= first)
      addNode(view, node);
    sum += parts_[view].unowned[node];
  }
  return static_cast<double>(facts_->launched.size()) * facts_->pool.machine().launchNanoseconds +
         sum;
}

//===- raising it ----------------------------------------------------------------------------===//

static bool isAbove(double a, double b) { return a > b * (1 + 1e-9); }

void PlanBound::raise(PartitionFacts &facts, double enough) {
  PlanBound bound(facts);
  bound.countElsewhere(facts, enough);
  for (int view = 0; view < viewCount; ++view)
    bound.changeShares(facts, view, enough);
}

// Counts reading with other nodes, one after the other.
void PlanBound::countElsewhere(PartitionFacts &facts, double enough) {
  // Where the higher view stays as high, the other one may rise.
  using Height = std::pair<double, double>;
  auto height = [&] {
    Height height;
    for (int view = 0; view < viewCount; ++view) {
      double least = addUp(view);
      height.first = std::max(height.first, least);
      height.second += least;
    }
    return height;
  };
  Height highest = height(), before;
  auto tryWith = [&](int input, int frame, int node) {
    int counted = facts.countedWith[input][frame];
    facts.count(input, frame, node);
    Height raised = height();
    if (isAbove(raised.first, highest.first) ||
        (!isAbove(highest.first, raised.first) && isAbove(raised.second, highest.second)))
      highest = raised;
    else
      facts.count(input, frame, counted);
  };
  do {
    before = highest;
    for (auto [number, byFrame] : llvm::enumerate(facts.countedWith)) {
      auto input = static_cast<int>(number);
      if (!facts.hasSeveralReaders[input] || !facts.readers[input].empty())
        continue;
      for (int node : facts.nodes)
        for (const MemoGroup &group : facts.pool.memo().groups[node])
          if (byFrame[group.frame] >= 0 && byFrame[group.frame] != node && highest.first < enough &&
              facts.readsInEveryCase(node, group, input))
            tryWith(input, group.frame, node);
    }
  } while (isAbove(highest.first, before.first) && highest.first < enough);
}

// Changes the means of a view, frame by frame. For given owners and choices the sum is linear in them, so
// that the least sum is concave.
void PlanBound::changeShares(PartitionFacts &facts, int view, double enough) {
  double most = addUp(view), before;
  do {
    before = most;
    for (int frame = 0; frame < static_cast<int>(frames_) && most < enough; ++frame) {
      double best = facts.views[view].share[frame];
      for (double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        facts.setShare(view, frame, share);
        if (double raised = addUp(view); isAbove(raised, most)) {
          most = raised;
          best = share;
        }
      }
      facts.setShare(view, frame, best);
    }
  } while (isAbove(most, before) && most < enough);
}
