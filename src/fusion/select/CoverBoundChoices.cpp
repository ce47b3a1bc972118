// What a bound of an unfinished cover can choose from, and the shares that it begins with.
#include "fusion/select/CoverBound.h"

#include <numeric>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

//===- what is split -------------------------------------------------------------------------===//

void CoverBound::split(ArrayRef<int> operators) {
  SmallVector<EntryPattern> drivers;
  auto groupOf = [&](int frame) {
    const EntryPattern &driver = facts_.pool.memo().frames[frame].driver;
    auto *known = llvm::find(drivers, driver);
    if (known == drivers.end())
      known = &drivers.emplace_back(driver);
    return static_cast<int>(known - drivers.begin());
  };
  for (const OperatorSlot &slot : facts_.slots)
    groupOfSlot_.push_back(groupOf(slot.frame));
  groups_ = static_cast<int>(drivers.size());
  plannedIn_.resize(groups_);
  for (int id : operators)
    for (int node : facts_.pool[id].members.set_bits())
      plannedIn_[groupOf(facts_.pool[id].frame)].set(places_[node]);
  Nodes planned;
  for (const Nodes &nodes : plannedIn_) {
    split_ |= planned & nodes & ~computedOnce_;
    planned |= nodes;
  }
}

//===- what may be chosen --------------------------------------------------------------------===//

void CoverBound::addColumns(Level &level, size_t left, const UnfinishedCover &cover) const {
  level.columns.clear();
  const Nodes notPlaced = Nodes().set() >> (UnfinishedCover::mostNodes - left);
  for (auto [slot, allowed] : llvm::enumerate(allowed_))
    if ((allowed & notPlaced).any())
      level.columns.push_back({static_cast<int>(slot)});
  for (auto [number, op] : llvm::enumerate(cover.operators)) {
    Nodes waits = cover.waitsOf(static_cast<int>(number)),
          excluded = ((waits | op.separated) & computedOnce_) | op.reads;
    waits |= op.reads | op.leaves;
    for (auto [index, option] : llvm::enumerate(op.options)) {
      level.columns.push_back({option.slot,
                               static_cast<int>(number),
                               static_cast<int>(index),
                               excluded,
                               waits,
                               {},
                               &option.read});
      if (facts_.pool.memo().frames[option.frame].isNative)
        level.columns.back().excluded.set();
    }
  }
}

bool CoverBound::isFusable(const Payer &payer, int slot) const {
  return llvm::all_of(payer.uses, [&](const NodeUse *use) { return use->fusable[slot]; });
}

void CoverBound::addPayers(Level &level, size_t left, const UnfinishedCover &cover) const {
  level.payers.clear();
  level.firstPayer.assign(1, 0);
  for (size_t place = 0; place < left; ++place) {
    int producer = static_cast<int>(place);
    for (int number : facts_.usesOf[nodes_[place]]) {
      const NodeUse &use = facts_.uses[number];
      int user = places_[use.user];
      if (user < static_cast<int>(left)) {
        llvm::SmallDenseSet<int> groups;
        for (auto [slot, allowed] : llvm::enumerate(allowed_))
          if (allowed[user])
            if (int group = split_[user] ? groupOfSlot_[slot] : -1; groups.insert(group).second)
              level.payers.push_back({-1, user, producer, group, {&use}, bound_.charge(number)});
        continue;
      }
      for (auto [op, of] : llvm::enumerate(cover.operators)) {
        if (!of.members[user])
          continue;
        auto *known = std::find_if(
            level.payers.data() + level.firstPayer.back(),
            level.payers.data() + level.payers.size(),
            [&, op = op](const Payer &payer) { return payer.op == static_cast<int>(op); });
        if (known != level.payers.data() + level.payers.size())
          known->uses.push_back(&use);
        else
          known = &level.payers.emplace_back(Payer{static_cast<int>(op), -1, producer, -1, {&use}});
        known->charge += bound_.charge(number); // no operator contains two of exclusive uses
      }
    }
    level.firstPayer.push_back(static_cast<int>(level.payers.size()));
  }
  // What an operator needs it computes inside or, for all uses, reads.
  for (Column &column : level.columns)
    if (column.op >= 0)
      for (const Payer &payer : level.payers)
        if (payer.op == column.op) {
          column.pending.set(payer.producer);
          if (!isFusable(payer, column.slot))
            column.excluded.set(payer.producer);
        }
}

// Whether a node in the column need not pay for reading: it takes no time, or the operator reads it anyway.
bool CoverBound::isRead(const Column &column, const InputReader &reader) const {
  if (reader.reading < 0)
    return true;
  auto [array, producer] = readArrays_[reader.reading];
  return column.op >= 0 && ((*column.read)[array] || (producer >= 0 && column.pending[producer]));
}

void CoverBound::addEntries(Level &level, size_t left, const UnfinishedCover &cover) const {
  size_t columns = level.columns.size();
  level.entries.clear();
  level.needs.clear();
  level.firstEntry.assign(1, 0);
  level.entryOf.assign(left * columns, -1);
  level.payersBy.resize(left);
  for (SmallVector<int, 4> &payers : level.payersBy)
    payers.clear();
  for (auto [number, payer] : llvm::enumerate(level.payers))
    if (payer.user >= 0)
      level.payersBy[payer.user].push_back(static_cast<int>(number));
  auto insideOf = [&](const Payer &payer, size_t column) {
    int entry = level.entryOf[payer.producer * columns + column];
    return entry >= 0 && isFusable(payer, level.columns[column].slot) ? entry : -1;
  };
  for (size_t place = 0; place < left; ++place) {
    int node = nodes_[place];
    for (auto [number, column] : llvm::enumerate(level.columns)) {
      if (!allowed_[column.slot][place] || column.excluded[place])
        continue;
      Entry entry{static_cast<int>(place), static_cast<int>(number),
                  split_[place] ? groupOfSlot_[column.slot] : 0};
      entry.isStorable = bound_.storing(node) != Storing::Inside && !column.waits[place] &&
                         facts_.slots[column.slot].storable[node];
      entry.own = facts_.computing[column.slot][node];
      entry.storing = facts_.storing[column.slot][node];
      for (const InputReader &reader : facts_.outside[node][column.slot])
        if (!isRead(column, reader))
          entry.own += ofReaders_[reader.reading][reader.position];
      entry.firstNeed = static_cast<int>(level.needs.size());
      for (int payer : level.payersBy[place]) {
        const Payer &of = level.payers[payer];
        if (of.group >= 0 && of.group != entry.group)
          continue;
        Need &need = level.needs.emplace_back(Need{payer, insideOf(of, number), {}});
        if (const InputReader &reader = of.uses.front()->readers[column.slot];
            !isRead(column, reader))
          need.reading = ofReaders_[reader.reading][reader.position];
      }
      entry.endNeed = static_cast<int>(level.needs.size());
      level.entryOf[place * columns + number] = static_cast<int>(level.entries.size());
      level.entries.push_back(entry);
    }
    level.firstEntry.push_back(static_cast<int>(level.entries.size()));
  }
  // Unfinished operators read their operands once.
  level.needsOf.assign(columns, {});
  for (auto [number, column] : llvm::enumerate(level.columns)) {
    if (column.op < 0)
      continue;
    level.needsOf[number].first = static_cast<int>(level.needs.size());
    for (auto [payer, of] : llvm::enumerate(level.payers))
      if (of.op == column.op) {
        Need need{static_cast<int>(payer), insideOf(of, number), {}};
        need.mustCompute = cover.operators[column.op].computes[of.producer];
        const InputReader &reader = of.uses.front()->readers[column.slot];
        if (reader.reading >= 0 && !(*column.read)[readArrays_[reader.reading].first])
          need.reading = facts_.readings[reader.reading].parts[reader.position];
        level.needs.push_back(need);
      }
    level.needsOf[number].second = static_cast<int>(level.needs.size());
  }
}

// Begins with the shares of PlanBound. Where a node is split, those pay in a group of whom the best plan known says that
// they use it there, if there are any.
void CoverBound::startWithPlan(Level &level) const {
  for (auto [share, column] : llvm::zip(level.shares.computing, level.columns))
    share = bound_.shares().computing[column.slot];
  for (int place = 0; place + 1 < static_cast<int>(level.firstEntry.size()); ++place) {
    int first = level.firstPayer[place], end = level.firstPayer[place + 1];
    SmallVector<double> given;
    for (int payer = first; payer < end; ++payer)
      given.push_back(bound_.shares().ofUse[level.payers[payer].uses.front() - facts_.uses.data()]);
    if (double sum = std::accumulate(given.begin(), given.end(), 0.0); sum > 0)
      for (int payer = first; payer < end; ++payer)
        level.shares.storing[payer] = given[payer - first] / sum;
    for (int group = 0; group < groupsOf(place); ++group)
      startWithPlan(level, place, group, given);
  }
}

// `given` by the payers of the place: the shares of PlanBound.
void CoverBound::startWithPlan(Level &level, int place, int group, ArrayRef<double> given) const {
  Shares &shares = level.shares;
  int first = level.firstPayer[place], end = level.firstPayer[place + 1];
  if (first == end && !mustBeStored(place))
    return;
  auto isPlanned = [&](int payer) {
    int user = level.payers[payer].user, own = level.payers[payer].group;
    if (!split_[place])
      return own < 0 || plannedIn_[own][user];
    return own < 0 ? plannedIn_[group][user] : own == group;
  };
  SmallVector<double> pays;
  for (int payer = first; payer < end; ++payer)
    pays.push_back(isPlanned(payer) ? 1 : 0);
  if (!llvm::is_contained(pays, 1))
    std::fill(pays.begin(), pays.end(), 1);
  SmallVector<double> paid;
  for (auto [who, share] : llvm::zip_equal(pays, given))
    paid.push_back(who * share);
  double ofPlan = bound_.shares().ofStored[nodes_[place]],
         sum = std::accumulate(paid.begin(), paid.end(), ofPlan);
  if (sum <= 0) { // PlanBound has others pay
    paid = pays;
    sum = std::accumulate(paid.begin(), paid.end(), 0.0);
  }
  shares.planOperands[inGroup(place, group)] = ofPlan / sum;
  for (int payer = first; payer < end; ++payer)
    shares.operands[inGroup(payer, group)] = paid[payer - first] / sum;
  for (int number = level.firstEntry[place]; number < level.firstEntry[place + 1]; ++number) {
    if (level.entries[number].group != group)
      continue;
    shares.planOwn[number] = ofPlan / sum;
    for (int payer = first; payer < end; ++payer)
      shares.own[level.firstShare[payer] + number - level.firstEntry[place]] =
          paid[payer - first] / sum;
  }
}

// Takes over the shares of the cover that this one was made of. What a node paid that has been placed is paid by the
// operators that contain it; and new operators begin like any new one in their slot.
void CoverBound::startShares(size_t depth, const UnfinishedCover &cover) {
  Level &level = levels_[depth];
  Shares &shares = level.shares;
  size_t left = nodes_.size() - depth, columns = level.columns.size();
  level.firstShare.assign(1, 0);
  for (const Payer &payer : level.payers)
    level.firstShare.push_back(level.firstShare.back() + level.firstEntry[payer.producer + 1] -
                               level.firstEntry[payer.producer]);
  shares.computing.resize(columns);
  shares.own.assign(level.firstShare.back(), 0);
  shares.operands.assign(inGroup(level.payers.size(), 0), 0);
  shares.planOwn.assign(level.entries.size(), 0);
  shares.planOperands.assign(inGroup(left, 0), 0);
  shares.storing.assign(level.payers.size(), 0);
  auto entriesOf = [&](int place) {
    return llvm::seq(level.firstEntry[place], level.firstEntry[place + 1]);
  };
  if (depth == 0)
    return startWithPlan(level);
  const Level &before = levels_[depth - 1];
  SmallVector<int, 16> from(columns, -1);
  for (auto [number, column] : llvm::enumerate(level.columns)) {
    for (auto [other, of] : llvm::enumerate(before.columns))
      if (of.slot == column.slot && (of.op == column.op || of.op < 0))
        from[number] = static_cast<int>(other); // those of operators follow
    shares.computing[number] = from[number] < 0 ? bound_.shares().computing[column.slot]
                                                : before.shares.computing[from[number]];
  }
  SmallVector<int, 128> entryBefore; // by entry
  for (const Entry &entry : level.entries) {
    int column = from[entry.column];
    entryBefore.push_back(
        column < 0 ? -1 : before.entryOf[entry.place * before.columns.size() + column]);
  }
  std::copy_n(before.shares.planOperands.begin(), shares.planOperands.size(),
              shares.planOperands.begin());
  for (auto [share, other] : llvm::zip(shares.planOwn, entryBefore))
    if (other >= 0)
      share = before.shares.planOwn[other];
  auto placed = static_cast<int>(left);
  // Whether an operator computes the node that has been placed, in columns of this group (-1: any).
  auto computes = [&](const UnfinishedCover::Operator &op, int group) {
    auto isInGroup = [&](const UnfinishedCover::Option &option) {
      return groupOfSlot_[option.slot] == group;
    };
    return op.members[placed] && (group < 0 || llvm::any_of(op.options, isInGroup));
  };
  auto computing = [&](int group) {
    return static_cast<double>(llvm::count_if(
        cover.operators, [&](const UnfinishedCover::Operator &op) { return computes(op, group); }));
  };
  // What a node paid in a group the operators pay together that compute it there, or else anywhere.
  auto partOf = [&](int op, int group) {
    if (computing(group) == 0)
      group = -1;
    return computes(cover.operators[op], group) ? 1 / computing(group) : 0;
  };
  for (auto [number, payer] : llvm::enumerate(level.payers))
    for (int other :
         llvm::seq(before.firstPayer[payer.producer], before.firstPayer[payer.producer + 1])) {
      const Payer &of = before.payers[other];
      bool isSame = of.op == payer.op && of.user == payer.user && of.group == payer.group;
      double part = isSame ? 1 : 0;
      if (of.user == placed && payer.op >= 0)
        part = partOf(payer.op, of.group);
      if (part == 0)
        continue;
      shares.storing[number] += part * before.shares.storing[other];
      for (int group = 0; group < groups_; ++group)
        shares.operands[inGroup(number, group)] +=
            part * before.shares.operands[inGroup(other, group)];
      double *own = &shares.own[level.firstShare[number]] - level.firstEntry[payer.producer];
      const double *ownBefore =
          &before.shares.own[before.firstShare[other]] - before.firstEntry[payer.producer];
      for (int entry : entriesOf(payer.producer))
        if (int at = entryBefore[entry]; at >= 0)
          own[entry] += part * ownBefore[at];
    }
}
