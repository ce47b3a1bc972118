#include "fusion/select/CoverBound.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr double infinity = std::numeric_limits<double>::infinity();

CoverBound::CoverBound(const PlanBound &bound, ArrayRef<int> nodes, ArrayRef<int> places,
                       ArrayRef<int> arrays, ArrayRef<int> operators)
    : bound_(bound), facts_(bound.facts()), nodes_(nodes), places_(places),
      launch_(facts_.pool.machine().launchNanoseconds), allowed_(facts_.slots.size()),
      levels_(nodes.size() + 1) {
  for (int node : facts_.launched)
    launched_.set(places[node]);
  for (auto [number, reading] : llvm::enumerate(facts_.readings)) {
    int producer = facts_.pool.cost().inputs()[reading.input].producer;
    readArrays_.emplace_back(arrays[reading.input], producer < 0 ? -1 : places[producer]);
    SmallVector<cost::Parts> &parts = ofReaders_.emplace_back();
    for (int position = 0; position < static_cast<int>(reading.readers.size()); ++position) {
      double share = bound.shareOfReading({static_cast<int>(number), position});
      const cost::Parts &whole = reading.parts[position];
      parts.push_back({whole.overhead * share, whole.moving * share, whole.computing * share});
    }
  }
  for (auto [place, node] : llvm::enumerate(nodes)) {
    computedOnce_[place] = facts_.isComputedOnce(node);
    for (size_t slot = 0; slot < allowed_.size(); ++slot)
      allowed_[slot][place] = bound.allows(node, static_cast<int>(slot));
  }
  split(operators);
}

//===- the bound -----------------------------------------------------------------------------===//

// What a payer pays if the operand is computed in its column.
double CoverBound::inside(const Level &level, const Need &need) const {
  if (need.inside < 0)
    return infinity;
  const Entry &entry = level.entries[need.inside];
  if (entry.operandsCost == infinity) // a share of 0 is no way to compute it
    return infinity;
  size_t share = level.firstShare[need.payer] + need.inside - level.firstEntry[entry.place];
  return level.shares.own[share] * entry.ownCost +
         level.shares.operands[inGroup(need.payer, entry.group)] * entry.operandsCost +
         level.payers[need.payer].charge;
}

// What it pays if it reads the operand.
double CoverBound::read(const Need &need, double computing) const {
  return need.mustCompute ? infinity : read_[need.payer] + meanOf(need.reading, computing);
}

// What the plan pays if the node of the entry is stored there.
double CoverBound::paidByPlan(const Level &level, int number) const {
  const Entry &entry = level.entries[number];
  return level.shares.planOwn[number] * entry.ownCost +
         level.shares.planOperands[inGroup(entry.place, entry.group)] * entry.operandsCost +
         meanOf(entry.storing, level.shares.computing[entry.column]);
}

// Operators that are still needed for nodes of which none contains two.
double CoverBound::launches(size_t left, const UnfinishedCover &cover) const {
  const Nodes open = launched_ & (Nodes().set() >> (UnfinishedCover::mostNodes - left));
  auto launches = static_cast<int>(open.count());
  for (const UnfinishedCover::Operator &op : cover.operators)
    launches -= llvm::any_of(op.options, [&](const UnfinishedCover::Option &option) {
      return !facts_.pool.memo().frames[option.frame].isNative &&
             (allowed_[option.slot] & ~op.separated & open).any();
    });
  return std::max(0, launches) * launch_;
}

// What is taken off for charges of uses of nodes that are not placed.
double CoverBound::takenOff(size_t left) const {
  double sum = 0;
  for (auto [number, exclusive] : llvm::enumerate(facts_.exclusiveUses))
    if (places_[exclusive.producer] < static_cast<int>(left))
      sum += bound_.takenOff(static_cast<int>(number));
  return sum;
}

double CoverBound::addUp(Level &level, const UnfinishedCover &cover) {
  const Shares &shares = level.shares;
  size_t left = level.firstEntry.size() - 1;
  read_.assign(level.payers.size(), infinity);
  readFrom_.assign(level.payers.size(), -1);
  paidIn_.assign(left, -1);
  byPlan_.assign(left, 0);
  chosen_.assign(cover.operators.size(), -1);
  double total = launches(left, cover) - takenOff(left);
  for (size_t place = 0; place < left; ++place) {
    bool isStored = mustBeStored(static_cast<int>(place));
    double byPlan = infinity;
    for (int number = level.firstEntry[place]; number < level.firstEntry[place + 1]; ++number) {
      Entry &entry = level.entries[number];
      double weight = shares.computing[entry.column];
      entry.ownCost = meanOf(entry.own, weight);
      entry.operandsCost = 0;
      for (int index = entry.firstNeed; index < entry.endNeed; ++index) {
        const Need &need = level.needs[index];
        entry.operandsCost += std::min(inside(level, need), read(need, weight));
      }
      if (!entry.isStorable || entry.operandsCost == infinity)
        continue;
      double storing = meanOf(entry.storing, weight);
      if (double paid = paidByPlan(level, number); isStored && paid < byPlan) {
        byPlan = paid;
        paidIn_[place] = number;
      }
      for (int payer = level.firstPayer[place]; payer < level.firstPayer[place + 1]; ++payer) {
        double pays =
            shares.own[level.firstShare[payer] + number - level.firstEntry[place]] * entry.ownCost +
            shares.operands[inGroup(payer, entry.group)] * entry.operandsCost +
            (isStored ? 0 : shares.storing[payer] * storing);
        if (pays < read_[payer]) {
          read_[payer] = pays;
          readFrom_[payer] = number;
        }
      }
    }
    byPlan_[place] = isStored ? byPlan : 0;
    total += byPlan_[place];
  }
  SmallVector<double, 8> least(cover.operators.size(), infinity);
  taken_.assign(level.columns.size(), infinity);
  for (auto [number, column] : llvm::enumerate(level.columns)) {
    if (column.op < 0)
      continue;
    double weight = shares.computing[number];
    double sum = launch_ + meanOf(cover.operators[column.op].options[column.option].parts, weight);
    for (int index = level.needsOf[number].first; index < level.needsOf[number].second; ++index) {
      const Need &need = level.needs[index];
      sum += std::min(inside(level, need), read(need, weight));
    }
    taken_[number] = sum;
    if (sum < least[column.op]) {
      least[column.op] = sum;
      chosen_[column.op] = static_cast<int>(number);
    }
  }
  for (double sum : least)
    total += sum;
  return total;
}

// Decides by what another choice would cost (reduced costs): if that is at least `most` above what the bound
// counts, no cover with it is cheap enough.
void CoverBound::decide(const Level &level, double most) {
  struct Choice {
    double inside = infinity, read = infinity;
  };
  std::vector<Choice> choices(level.payers.size());
  for (auto [number, column] : llvm::enumerate(level.columns)) {
    if (column.op < 0)
      continue;
    double more = taken_[number] - taken_[chosen_[column.op]];
    if (more >= most)
      decided_[column.op].hopeless.set(column.option);
    for (int index = level.needsOf[number].first; index < level.needsOf[number].second; ++index) {
      const Need &need = level.needs[index];
      double inside = this->inside(level, need),
             read = this->read(need, level.shares.computing[number]);
      Choice &choice = choices[need.payer];
      choice.inside = std::min(choice.inside,
                               inside == infinity ? infinity : more + std::max(0.0, inside - read));
      choice.read =
          std::min(choice.read, read == infinity ? infinity : more + std::max(0.0, read - inside));
    }
  }
  for (auto [payer, choice] : llvm::zip(level.payers, choices))
    if (payer.op >= 0) {
      if (choice.inside >= most)
        decided_[payer.op].reads.set(payer.producer);
      if (choice.read >= most)
        decided_[payer.op].computes.set(payer.producer);
    }
  for (size_t place = 0; place < paidIn_.size(); ++place) {
    if (!mustBeStored(static_cast<int>(place)))
      continue;
    SmallVector<double, 8> least(decided_.size(), infinity);
    for (int number = level.firstEntry[place]; number < level.firstEntry[place + 1]; ++number) {
      const Entry &entry = level.entries[number];
      const Column &column = level.columns[entry.column];
      if (column.op < 0 || !entry.isStorable || entry.operandsCost == infinity)
        continue;
      least[column.op] = std::min(least[column.op], paidByPlan(level, number) - byPlan_[place]);
    }
    for (auto [op, paid] : llvm::enumerate(least))
      if (paid >= most)
        decided_[op].leaves.set(place);
  }
}

// By how much the last bound rises with each share, if the choices stay the same.
CoverBound::Shares CoverBound::slope(Level &level, const UnfinishedCover &cover) {
  const Shares &shares = level.shares;
  Shares slope;
  slope.computing.resize(shares.computing.size());
  slope.own.resize(shares.own.size());
  slope.planOwn.resize(shares.planOwn.size());
  slope.operands.resize(shares.operands.size());
  slope.planOperands.resize(shares.planOperands.size());
  slope.storing.resize(shares.storing.size());
  for (Entry &entry : level.entries)
    entry.ownCounted = entry.operandsCounted = 0;
  auto count = [&](int column, double share, const cost::Parts &parts) {
    slope.computing[column] += share * (parts.computing - parts.moving);
  };
  auto pay = [&](int payer, int number, double share) {
    Entry &entry = level.entries[number];
    size_t own = level.firstShare[payer] + number - level.firstEntry[entry.place],
           operands = inGroup(payer, entry.group);
    slope.own[own] += share * entry.ownCost;
    slope.operands[operands] += share * entry.operandsCost;
    entry.ownCounted += share * shares.own[own];
    entry.operandsCounted += share * shares.operands[operands];
  };
  auto choose = [&](const Need &need, int column, double share) {
    double weight = shares.computing[column];
    if (inside(level, need) <= read(need, weight))
      return pay(need.payer, need.inside, share);
    int from = readFrom_[need.payer];
    pay(need.payer, from, share);
    if (const Entry &entry = level.entries[from]; !mustBeStored(entry.place)) {
      slope.storing[need.payer] += share * meanOf(entry.storing, shares.computing[entry.column]);
      count(entry.column, share * shares.storing[need.payer], entry.storing);
    }
    count(column, share, need.reading);
  };
  for (int number : chosen_) {
    const Column &column = level.columns[number];
    count(number, 1, cover.operators[column.op].options[column.option].parts);
    for (int index = level.needsOf[number].first; index < level.needsOf[number].second; ++index)
      choose(level.needs[index], number, 1);
  }
  for (size_t place = paidIn_.size(); place-- > 0;) {
    if (int number = paidIn_[place]; number >= 0) {
      Entry &entry = level.entries[number];
      size_t operands = inGroup(place, entry.group);
      entry.ownCounted += shares.planOwn[number];
      entry.operandsCounted += shares.planOperands[operands];
      slope.planOwn[number] += entry.ownCost;
      slope.planOperands[operands] += entry.operandsCost;
      count(entry.column, 1, entry.storing);
    }
    for (int number = level.firstEntry[place]; number < level.firstEntry[place + 1]; ++number) {
      const Entry &entry = level.entries[number];
      if (entry.ownCounted > 0)
        count(entry.column, entry.ownCounted, entry.own);
      if (entry.operandsCounted > 0)
        for (int index = entry.firstNeed; index < entry.endNeed; ++index)
          choose(level.needs[index], entry.column, entry.operandsCounted);
    }
  }
  return slope;
}

//===- raising it ----------------------------------------------------------------------------===//

// Changes the shares so that the bound would be higher by `rise` if it were linear. False if no step leads higher.
bool CoverBound::move(Level &level, Shares &slope, double rise) const {
  Shares &shares = level.shares;
  SmallVector<ShareSlope> list;
  bool changes = false;
  auto add = [&](double &share, double change) {
    list.push_back({&share, change});
    changes |= change != 0;
  };
  auto forEachCost = [&](auto visit) {
    auto visitList = [&] {
      if (changes && list.size() > 1)
        visit();
      list.clear();
      changes = false;
    };
    for (int place = 0; place + 1 < static_cast<int>(level.firstEntry.size()); ++place) {
      bool isStored = mustBeStored(place);
      auto payers = llvm::seq(level.firstPayer[place], level.firstPayer[place + 1]);
      for (int group = 0; group < groupsOf(place); ++group) {
        if (size_t at = inGroup(place, group); isStored)
          add(shares.planOperands[at], slope.planOperands[at]);
        for (int payer : payers)
          add(shares.operands[inGroup(payer, group)], slope.operands[inGroup(payer, group)]);
        visitList();
      }
      for (int payer : payers)
        add(shares.storing[payer], slope.storing[payer]);
      visitList();
      for (int entry = level.firstEntry[place]; entry < level.firstEntry[place + 1]; ++entry) {
        if (isStored)
          add(shares.planOwn[entry], slope.planOwn[entry]);
        for (int payer : payers) {
          size_t at = level.firstShare[payer] + entry - level.firstEntry[place];
          add(shares.own[at], slope.own[at]);
        }
        visitList();
      }
    }
  };
  double square = 0;
  forEachCost([&] { square += squareOfSlope(list); });
  addSquares(square, shares.computing, slope.computing);
  if (square <= 0)
    return false;
  double step = rise / square;
  moveWeights(shares.computing, slope.computing, step);
  forEachCost([&] { moveShares(list, step); });
  return true;
}

int64_t CoverBound::entriesOfStep() const {
  int64_t entries = 0;
  for (const Nodes &allowed : allowed_)
    entries += static_cast<int64_t>(allowed.count());
  return 3 * entries; // to add up, and for the slope
}

double CoverBound::raise(size_t depth, const UnfinishedCover &cover, double enough, int steps) {
  Level &level = levels_[depth];
  size_t left = nodes_.size() - depth;
  addColumns(level, left, cover);
  addPayers(level, left, cover);
  addEntries(level, left, cover);
  startShares(depth, cover);
  auto entries = static_cast<int64_t>(level.entries.size());
  entriesLookedAt_ += 2 * entries; // to find them, and the shares
  decided_.assign(cover.operators.size(), {});
  for (auto [decided, op] : llvm::zip(decided_, cover.operators))
    decided.hopeless.resize(op.options.size());
  double best = 0;
  Shares highest;
  StepLength length;
  for (int step = 0;; ++step) {
    double nanoseconds = addUp(level, cover);
    entriesLookedAt_ += entries;
    bool isHigher = nanoseconds > best * (1 + 1e-7);
    length.note(isHigher);
    if (isHigher) {
      best = nanoseconds;
      if (best >= enough)
        return best;
      decide(level, enough - best);
      highest = level.shares;
    }
    if (step >= steps)
      break;
    Shares along = slope(level, cover);
    entriesLookedAt_ += 2 * entries;
    if (!move(level, along, length.value() * (enough - nanoseconds)))
      break;
  }
  if (best > 0)
    level.shares = std::move(highest);
  return best;
}
