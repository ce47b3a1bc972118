#include "fusion/select/PlanBound.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- facts ---------------------------------------------------------------------------------===//

PartitionFacts::PartitionFacts(const OperatorPool &pool, ArrayRef<int> nodes)
    : pool(pool), nodes(nodes), inside(pool.graph().size()), separated(pool.graph().size()),
      readers(pool.cost().inputs().size()) {
  for (int node : nodes)
    inside.set(node);
  separate();
  launched = separatedAmong(inside);
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
        most = std::max(most, hideableIn(view, inFrame[index]));
      return most;
    };
    for (int node : nodes) {
      hidden[view][node] = most(computing, node) + most(storing, node);
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

// Counts reading an input with one of the nodes that never compute it, in the node's frame: one for which
// that changes much.
void PartitionFacts::chooseReaders() {
  const OperatorCost &cost = pool.cost();
  std::vector<BitVector> always(cost.inputs().size(), BitVector(pool.graph().size()));
  SmallVector<int> lastReader(cost.inputs().size(), -1);
  hasSeveralReaders.resize(cost.inputs().size());
  for (int node : nodes)
    for (auto [operand, input] : llvm::enumerate(cost.inputsOf(node))) {
      if (lastReader[input] >= 0 && lastReader[input] != node)
        hasSeveralReaders.set(input);
      lastReader[input] = node;
      if (llvm::none_of(pool.memo().groups[node],
                        [&](const MemoGroup &group) { return group.fusable >> operand & 1; }))
        always[input].set(node);
    }
  auto raisedBy = [&](int node, size_t input) {
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
  countedWith.assign(cost.inputs().size(), -1);
  for (size_t input = 0; input < always.size(); ++input) {
    reads.emplace_back(pool.memo().frames.size());
    if (!cost.inputs()[input].isArray)
      continue;
    if (!hasSeveralReaders[input]) {
      countedWith[input] = lastReader[input];
      continue;
    }
    if (always[input].none())
      continue;
    readers[input] = separatedAmong(always[input]);
    if (readers[input].size() == 1)
      readers[input].assign(always[input].set_bits_begin(), always[input].set_bits_end());
    auto chosen = std::max_element(readers[input].begin(), readers[input].end(), [&](int a, int b) {
      return raisedBy(a, input) < raisedBy(b, input);
    });
    countedWith[input] = *chosen;
    readers[input] = separatedAmong(always[input]);
    llvm::erase(readers[input], countedWith[input]);
    if (readers[input].size() == 1 && !separated[readers[input][0]][countedWith[input]])
      readers[input].clear();
    for (int node : readers[input])
      for (const MemoGroup &group : pool.memo().groups[node])
        reads[input].set(group.frame);
  }
  for (int node : nodes) {
    ArrayRef<int> inputs = cost.inputsOf(node);
    for (auto [operand, input] : llvm::enumerate(inputs))
      for (const MemoGroup &group : pool.memo().groups[node])
        if (countedWith[input] == node && !(group.fusable >> operand & 1) &&
            !llvm::is_contained(inputs.take_front(operand), input))
          computing[group.frame][node] += reading[group.frame][input];
  }
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
      bool isCounted = countedWith[input] >= 0 && countedWith[input] != user;
      for (int frame = 0; frame < static_cast<int>(frames); ++frame) {
        const MemoGroup *group = cost.group(user, frame);
        bool isFusable = group && cost.group(producer, frame) && (group->fusable >> operand & 1);
        if (!isFusable)
          use.fusable.reset(frame);
        // In frames in which the user can't compute it, its computing has the reading.
        bool isExtra = isFirst && !isCounted && (countedWith[input] < 0 || isFusable);
        for (View view : {Computing, Reading})
          if (isFirst)
            use.reading[view].push_back(isExtra ? costIn(view, reading[frame][input]) : 0);
      }
    }
  }
}

//===- operations of different operators -----------------------------------------------------===//

// Finds the operations that no operator can contain together: because no frame allows both, or because
// one needs a result that depends on the other and that can't be computed in the same operator. If it
// is computed in several, this holds for the first operator that computes it.
void PartitionFacts::separate() {
  const BlockGraph &graph = pool.graph();
  size_t frames = pool.memo().frames.size(), size = graph.size();
  BitVector natives(frames);
  for (auto [number, frame] : llvm::enumerate(pool.memo().frames))
    natives[number] = frame.isNative;
  std::vector<BitVector> loops(size, BitVector(frames)); // frames that allow several operations
  for (int node : nodes) {
    separated[node].resize(size);
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
        separated[first].set(index);
        separated[index].set(first);
      }
    }
  }
}

// Many of the candidates that are separated from each other; as many as possible, by a greedy search
// that begins with each of the most promising ones.
SmallVector<int> PartitionFacts::separatedAmong(const BitVector &candidates) const {
  auto mostSeparated = [&](const BitVector &among) {
    int best = -1, most = -1;
    for (int node : among.set_bits()) {
      BitVector others = separated[node];
      others &= among;
      if (auto count = static_cast<int>(others.count()); count > most) {
        most = count;
        best = node;
      }
    }
    return best;
  };
  constexpr int mostBeginnings = 4;
  SmallVector<int> best;
  BitVector beginnings = candidates;
  for (int i = 0; i < mostBeginnings && beginnings.any(); ++i) {
    SmallVector<int> chosen{mostSeparated(beginnings)};
    beginnings.reset(chosen.front());
    BitVector left = candidates;
    left &= separated[chosen.front()];
    while (left.any()) {
      chosen.push_back(mostSeparated(left));
      left &= separated[chosen.back()];
    }
    if (chosen.size() > best.size())
      best = chosen;
  }
  return best;
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
    double written = costIn(view, facts_->storing[frame][index]);
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
