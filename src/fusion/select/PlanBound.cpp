#include "fusion/select/PlanBound.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- decisions -----------------------------------------------------------------------------===//

PlanBound::PlanBound(const PartitionFacts &facts)
    : facts_(&facts), slots_(facts.slots.size()), shares_(facts),
      storing_(facts.pool.graph().size(), Storing::Open),
      allowed_(facts.pool.graph().size(), BitVector(facts.slots.size())) {
  for (int node : facts.nodes) {
    if (facts.pool.mustBeStored(node))
      storing_[node] = Storing::Stored;
    for (auto [number, slot] : llvm::enumerate(facts.slots))
      allowed_[node][number] = slot.allowed[node];
  }
  size_t size = facts.pool.graph().size();
  inSlot_.assign(size * facts.slots.size(), infinity);
  stored_.assign(size, infinity);
  storedIn_.assign(size, -1);
  paidIn_.assign(size, -1);
  paidByPlan_.assign(size, 0);
  for (const InputReading &reading : facts.readings) {
    reading_.emplace_back(reading.readers.size());
    readerShares_.emplace_back(reading.readers.size());
  }
  startWith(1);
  PlanBound moving = *this;
  moving.startWith(0);
  if (moving.nanoseconds_ > nanoseconds_)
    *this = std::move(moving);
}

// Begins with one weight of computing for all slots, and with operands that one of their users pays alone.
void PlanBound::startWith(double computing) {
  std::fill(shares_.computing.begin(), shares_.computing.end(), computing);
  payReaders();
  for (int node : facts_->nodes) {
    addNode(node);
    chooseOwner(node);
  }
  addUp();
}

// Has the user pay for the node for which it is dearest, in the best slot of this user; or the plan.
void PlanBound::chooseOwner(int node) {
  bool isStored = storing_[node] == Storing::Stored;
  double most = isStored ? stored_[node] : 0;
  int owner = -1;
  for (int number : facts_->usesOf[node]) {
    const NodeUse &use = facts_->uses[number];
    double least = infinity;
    for (int slot : allowed_[use.user].set_bits()) {
      double read = stored_[node] + paidReading(use.readers[slot]);
      least =
          std::min(least, use.fusable[slot] ? std::min(read, inSlot_[node * slots_ + slot]) : read);
    }
    if (least > most || (owner < 0 && !isStored)) {
      most = least;
      owner = number;
    }
    shares_.ofUse[number] = 0;
  }
  shares_.ofStored[node] = owner < 0 ? 1 : 0;
  if (owner >= 0)
    shares_.ofUse[owner] = 1;
}

PlanBound::PlanBound(const PlanBound &bound, CostShares shares) : PlanBound(bound) {
  shares_ = std::move(shares);
  payReaders();
  addUp();
}

PlanBound::PlanBound(const PlanBound &bound, int node, Storing storing) : PlanBound(bound) {
  storing_[node] = storing;
  length_ = StepLength();
  addUp(std::min(node, allow()));
  nanoseconds_ = std::max(nanoseconds_, bound.nanoseconds_);
}

// Leaves out the slots of which the decisions leave no operator. Gives the first node for which that
// changes anything.
int PlanBound::allow() {
  bool changed = true;
  int first = std::numeric_limits<int>::max();
  auto keep = [&](int node, const BitVector &slots) {
    size_t before = allowed_[node].count();
    allowed_[node] &= slots;
    if (allowed_[node].count() == before)
      return;
    changed = true;
    first = std::min(first, node);
  };
  while (changed) {
    changed = false;
    for (int index : llvm::reverse(facts_->nodes)) {
      bool isInside = storing_[index] == Storing::Inside;
      BitVector slots(slots_), common = allowed_[index];
      for (auto [number, slot] : llvm::enumerate(facts_->slots))
        slots[number] = !isInside && slot.storable[index];
      for (int number : facts_->usesOf[index]) {
        const NodeUse &use = facts_->uses[number];
        BitVector fused = use.fusable;
        fused &= allowed_[index];
        fused &= allowed_[use.user];
        slots |= fused;
        common &= fused;
        if (isInside)
          keep(use.user, fused);
      }
      keep(index, slots);
      // A sum has one value, so one operator contains all its users.
      if (isInside && facts_->pool.isAddedUp(index) &&
          llvm::none_of(common.set_bits(), [&](int slot) {
            return facts_->pool.cost().group(index, facts_->slots[slot].frame)->isSampled;
          })) {
        keep(index, common);
        for (int use : facts_->usesOf[index])
          keep(facts_->uses[use].user, common);
      }
    }
  }
  return first;
}

//===- the bound -----------------------------------------------------------------------------===//

double PlanBound::paidInside(int use, int slot) const {
  const NodeUse &of = facts_->uses[use];
  double inSlot = inSlot_[of.producer * slots_ + slot];
  return of.fusable[slot] && inSlot < infinity ? shares_.ofUse[use] * inSlot + charges_[use]
                                               : infinity;
}

double PlanBound::paidStored(int use) const {
  double stored = stored_[facts_->uses[use].producer];
  return stored < infinity ? shares_.ofUse[use] * stored : infinity;
}

void PlanBound::payReaders() {
  charges_.assign(facts_->uses.size(), 0);
  for (auto [number, exclusive] : llvm::enumerate(facts_->exclusiveUses))
    for (int use : exclusive.uses)
      charges_[use] += takenOff(static_cast<int>(number));
  for (auto [number, reading] : llvm::enumerate(facts_->readings)) {
    for (auto [cost, parts] : llvm::zip(reading_[number], reading.parts))
      cost = shares_.costIn(reading.slot, parts);
    SmallVector<double> &shares = readerShares_[number];
    std::fill(shares.begin(), shares.end(), 0);
    for (auto [share, readers] : llvm::zip(shares_.ofReaders[number], reading.exclusives))
      for (int reader : readers)
        shares[reader] += share;
  }
}

void PlanBound::addNode(int node) {
  double *inSlot = &inSlot_[node * slots_];
  std::fill_n(inSlot, slots_, infinity);
  stored_[node] = infinity;
  bool isStored = storing_[node] == Storing::Stored;
  double byPlan = infinity;
  for (int slot : allowed_[node].set_bits()) {
    double computed = shares_.costIn(slot, facts_->computing[slot][node]);
    for (const InputReader &reader : facts_->outside[node][slot])
      computed += paidReading(reader);
    for (int use : facts_->usesBy[node])
      computed += paid(use, slot);
    inSlot[slot] = computed;
    if (storing_[node] == Storing::Inside || !facts_->slots[slot].storable[node])
      continue;
    double storing = shares_.costIn(slot, facts_->storing[slot][node]);
    if (double stored = computed + (isStored ? 0 : storing); stored < stored_[node]) {
      stored_[node] = stored;
      storedIn_[node] = slot;
    }
    if (double paid = shares_.ofStored[node] * computed + storing; isStored && paid < byPlan) {
      byPlan = paid;
      paidIn_[node] = slot;
    }
  }
  paidByPlan_[node] = isStored ? byPlan : 0;
}

void PlanBound::addUp(int first) {
  nanoseconds_ =
      static_cast<double>(facts_->launched.size()) * facts_->pool.machine().launchNanoseconds;
  for (int number = 0; number < static_cast<int>(facts_->exclusiveUses.size()); ++number)
    nanoseconds_ -= takenOff(number);
  for (int node : facts_->nodes) {
    if (node >= first)
      addNode(node);
    nanoseconds_ += allowed_[node].none() ? infinity : paidByPlan_[node];
  }
}

BitVector PlanBound::storedByChoices() const {
  BitVector stored(facts_->pool.graph().size()), needed(inSlot_.size());
  for (int node : llvm::reverse(facts_->nodes)) {
    if (storing_[node] == Storing::Stored) {
      stored.set(node);
      needed.set(node * slots_ + paidIn_[node]);
    }
    for (int slot : allowed_[node].set_bits())
      if (needed[node * slots_ + slot])
        for (int use : facts_->usesBy[node]) {
          int producer = facts_->uses[use].producer;
          bool isInside = paidInside(use, slot) <= read(use, slot);
          needed.set(producer * slots_ + (isInside ? slot : storedIn_[producer]));
          if (!isInside)
            stored.set(producer);
        }
  }
  return stored;
}

//===- raising it ----------------------------------------------------------------------------===//

// By how much the bound rises with each share, if the choices stay the same.
CostShares PlanBound::slope() const {
  CostShares slope = shares_;
  std::fill(slope.computing.begin(), slope.computing.end(), 0);
  std::fill(slope.ofUse.begin(), slope.ofUse.end(), 0);
  std::fill(slope.ofStored.begin(), slope.ofStored.end(), 0);
  for (auto [change, exclusive] : llvm::zip(slope.ofExclusives, facts_->exclusiveUses))
    change = -exclusive.reading;
  // By reading and reader: the share of the reader's cost that is counted.
  std::vector<SmallVector<double>> readBy;
  for (const SmallVector<double> &shares : readerShares_)
    readBy.emplace_back(shares.size());
  // By node and slot: the share of what computing it there costs that is counted.
  std::vector<double> counted(inSlot_.size());
  auto count = [&](int slot, double share, const cost::Parts &parts) {
    slope.computing[slot] += share * (parts.computing - parts.moving);
  };
  auto countReading = [&](const InputReader &reader, double share) {
    if (reader.reading >= 0)
      readBy[reader.reading][reader.position] += share;
  };
  for (int node : llvm::reverse(facts_->nodes)) {
    double *inSlot = &counted[node * slots_];
    if (storing_[node] == Storing::Stored) {
      int slot = paidIn_[node];
      inSlot[slot] += shares_.ofStored[node];
      slope.ofStored[node] = inSlot_[node * slots_ + slot];
      count(slot, 1, facts_->storing[slot][node]);
    }
    for (int slot : allowed_[node].set_bits()) {
      double share = inSlot[slot];
      if (share == 0)
        continue;
      count(slot, share, facts_->computing[slot][node]);
      for (const InputReader &reader : facts_->outside[node][slot])
        countReading(reader, share);
      for (int number : facts_->usesBy[node]) {
        const NodeUse &use = facts_->uses[number];
        double ofUse = share * shares_.ofUse[number];
        size_t producer = use.producer * slots_;
        if (paidInside(number, slot) <= read(number, slot)) {
          slope.ofUse[number] += share * inSlot_[producer + slot];
          for (int exclusive : facts_->exclusivesOf[number])
            slope.ofExclusives[exclusive] += share * facts_->exclusiveUses[exclusive].reading;
          counted[producer + slot] += ofUse;
          continue;
        }
        int storedIn = storedIn_[use.producer];
        slope.ofUse[number] += share * stored_[use.producer];
        counted[producer + storedIn] += ofUse;
        if (storing_[use.producer] != Storing::Stored)
          count(storedIn, ofUse, facts_->storing[storedIn][use.producer]);
        countReading(use.readers[slot], share);
      }
    }
  }
  for (auto [number, reading] : llvm::enumerate(facts_->readings))
    for (auto [change, readers] : llvm::zip(slope.ofReaders[number], reading.exclusives)) {
      double share = shares_.ofReaders[number][&change - slope.ofReaders[number].begin()];
      change = 0;
      for (int reader : readers) {
        double read = readBy[number][reader];
        change += read * reading_[number][reader];
        count(reading.slot, read * share, reading.parts[reader]);
      }
    }
  return slope;
}

// Steps of subgradient optimization.
void PlanBound::raise(double enough, int steps) {
  PlanBound bound = *this;
  for (int step = 0; step < steps && nanoseconds_ < enough; ++step) {
    double rise = bound.length_.value() * (enough - bound.nanoseconds_);
    if (!bound.shares_.moveAlong(bound.slope(), rise, *facts_))
      return;
    bound.payReaders();
    bound.addUp();
    bool isHigher = bound.nanoseconds_ > nanoseconds_ * (1 + 1e-7);
    bound.length_.note(isHigher);
    if (isHigher)
      *this = bound;
  }
  length_ = bound.length_;
}
