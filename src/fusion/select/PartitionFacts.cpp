#include "fusion/select/PartitionFacts.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

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
  for (int view = 0; view < viewCount; ++view) {
    views[view].share.resize(pool.memo().frames.size());
    for (std::vector<std::vector<double>> *costs :
         {&views[view].computing, &views[view].storing, &views[view].reading})
      costs->resize(pool.memo().frames.size());
    for (int frame = 0; frame < static_cast<int>(pool.memo().frames.size()); ++frame)
      setShare(view, frame, view == 0 ? 1 : 0);
  }
}

void PartitionFacts::setShare(int number, int frame, double share) {
  View &view = views[number];
  view.share[frame] = share;
  auto note = [&](std::vector<double> &costs, const std::vector<cost::Parts> &parts) {
    costs.resize(parts.size());
    for (auto [cost, part] : llvm::zip(costs, parts))
      cost = costIn(share, part);
  };
  note(view.computing[frame], computing[frame]);
  note(view.storing[frame], storing[frame]);
  note(view.reading[frame], reading[frame]);
}

void PartitionFacts::noteHidden() {
  const OperatorCost &cost = pool.cost();
  size_t frames = pool.memo().frames.size(), size = pool.graph().size();
  for (Part part : {Computing, Moving}) {
    hidden[part].assign(frames, std::vector<double>(size));
    hiddenReading[part] = hidden[part];
    for (size_t frame = 0; frame < frames; ++frame) {
      auto above = [&](const cost::Parts &parts) {
        double more = parts.moving - parts.computing;
        return std::max(0.0, part == Computing ? more : -more);
      };
      for (int node : nodes) {
        double &most = hidden[part][frame][node];
        most = above(computing[frame][node]) + above(storing[frame][node]);
        for (int input : cost.inputsOf(node)) {
          double read = above(reading[frame][input]);
          most += read;
          if (int producer = cost.inputs()[input].producer; producer >= 0)
            hiddenReading[part][frame][producer] =
                std::max(hiddenReading[part][frame][producer], read);
        }
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
    for (double share : {1, 0}) {
      double without = infinity, with = infinity;
      for (const MemoGroup &group : pool.memo().groups[node]) {
        double computed = costIn(share, computing[group.frame][node]);
        without = std::min(without, computed);
        with = std::min(with, computed + costIn(share, reading[group.frame][input]));
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

void PartitionFacts::count(int input, int frame, int node) {
  int &counted = countedWith[input][frame];
  const cost::Parts &read = reading[frame][input];
  computing[frame][counted] += {-read.overhead, -read.moving, -read.computing};
  computing[frame][node] += read;
  for (View &view : views)
    for (int changed : {counted, node})
      view.computing[frame][changed] = costIn(view.share[frame], computing[frame][changed]);
  counted = node;
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
        uses[producer].push_back({user, cost.inputsOf(user)[operand], BitVector(frames, true),
                                  BitVector(frames, false)});
      NodeUse &use = uses[producer].back();
      for (int frame = 0; frame < static_cast<int>(frames); ++frame) {
        const MemoGroup *group = cost.group(user, frame);
        if (!group || !cost.group(producer, frame) || !(group->fusable >> operand & 1))
          use.fusable.reset(frame);
        if (countedWith[use.input][frame] == withOwner)
          use.readByOwner.set(frame);
      }
    }
  }
}
