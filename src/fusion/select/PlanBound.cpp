#include "fusion/select/PlanBound.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- facts ---------------------------------------------------------------------------------===//

PartitionFacts::PartitionFacts(const OperatorPool &pool, ArrayRef<int> nodes)
    : pool(pool), nodes(nodes), inside(pool.graph().size()), separated(pool, nodes),
      readers(pool.cost().inputs().size()) {
  for (int node : nodes)
    inside.set(node);
  launched = separated.mostAmong(inside);
  notePartsOfWork();
  noteHidden();
  chooseReaders();
  noteUses();
}

void PartitionFacts::noteHidden() {
  const OperatorCost &cost = pool.cost();
  for (View view : {Computing, Reading}) {
    hidden[view].resize(pool.graph().size());
    hiddenReading[view].resize(pool.graph().size());
    auto most = [&](const std::vector<std::vector<cost::Parts>> &parts, int index) {
      double most = 0;
      for (const std::vector<cost::Parts> &inFrame : parts)
        most =
            std::max(most, view == Computing ? inFrame[index].computing : inFrame[index].reading);
      return most;
    };
    for (int node : nodes) {
      hidden[view][node] = most(computing, node);
      for (int input : cost.inputsOf(node)) {
        double read = most(reading, input);
        hidden[view][node] += read;
        if (int producer = cost.inputs()[input].producer; producer >= 0)
          hiddenReading[view][producer] = std::max(hiddenReading[view][producer], read);
      }
    }
  }
}

void PartitionFacts::notePartsOfWork() {
  const OperatorCost &cost = pool.cost();
  auto partsOf = [&](const cost::Work &work) { return cost::leastPartsOf(pool.machine(), work); };
  for (auto [number, unused] : llvm::enumerate(pool.memo().frames)) {
    auto frame = static_cast<int>(number);
    std::vector<cost::Parts> &ofReading = reading.emplace_back(cost.inputs().size());
    std::vector<cost::Parts> &ofComputing = computing.emplace_back(pool.graph().size());
    std::vector<cost::Parts> &ofStoring = storing.emplace_back(pool.graph().size());
    for (int node : nodes) {
      for (int input : cost.inputsOf(node))
        ofReading[input] = partsOf(cost.reading(input, frame));
      if (!cost.group(node, frame))
        continue;
      ofComputing[node] = partsOf(cost.computing(node, frame));
      ofStoring[node] = partsOf(cost.storing(node, frame));
    }
  }
}

// Chooses by frame the node that reading an input is counted with, among those that can't compute it there:
// one for which that changes much.
void PartitionFacts::chooseReaders() {
  const OperatorCost &cost = pool.cost();
  size_t frames = pool.memo().frames.size();
  std::vector<SmallVector<int>> users(cost.inputs().size());
  for (int node : nodes)
    for (int input : cost.inputsOf(node))
      if (users[input].empty() || users[input].back() != node)
        users[input].push_back(node);
  auto raisedBy = [&](int node, int input) {
    double raised = 0;
    for (View view : {Computing, Reading}) {
      double without = infinity, with = infinity;
      for (const MemoGroup &group : pool.memo().groups[node]) {
        double computed = costIn(view, computing[group.frame][node]);
        without = std::min(without, computed);
        with = std::min(with, computed + costIn(view, reading[group.frame][input]));
      }
      raised += with - without;
    }
    return raised;
  };
  countedWith.assign(cost.inputs().size(), SmallVector<int>(frames, withOwner));
  hasSeveralReaders.resize(cost.inputs().size());
  reads.assign(cost.inputs().size(), BitVector(frames));
  for (int input = 0; input < static_cast<int>(users.size()); ++input) {
    if (users[input].empty() || !cost.inputs()[input].isArray)
      continue;
    hasSeveralReaders[input] = users[input].size() > 1;
    BitVector always(pool.graph().size());
    for (int node : users[input])
      if (llvm::all_of(pool.memo().groups[node], [&](const MemoGroup &group) {
            return readsInEveryCase(node, group, input);
          }))
        always.set(node);
    SmallVector<int> &apart = readers[input];
    apart = separated.mostAmong(always);
    // With one of these, if there are several: each of the others reads it once more.
    SmallVector<std::pair<double, int>> candidates;
    for (int node : apart.size() > 1 ? apart : users[input])
      candidates.emplace_back(-raisedBy(node, input), node);
    llvm::sort(candidates);
    for (auto [raise, node] : candidates)
      for (const MemoGroup &group : pool.memo().groups[node])
        if (int &counted = countedWith[input][group.frame];
            counted < 0 && readsInEveryCase(node, group, input))
          counted = node;
    for (int node : users[input])
      for (const MemoGroup &group : pool.memo().groups[node])
        if (int &counted = countedWith[input][group.frame];
            counted == withOwner && readsInEveryCase(node, group, input))
          counted = withNone;
    if (apart.size() > 1)
      llvm::erase_if(apart, [&](int node) { return llvm::is_contained(countedWith[input], node); });
    else
      apart.clear();
    for (int node : apart)
      for (const MemoGroup &group : pool.memo().groups[node])
        reads[input].set(group.frame);
    for (auto [frame, node] : llvm::enumerate(countedWith[input]))
      if (node >= 0)
        computing[frame][node] += reading[frame][input];
  }
}

// Whether the node reads the input in the group's frame because it can't compute it there.
bool PartitionFacts::readsInEveryCase(int node, const MemoGroup &group, int input) const {
  for (auto [operand, read] : llvm::enumerate(pool.cost().inputsOf(node)))
    if (read == input && !(group.fusable >> operand & 1))
      return true;
  return false;
}

void PartitionFacts::noteUses() {
  const OperatorCost &cost = pool.cost();
  size_t frames = pool.memo().frames.size();
  uses.resize(pool.graph().size());
  storable.resize(pool.graph().size(), BitVector(frames));
  for (int user : nodes) {
    for (const MemoGroup &group : pool.memo().groups[user])
      storable[user][group.frame] = group.storable;
    ArrayRef<int> producers = pool.graph()[user].producers;
    for (auto [operand, producer] : llvm::enumerate(producers)) {
      if (producer < 0 || !inside[producer])
        continue;
      bool isFirst = !llvm::is_contained(producers.take_front(operand), producer);
      if (isFirst)
        uses[producer].push_back({user, BitVector(frames, true), {}});
      NodeUse &use = uses[producer].back();
      int input = cost.inputsOf(user)[operand];
      for (int frame = 0; frame < static_cast<int>(frames); ++frame) {
        const MemoGroup *group = cost.group(user, frame);
        if (!group || !cost.group(producer, frame) || !(group->fusable >> operand & 1))
          use.fusable.reset(frame);
        if (!isFirst)
          continue;
        bool isExtra = countedWith[input][frame] == withOwner;
        for (View view : {Computing, Reading})
          use.reading[view].push_back(isExtra ? costIn(view, reading[frame][input]) : 0);
      }
    }
  }
}

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
  addUp(Computing);
  addUp(Reading);
}

PlanBound::PlanBound(const PlanBound &bound, int node, Storing storing) : PlanBound(bound) {
  storing_[node] = storing;
  allow();
  if (!addUp(Computing) || !addUp(Reading))
    nanoseconds_ = infinity;
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
  double writing = infinity;
  for (int frame : allowed_[index].set_bits()) {
    double computed = costIn(view, facts_->computing[frame][index]);
    for (auto [operand, producer] : llvm::enumerate(node.producers))
      if (producer >= 0 && facts_->inside[producer] && owner_[view][producer] == index &&
          !llvm::is_contained(ArrayRef<int>(node.producers).take_front(operand), producer))
        computed += costs_[view][producer].owned[frame];
    costs.inFrame[frame] = computed;
    if (storing_[index] == Storing::Inside || !facts_->storable[index][frame])
      continue;
    double written = facts_->storing[frame][index].writing;
    writing = std::min(writing, written);
    // What has to be stored is paid for only once, below.
    costs.stored =
        std::min(costs.stored, computed + (storing_[index] == Storing::Stored ? 0 : written));
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
  unowned_[view][index] = (isStored ? writing : 0) + (owner ? 0 : costs.stored);
}

bool PlanBound::addUp(View view) {
  const OperatorPool &pool = facts_->pool;
  size_t size = pool.graph().size();
  costs_[view].resize(size);
  unowned_[view].assign(size, 0);
  owner_[view].assign(size, -1);
  double sum = 0;
  for (int node : facts_->nodes) {
    if (allowed_[node].none())
      return false;
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
  nanoseconds_ = std::max(
      nanoseconds_,
      static_cast<double>(facts_->launched.size()) * pool.machine().launchNanoseconds + sum);
  return true;
}
