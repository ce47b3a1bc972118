#include "fusion/select/CoverSearch.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// What is cheaper by less than this share is left out: the bound adds up the same numbers in another
// order.
static constexpr double equal = 1 - 1e-9;

// The bound of each cover is raised in so many steps.
static constexpr int stepsRaising = 4;
// That of all covers, with whose shares the others begin, is raised in more, but for this share of the time at most; and not
// where there is a gap of this share or less, which a few covers close.
static constexpr int stepsRaisingAtFirst = 100;
static constexpr double shareForRaisingAtFirst = 0.1, smallGap = 1e-3;

CoverSearch::CoverSearch(OperatorPool &pool, const PlanBound &bound, ArrayRef<int> nodes,
                         ArrayRef<int> operators, Limits limits)
    : pool_(pool), cost_(pool.cost()), bound_(bound), nodes_(nodes), limits_(limits),
      places_(pool.graph().size(), -1), waitsOf_(pool.graph().size()), cheapest_(limits.cheapest),
      least_(std::numeric_limits<double>::infinity()) {
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
  arrays_.assign(cost_.inputs().size(), -1);
  int arrays = 0;
  for (int node : nodes)
    for (int input : cost_.inputsOf(node))
      if (cost_.inputs()[input].isArray && arrays_[input] < 0)
        arrays_[input] = arrays++;
  separated_.resize(nodes.size());
  for (auto [place, node] : llvm::enumerate(nodes))
    for (int other : bound.facts().separated.from(node).set_bits())
      if (places_[other] >= 0)
        separated_[place].set(places_[other]);
  cover_.storedBy.assign(nodes.size(), -1);
  raised_.emplace(bound, nodes, places_, arrays_, operators);
}

// Whether the search can number all operations and arrays.
bool CoverSearch::isPossible(const OperatorPool &pool, ArrayRef<int> nodes) {
  llvm::SmallDenseSet<int> arrays;
  for (int node : nodes)
    for (int input : pool.cost().inputsOf(node))
      if (pool.cost().inputs()[input].isArray)
        arrays.insert(input);
  return nodes.size() <= UnfinishedCover::mostNodes && arrays.size() <= UnfinishedCover::mostArrays;
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

int CoverSearch::stepsAtFirst() const {
  if (bound_.nanoseconds() >= cheapest_ * (1 - smallGap))
    return stepsRaising;
  double entries = shareForRaisingAtFirst * limits_.mayTake / entryNanoseconds;
  return std::clamp(static_cast<int>(entries / static_cast<double>(raised_->entriesOfStep())),
                    stepsRaising, stepsRaisingAtFirst);
}

// What all covers cost at least that contain this one.
double CoverSearch::boundAt(size_t depth) {
  double total = 0;
  for (const Draft &draft : drafts_)
    total += draft.nanoseconds;
  if (depth == nodes_.size() || total >= cheapest_ * equal)
    return total;
  int steps = std::isinf(cheapest_) ? 0 : depth == 0 ? stepsAtFirst() : stepsRaising;
  return std::max(total, raised_->raise(depth, cover_, cheapest_ * equal, steps));
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
  if (took() >= limits_.mayTake) {
    least_ = std::min(least_, bound);
    return;
  }
  if (depth == nodes_.size())
    return finish();
  std::vector<std::pair<int, Draft>> before;
  auto restore = llvm::make_scope_exit([&] {
    for (auto &[number, draft] : before)
      drafts_[number] = std::move(draft);
  });
  if (limits_.leavesOut)
    takeDecisions(before);
  size_t place = nodes_.size() - 1 - depth;
  int node = nodes_[place];
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
    if (took() >= limits_.mayTake && inside > 0) {
      least_ = std::min(least_, bound); // of those that are left
      return;
    }
  }
}

// Leaves out what no cheaper cover does, as the bound says, and notes what drafts were before.
void CoverSearch::takeDecisions(std::vector<std::pair<int, Draft>> &before) {
  for (auto [number, decided] : llvm::enumerate(raised_->decided())) {
    Draft &draft = drafts_[number];
    if (decided.hopeless.none() && (decided.reads & ~draft.reads).none() &&
        (decided.computes & ~draft.computes).none() && (decided.leaves & ~draft.leaves).none())
      continue;
    before.emplace_back(static_cast<int>(number), draft);
    llvm::erase_if(draft.options, [&](const Option &option) {
      return decided.hopeless[&option - draft.options.begin()];
    });
    draft.reads |= decided.reads;
    draft.computes |= decided.computes;
    draft.leaves |= decided.leaves;
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
    const Draft &draft = drafts_[use.draft];
    if (isInside(number) ? draft.reads[place] : draft.computes[place])
      return;
  }
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
  if (!isNew && (drafts_[number].waits[place] || drafts_[number].leaves[place]))
    return;
  Draft draft;
  if (!isNew) {
    draft = drafts_[number];
  } else {
    for (auto [number, slot] : llvm::enumerate(bound_.facts().slots))
      if (bound_.allows(node, static_cast<int>(number)))
        draft.options.push_back({static_cast<int>(number), slot.frame});
  }
  bool isMember = draft.members[place];
  if ((!isMember && !addMember(draft, node)) || !addRoot(draft, node))
    return;
  if (!price(draft))
    return;
  if (isNew)
    drafts_.emplace_back();
  std::swap(drafts_[number], draft);
  cover_.storedBy[place] = number;
  if (!cover_.waitsOf(number)[place])
    visit(depth + 1);
  cover_.storedBy[place] = -1;
  std::swap(drafts_[number], draft);
  if (isNew)
    drafts_.pop_back();
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

// Leaves out frames in which the operator has become too large; false if none is left.
bool CoverSearch::price(Draft &draft) const {
  size_t members = draft.members.count(), roots = draft.roots.count();
  if (!keepOptions(draft, [&](const Option &option) {
        return pool_.fitsIntoRegisters(members, roots, option.read.count() + draft.storedArrays);
      }))
    return false;
  draft.nanoseconds = std::numeric_limits<double>::infinity();
  for (Option &option : draft.options) {
    option.parts = cost::partsOf(pool_.machine(), option.work);
    draft.nanoseconds =
        std::min(draft.nanoseconds, pool_.machine().launchNanoseconds + option.parts.total());
  }
  return true;
}
