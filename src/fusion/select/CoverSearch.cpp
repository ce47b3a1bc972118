#include "fusion/select/CoverSearch.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// What is cheaper by less than this share is left out: the bound adds up the same numbers in another
// order.
static constexpr double equal = 1 - 1e-9;

CoverSearch::CoverSearch(OperatorPool &pool, const PlanBound &bound, ArrayRef<int> nodes,
                         Limits limits)
    : pool_(pool), cost_(pool.cost()), bound_(bound), nodes_(nodes), limits_(limits),
      places_(pool.graph().size(), -1), waitsOf_(pool.graph().size()), storedBy_(nodes.size(), -1),
      cheapest_(limits.cheapest), least_(std::numeric_limits<double>::infinity()) {
  const BlockGraph &graph = pool.graph();
  for (auto [place, node] : llvm::enumerate(nodes))
    places_[node] = static_cast<int>(place);
  for (int index = 0; index < graph.size(); ++index) {
    if (places_[index] >= 0) {
      waitsOf_[index].set(places_[index]);
      continue;
    }
    for (ArrayRef<int> earlier :
         {ArrayRef<int>(graph[index].producers), ArrayRef<int>(graph[index].before)})
      for (int other : earlier)
        if (other >= 0)
          waitsOf_[index] |= waitsOf_[other];
  }
  const PartitionFacts &facts = bound.facts();
  // At depth d the last d nodes are placed.
  notPlaced_.resize(nodes.size() + 1);
  users_.resize(nodes.size() + 1);
  left_.resize(nodes.size() + 1);
  for (size_t depth = nodes.size(); depth-- > 0;) {
    size_t place = nodes.size() - 1 - depth;
    notPlaced_[depth] = notPlaced_[depth + 1];
    notPlaced_[depth].set(place);
    users_[depth] = users_[depth + 1];
    for (int use : facts.usesOf[nodes[place]])
      users_[depth].set(places_[facts.uses[use].user]);
    left_[depth] = left_[depth + 1] + bound.paidByPlan(nodes[place]);
  }
  for (int node : facts.launched)
    launched_.set(places_[node]);
  arrays_.assign(cost_.inputs().size(), -1);
  int arrays = 0;
  for (int node : nodes)
    for (int input : cost_.inputsOf(node))
      if (cost_.inputs()[input].isArray && arrays_[input] < 0)
        arrays_[input] = arrays++;
  separated_.resize(nodes.size());
  allowed_.resize(facts.slots.size());
  for (auto [place, node] : llvm::enumerate(nodes)) {
    computedOnce_[place] = facts.isComputedOnce(node);
    for (int other : facts.separated.from(node).set_bits())
      if (places_[other] >= 0)
        separated_[place].set(places_[other]);
    for (auto [number, slot] : llvm::enumerate(facts.slots))
      allowed_[number][place] =
          bound.allows(node, static_cast<int>(number)) && !pool.memo().frames[slot.frame].isNative;
  }
  noteShared();
}

// Notes which nodes pay for reading an input that others read, too.
void CoverSearch::noteShared() {
  const PartitionFacts &facts = bound_.facts();
  shared_.resize(facts.slots.size());
  for (auto [number, reading] : llvm::enumerate(facts.readings)) {
    if (reading.readers.size() == 1 ||
        pool_.memo().frames[facts.slots[reading.slot].frame].isNative)
      continue;
    int producer = cost_.inputs()[reading.input].producer;
    Shared &shared =
        shared_[reading.slot].emplace_back(Shared{static_cast<int>(number),
                                                  arrays_[reading.input],
                                                  producer < 0 ? -1 : places_[producer],
                                                  {}});
    for (auto [share, readers] : llvm::zip(bound_.shares().ofReaders[number], reading.exclusives)) {
      if (share == 0)
        continue;
      Nodes paying;
      for (int reader : readers)
        paying.set(places_[reading.readers[reader]]);
      shared.readers.emplace_back(paying, share);
    }
  }
}

// Whether the search can number all operations and arrays.
bool CoverSearch::isPossible(const OperatorPool &pool, ArrayRef<int> nodes) {
  llvm::SmallDenseSet<int> arrays;
  for (int node : nodes)
    for (int input : pool.cost().inputsOf(node))
      if (pool.cost().inputs()[input].isArray)
        arrays.insert(input);
  return nodes.size() <= mostNodes && arrays.size() <= mostArrays;
}

std::optional<SmallVector<int>> CoverSearch::run() {
  visit(0);
  if (best_.empty())
    return std::nullopt;
  SmallVector<int> operators;
  for (FusedOperator &op : best_)
    operators.push_back(pool_.add(std::move(op)));
  llvm::sort(operators, [&](int a, int b) { return pool_[a].roots < pool_[b].roots; });
  return operators;
}

// What a draft adds to the bound, with all that its members pay for nodes that are not placed, if of those only
// the wanted ones may join it. Either all it does is counted in the mean. Or all its time, but then what joins
// may cost nothing more. The `users` use nodes that are not placed.
double CoverSearch::leastOf(const Draft &draft, const Nodes &wanted, const Nodes &users) const {
  const PartitionFacts &facts = bound_.facts();
  double least = std::numeric_limits<double>::infinity();
  const Nodes paying = draft.pays & users;
  for (const Option &option : draft.options) {
    double sum = option.least, share = bound_.shares().computing[option.slot];
    Part part = option.parts.computing > option.parts.moving ? Computing : Moving;
    double most = part == Computing ? 1 - share : share;
    if (sum > option.mean) {
      const std::vector<double> &hidden = facts.hidden[part][option.slot],
                                &reading = facts.hiddenReading[part][option.slot];
      for (size_t place = paying._Find_first(); place < mostNodes; place = paying._Find_next(place))
        for (int number : facts.usesBy[nodes_[place]]) {
          const NodeUse &use = facts.uses[number];
          if (placed_[places_[use.producer]])
            continue;
          if (!use.fusable[option.slot] || !wanted[places_[use.producer]])
            sum += bound_.paidStored(number);
          else
            sum += bound_.paid(number, option.slot) -
                   most * bound_.shareOfReading(use.readers[option.slot]) * reading[use.producer];
        }
      if (most > 0)
        for (size_t place = wanted._Find_first(); place < mostNodes && sum > option.mean;
             place = wanted._Find_next(place))
          sum -= most * hidden[nodes_[place]];
    }
    least = std::min(least, std::max(sum, option.mean));
  }
  return least;
}

// What the drafts cost at least, or they and the nodes that are not placed.
double CoverSearch::boundAt(size_t depth) const {
  const Nodes &notPlaced = notPlaced_[depth];
  double total = 0, withLeft = left_[depth];
  auto launches = static_cast<int>((launched_ & notPlaced).count());
  for (const Draft &draft : drafts_) {
    total += draft.nanoseconds;
    withLeft += draft.mean;
    launches -= (draft.mayJoin & notPlaced & launched_).any();
  }
  double launching = std::max(0, launches) * pool_.machine().launchNanoseconds;
  if (double least = launching + std::max(total, withLeft); least >= cheapest_ * equal)
    return least;
  for (const Draft &draft : drafts_)
    withLeft += leastOf(draft, draft.mayCompute & notPlaced, users_[depth]) - draft.mean;
  return launching + std::max(total, withLeft);
}

//===- placing the nodes ---------------------------------------------------------------------===//

void CoverSearch::visit(size_t depth) {
  ++visited_;
  double bound = boundAt(depth);
  if (!limits_.leavesOut) {
    bounds_.resize(depth);
    bounds_.push_back(bound);
  } else if (bound >= cheapest_ * equal) {
    return;
  }
  if (visited_ >= limits_.mostVisited) {
    least_ = std::min(least_, bound);
    return;
  }
  if (depth == nodes_.size())
    return finish();
  size_t place = nodes_.size() - 1 - depth;
  int node = nodes_[place];
  placed_.set(place);
  auto unplace = llvm::make_scope_exit([&] { placed_.reset(place); });
  SmallVector<DraftUse> users; // first those that could compute the node inside
  size_t couldCompute = 0;
  for (auto [number, draft] : llvm::enumerate(drafts_)) {
    DraftUse use{static_cast<int>(number), {}};
    for (Use each : pool_.graph()[node].users)
      if (places_[each.user] >= 0 && draft.members[places_[each.user]])
        use.uses.push_back(each);
    if (use.uses.empty())
      continue;
    bool isPossible = llvm::any_of(
        draft.options, [&](const Option &option) { return isFusable(node, use, option); });
    users.insert(isPossible ? users.begin() + couldCompute++ : users.end(), use);
  }
  auto all = llvm::maskTrailingOnes<uint64_t>(std::min<unsigned>(couldCompute, 64));
  if (bound_.storing(node) == Storing::Inside) {
    if (couldCompute == users.size())
      decide(depth, users, all);
    return;
  }
  // With more users that all subsets can't be tried, all or none of the others compute it.
  constexpr size_t mostChoices = 10;
  if (couldCompute > mostChoices) {
    least_ = std::min(least_, bound);
    decide(depth, users, all);
    decide(depth, users, 0);
    return;
  }
  for (uint64_t inside = all + 1; inside-- > 0;) {
    decide(depth, users, inside);
    if (visited_ >= limits_.mostVisited && inside > 0) {
      least_ = std::min(least_, bound); // of those that are left
      return;
    }
  }
}

// Computes the node inside some of the drafts that use it; the others read it.
void CoverSearch::decide(size_t depth, ArrayRef<DraftUse> users, uint64_t inside) {
  size_t place = nodes_.size() - 1 - depth;
  int node = nodes_[place];
  bool isAddedUp = pool_.isAddedUp(node);
  SmallVector<std::pair<int, Draft>, 2> before;
  auto isInside = [&](size_t number) { return number < 64 && (inside >> number & 1); };
  bool possible = true;
  int computing = std::popcount(inside);
  for (auto [number, use] : llvm::enumerate(users)) {
    Draft &draft = drafts_[use.draft];
    before.emplace_back(use.draft, draft);
    if (!isInside(number)) {
      addRead(draft, use, node);
    } else {
      possible = keepOptions(draft, [&](const Option &option) {
        return isFusable(node, use, option) &&
               (!isAddedUp || computing == 1 || cost_.group(node, option.frame)->isSampled);
      });
      possible = possible && addMember(draft, node);
    }
    if (!possible)
      break;
  }
  for (auto [number, use] : llvm::enumerate(users))
    if (possible && isInside(number))
      if (int other = takeOver(drafts_[use.draft], node); other >= 0)
        drafts_[other].pays.reset(place);
  for (const DraftUse &use : users)
    possible = possible && price(drafts_[use.draft]);
  if (possible) {
    bool isRead =
        llvm::any_of(drafts_, [&](const Draft &draft) { return bool(draft.waits[place]); });
    if (!isRead && bound_.storing(node) != Storing::Stored) {
      visit(depth + 1);
    } else {
      for (int draft = 0; draft < static_cast<int>(drafts_.size()); ++draft)
        if (drafts_[draft].members[place])
          store(depth, node, draft);
      if (computing == 0 || !isAddedUp) {
        for (int draft = 0; draft < static_cast<int>(drafts_.size()); ++draft)
          if (!drafts_[draft].members[place])
            store(depth, node, draft);
        store(depth, node, static_cast<int>(drafts_.size()));
      }
    }
  }
  for (auto &[number, draft] : before)
    drafts_[number] = std::move(draft);
}

// Makes the node a result of the draft, which may be a new one.
void CoverSearch::store(size_t depth, int node, int number) {
  bool isNew = number == static_cast<int>(drafts_.size());
  int place = places_[node];
  if (!isNew && drafts_[number].waits[place])
    return;
  Draft draft;
  if (!isNew) {
    draft = drafts_[number];
  } else {
    for (auto [number, slot] : llvm::enumerate(bound_.facts().slots))
      if (bound_.allows(node, static_cast<int>(number)))
        draft.options.push_back({static_cast<int>(number), slot.frame, {}, {}});
  }
  bool isMember = draft.members[place];
  if ((!isMember && !addMember(draft, node)) || !addRoot(draft, node))
    return;
  int other = takeOver(draft, node); // which need not pay any more
  if (!price(draft))
    return;
  if (isNew)
    drafts_.emplace_back();
  std::swap(drafts_[number], draft);
  Draft before;
  if (other >= 0) {
    before = drafts_[other];
    drafts_[other].pays.reset(place);
    price(drafts_[other]);
  }
  Nodes stored;
  stored.set(place);
  storedBy_[place] = number;
  if (!waitsFor(number, stored))
    visit(depth + 1);
  storedBy_[place] = -1;
  if (other >= 0)
    drafts_[other] = std::move(before);
  std::swap(drafts_[number], draft);
  if (isNew)
    drafts_.pop_back();
}

// Whether the draft, or one that it waits for, waits for one of the nodes.
bool CoverSearch::waitsFor(int draft, const Nodes &nodes) const {
  const Nodes &waits = drafts_[draft].waits;
  if ((waits & nodes).any())
    return true;
  for (size_t node = waits._Find_first(); node < mostNodes; node = waits._Find_next(node))
    if (storedBy_[node] >= 0 && waitsFor(storedBy_[node], nodes))
      return true;
  return false;
}

void CoverSearch::finish() {
  double total = 0;
  std::vector<FusedOperator> operators;
  for (const Draft &draft : drafts_) {
    FusedOperator best;
    for (const Option &option : draft.options) {
      FusedOperator op;
      op.members.resize(pool_.graph().size());
      for (auto [place, node] : llvm::enumerate(nodes_)) {
        if (draft.members[place])
          op.members.set(node);
        if (draft.roots[place])
          op.roots.push_back(node);
      }
      op.frame = option.frame;
      cost_.price(op);
      if (pool_.fillsItsFrame(op) && (best.frame < 0 || pool_.isBetter(op, best)))
        best = std::move(op);
    }
    if (best.frame < 0)
      return;
    total += best.nanoseconds;
    operators.push_back(std::move(best));
  }
  for (double bound : bounds_)
    tightest_ = std::max(tightest_, bound / total);
  if (total < cheapest_ * equal) {
    runnerUp_ = cheapest_;
    cheapest_ = total;
    best_ = std::move(operators);
  }
}

//===- unfinished operators ------------------------------------------------------------------===//

bool CoverSearch::isFusable(int node, const DraftUse &use, const Option &option) const {
  return bound_.allows(node, option.slot) && llvm::all_of(use.uses, [&](Use each) {
           return cost_.group(each.user, option.frame)->fusable >> each.operand & 1;
         });
}

bool CoverSearch::keepOptions(Draft &draft, function_ref<bool(const Option &)> keep) const {
  llvm::erase_if(draft.options, [&](const Option &option) { return !keep(option); });
  return !draft.options.empty();
}

// Adds a member and what it reads in every case. Whether it reads other nodes is known when these are
// placed, but for frames in which it can't compute them.
bool CoverSearch::addMember(Draft &draft, int node) const {
  bool isFirst = draft.members.none();
  if (!keepOptions(draft, [&](const Option &option) {
        return bound_.allows(node, option.slot) &&
               (isFirst || !pool_.memo().frames[option.frame].isNative);
      }))
    return false;
  draft.members.set(places_[node]);
  draft.separated |= separated_[places_[node]];
  for (Option &option : draft.options) {
    option.work += cost_.computing(node, option.frame);
    const MemoGroup &group = *cost_.group(node, option.frame);
    for (auto [operand, number] : llvm::enumerate(cost_.inputsOf(node))) {
      int array = arrays_[number];
      if ((group.fusable >> operand & 1) || array < 0 || option.read[array])
        continue;
      option.read.set(array);
      option.work += cost_.reading(number, option.frame);
    }
  }
  for (int producer : pool_.graph()[node].producers) {
    if (producer >= 0 && places_[producer] < 0)
      draft.waits |= waitsOf_[producer];
  }
  return true;
}

// Lets the draft pay for the operands of a member if no other one pays at least as much. Returns the draft that
// paid until then; -1 if none did.
int CoverSearch::takeOver(Draft &draft, int node) const {
  auto paidBy = [&](const Draft &payer) {
    double least = std::numeric_limits<double>::infinity();
    for (const Option &option : payer.options) {
      double paid = 0;
      for (int use : bound_.facts().usesBy[node])
        paid += paidFor(use, option.slot);
      least = std::min(least, paid);
    }
    return least;
  };
  auto payer =
      llvm::find_if(drafts_, [&](const Draft &other) { return bool(other.pays[places_[node]]); });
  bool isPaid = payer != drafts_.end();
  if (draft.pays[places_[node]] || (isPaid && paidBy(*payer) >= paidBy(draft)))
    return -1;
  draft.pays.set(places_[node]);
  return isPaid ? static_cast<int>(payer - drafts_.begin()) : -1;
}

void CoverSearch::addRead(Draft &draft, const DraftUse &use, int node) const {
  draft.waits.set(places_[node]);
  for (Use each : use.uses) {
    int number = cost_.inputsOf(each.user)[each.operand], array = arrays_[number];
    for (Option &option : draft.options)
      if (array >= 0 && !option.read[array]) {
        option.read.set(array);
        option.work += cost_.reading(number, option.frame);
      }
  }
}

bool CoverSearch::addRoot(Draft &draft, int node) const {
  draft.roots.set(places_[node]);
  draft.storedArrays += tok::isArray(pool_.graph()[node].result().getType());
  for (Option &option : draft.options)
    option.work += cost_.storing(node, option.frame);
  return keepOptions(draft, [&](const Option &option) {
    return bool(bound_.facts().slots[option.slot].storable[node]);
  });
}

// What the user pays for its operand, if that is not placed, in an operator in the slot. It is counted
// already that the operator reads what can't be computed there.
double CoverSearch::paidFor(int use, int slot) const {
  const NodeUse &of = bound_.facts().uses[use];
  return placed_[places_[of.producer]] ? 0
         : of.fusable[slot]            ? bound_.paid(use, slot)
                                       : bound_.paidStored(use);
}

// What nodes pay for reading what the operator reads anyway: nodes that are not placed and may join it, and
// users of an array that is not placed.
double CoverSearch::alreadyRead(const Draft &draft, const Option &option) const {
  Nodes mayJoin = allowed_[option.slot] & ~placed_ & ~(draft.separated & computedOnce_),
        users = draft.members & users_[placed_.count()];
  double paid = 0;
  for (const Shared &shared : shared_[option.slot]) {
    if (!option.read[shared.array])
      continue;
    bool isLeft = shared.producer >= 0 && !placed_[shared.producer];
    Nodes readers = isLeft ? mayJoin | users : mayJoin;
    double share = 0;
    for (const auto &[exclusive, each] : shared.readers)
      share += (exclusive & readers).any() ? each : 0;
    if (share > 0)
      paid += share * bound_.reading(shared.reading);
  }
  return paid;
}

// Leaves out frames in which the operator has become too large; false if none is left.
bool CoverSearch::price(Draft &draft) const {
  size_t members = draft.members.count(), roots = draft.roots.count();
  if (!keepOptions(draft, [&](const Option &option) {
        return pool_.fitsIntoRegisters(members, roots, option.read.count() + draft.storedArrays);
      }))
    return false;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  draft.nanoseconds = draft.mean = infinity;
  Nodes paying = draft.pays & users_[placed_.count()];
  draft.mayCompute.reset();
  for (Option &option : draft.options) {
    option.parts = cost::partsOf(pool_.machine(), option.work);
    double launch = pool_.machine().launchNanoseconds, total = launch + option.parts.total();
    double read = alreadyRead(draft, option);
    option.least = total - read;
    option.mean = launch + bound_.shares().costIn(option.slot, option.parts) - read;
    for (size_t place = paying._Find_first(); place < mostNodes; place = paying._Find_next(place))
      for (int use : bound_.facts().usesBy[nodes_[place]])
        option.mean += paidFor(use, option.slot);
    draft.nanoseconds = std::min(draft.nanoseconds, total);
    draft.mean = std::min(draft.mean, option.mean);
    draft.mayCompute |= allowed_[option.slot];
  }
  draft.mayJoin = draft.mayCompute & ~draft.separated;
  draft.mayCompute &= ~(draft.separated & computedOnce_);
  return true;
}
