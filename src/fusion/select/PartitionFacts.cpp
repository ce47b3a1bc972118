#include "fusion/select/PartitionFacts.h"

#include <set>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

PartitionFacts::PartitionFacts(const OperatorPool &pool, ArrayRef<int> nodes)
    : pool(pool), nodes(nodes), inside(pool.graph().size()), slots(operatorSlots(pool, nodes)),
      separated(pool, nodes), usesOf(pool.graph().size()), usesBy(pool.graph().size()),
      outside(pool.graph().size()) {
  for (int node : nodes)
    inside.set(node);
  launched = separated.mostAmong(inside);
  notePartsOfWork();
  noteUses();
  noteReadings();
  noteExclusiveUses();
}

bool PartitionFacts::isComputedOnce(int node) const {
  return pool.isAddedUp(node) &&
         llvm::none_of(pool.memo().groups[node],
                       [](const MemoGroup &group) { return group.isSampled; });
}

bool PartitionFacts::isComputedOnceAtBest(int node) const {
  return isComputedOnce(node) || (!pool.mustBeStored(node) && usesOf[node].size() == 1 &&
                                  isComputedOnceAtBest(uses[usesOf[node].front()].user));
}

// What SeparatedNodes says holds for the first operator that computes the earlier node, so there must be only one.
bool PartitionFacts::areExclusive(int a, int b) const {
  auto [first, second] = std::minmax(a, b);
  return separated.from(first)[second] && isComputedOnceAtBest(first);
}

// Whether an operator in the slot can compute the user and, inside, its operand.
bool PartitionFacts::isFusable(const OperatorSlot &slot, Use use) const {
  int producer = pool.graph()[use.user].producers[use.operand];
  return producer >= 0 && inside[producer] && slot.allowed[use.user] && slot.allowed[producer] &&
         (pool.cost().group(use.user, slot.frame)->fusable >> use.operand & 1);
}

// By node: how many bytes an operator in the slot reads and writes at least if it computes the node. Beside what it
// reads for the node, it writes some result that needs the node.
PartitionFacts::FewestBytes PartitionFacts::fewestBytes(const OperatorSlot &slot) const {
  const OperatorCost &cost = pool.cost();
  std::vector<double> read(pool.graph().size()), written(pool.graph().size(), infinity);
  for (int node : slot.allowed.set_bits())
    for (auto [operand, input] : llvm::enumerate(cost.inputsOf(node))) {
      double bytes = cost.reading(input, slot.frame).bytes();
      if (isFusable(slot, {node, static_cast<int>(operand)}))
        bytes = std::min(bytes, read[pool.graph()[node].producers[operand]]);
      read[node] = std::max(read[node], bytes);
    }
  for (int node : llvm::reverse(nodes)) {
    if (!slot.allowed[node])
      continue;
    if (slot.storable[node])
      written[node] = std::min(written[node], cost.storing(node, slot.frame).bytes());
    for (auto [operand, producer] : llvm::enumerate(pool.graph()[node].producers))
      if (isFusable(slot, {node, static_cast<int>(operand)}))
        written[producer] = std::min(written[producer], written[node]);
  }
  std::replace(written.begin(), written.end(), infinity, 0.0);
  return {std::move(read), std::move(written)};
}

void PartitionFacts::notePartsOfWork() {
  const OperatorCost &cost = pool.cost();
  auto partsOf = [&](const cost::Work &work, double operatorBytes) {
    return cost::leastPartsOf(pool.machine(), work, operatorBytes);
  };
  for (const OperatorSlot &slot : slots) {
    FewestBytes fewest = fewestBytes(slot);
    std::vector<double> &bytes = fewest_.emplace_back(pool.graph().size());
    std::vector<cost::Parts> &ofComputing = computing.emplace_back(pool.graph().size());
    std::vector<cost::Parts> &ofStoring = storing.emplace_back(pool.graph().size());
    for (int node : slot.allowed.set_bits()) {
      bytes[node] = fewest.read[node] + fewest.written[node];
      ofComputing[node] = partsOf(cost.computing(node, slot.frame), bytes[node]);
      const cost::Work &stored = cost.storing(node, slot.frame);
      ofStoring[node] = partsOf(stored, fewest.read[node] + stored.bytes());
    }
  }
}

void PartitionFacts::noteUses() {
  const OperatorCost &cost = pool.cost();
  for (int user : nodes) {
    ArrayRef<int> producers = pool.graph()[user].producers;
    for (auto [operand, producer] : llvm::enumerate(producers)) {
      if (producer < 0 || !inside[producer])
        continue;
      if (!llvm::is_contained(producers.take_front(operand), producer)) {
        auto number = static_cast<int>(uses.size());
        usesOf[producer].push_back(number);
        usesBy[user].push_back(number);
        uses.push_back({user, producer, cost.inputsOf(user)[operand], BitVector(slots.size(), true),
                        SmallVector<InputReader>(slots.size())});
      }
      NodeUse &use = uses[*llvm::find_if(usesBy[user], [&, producer = producer](int number) {
        return uses[number].producer == producer;
      })];
      for (auto [number, slot] : llvm::enumerate(slots))
        if (!isFusable(slot, {user, static_cast<int>(operand)}))
          use.fusable.reset(number);
    }
  }
}

void PartitionFacts::noteReadings() {
  const OperatorCost &cost = pool.cost();
  std::vector<SmallVector<int>> numbers(cost.inputs().size(), SmallVector<int>(slots.size(), -1));
  auto readerOf = [&](int input, int slot, int node) {
    if (!cost.inputs()[input].isArray)
      return InputReader();
    int &number = numbers[input][slot];
    if (number < 0) {
      number = static_cast<int>(readings.size());
      readings.push_back({input, slot, {}, {}, {}});
    }
    InputReading &reading = readings[number];
    if (reading.readers.empty() || reading.readers.back() != node) {
      reading.readers.push_back(node);
      reading.parts.push_back(cost::leastPartsOf(
          pool.machine(), cost.reading(input, slots[slot].frame), fewest_[slot][node]));
    }
    return InputReader{number, static_cast<int>(reading.readers.size()) - 1};
  };
  for (int node : nodes) {
    outside[node].resize(slots.size());
    ArrayRef<int> producers = pool.graph()[node].producers, inputs = cost.inputsOf(node);
    for (auto [number, slot] : llvm::enumerate(slots)) {
      if (!slot.allowed[node])
        continue;
      auto current = static_cast<int>(number);
      for (auto [operand, input] : llvm::enumerate(inputs)) {
        int producer = producers[operand];
        if (llvm::is_contained(inputs.take_front(operand), input) ||
            (producer >= 0 && inside[producer]))
          continue;
        if (InputReader reader = readerOf(input, current, node); reader.reading >= 0)
          outside[node][number].push_back(reader);
      }
      for (int use : usesBy[node])
        uses[use].readers[number] = readerOf(uses[use].input, current, node);
    }
  }
  for (InputReading &reading : readings)
    noteExclusives(reading);
}

// For each use as many others as there are by adding one after the other.
void PartitionFacts::noteExclusiveUses() {
  exclusivesOf.resize(uses.size());
  for (int node : nodes) {
    if (!isComputedOnce(node))
      continue;
    std::set<SmallVector<int>> known;
    for (int begin : usesOf[node]) {
      ExclusiveUses exclusive{node, {begin}, infinity};
      for (int use : usesOf[node])
        if (llvm::all_of(exclusive.uses, [&](int other) {
              return other != use && areExclusive(uses[other].user, uses[use].user);
            }))
          exclusive.uses.push_back(use);
      llvm::sort(exclusive.uses);
      for (int use : exclusive.uses)
        for (const InputReader &reader : uses[use].readers)
          if (reader.reading >= 0)
            exclusive.reading = std::min(exclusive.reading,
                                         readings[reader.reading].parts[reader.position].total());
      if (exclusive.uses.size() < 2 || exclusive.reading == infinity ||
          !known.insert(exclusive.uses).second)
        continue;
      for (int use : exclusive.uses)
        exclusivesOf[use].push_back(static_cast<int>(exclusiveUses.size()));
      exclusiveUses.push_back(std::move(exclusive));
    }
  }
}

// For each reader two sets of readers of which no operator contains two, which are as large as they become by
// adding one after the other. Natives compute one operation each.
void PartitionFacts::noteExclusives(InputReading &reading) const {
  bool isNative = pool.memo().frames[slots[reading.slot].frame].isNative;
  auto areExclusiveHere = [&](int a, int b) {
    return isNative || areExclusive(reading.readers[a], reading.readers[b]);
  };
  auto count = static_cast<int>(reading.readers.size());
  for (int position = 0; position < count; ++position)
    for (bool isReversed : {false, true}) {
      SmallVector<int> exclusive = {position};
      for (int i = 0; i < count; ++i) {
        int other = isReversed ? count - 1 - i : i;
        if (llvm::all_of(exclusive, [&](int member) {
              return member != other && areExclusiveHere(member, other);
            }))
          exclusive.push_back(other);
      }
      llvm::sort(exclusive);
      if (!llvm::is_contained(reading.exclusives, exclusive))
        reading.exclusives.push_back(std::move(exclusive));
    }
}
