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
  // At depth d the last d nodes are placed.
  notPlaced_.resize(nodes.size() + 1);
  for (int view = 0; view < viewCount; ++view)
    left_[view].resize(nodes.size() + 1);
  for (size_t depth = nodes.size(); depth-- > 0;) {
    size_t place = nodes.size() - 1 - depth;
    notPlaced_[depth] = notPlaced_[depth + 1];
    notPlaced_[depth].set(place);
    for (int view = 0; view < viewCount; ++view)
      left_[view][depth] = left_[view][depth + 1] + bound.unowned(view, nodes[place]);
  }
  const PartitionFacts &facts = bound.facts();
  for (int node : facts.launched)
    launched_.set(places_[node]);
  arrays_.assign(cost_.inputs().size(), -1);
  int arrays = 0;
  for (int node : nodes)
    for (int input : cost_.inputsOf(node))
      if (cost_.inputs()[input].isArray && arrays_[input] < 0)
        arrays_[input] = arrays++;
  for (size_t number = 0; number < cost_.inputs().size(); ++number)
    if (facts.hasSeveralReaders[number]) {
      Passed &passed = passed_.emplace_back(static_cast<int>(number), arrays_[number]);
      for (int node : facts.countedWith[number])
        passed.countedWith.push_back(node < 0 ? -1 : places_[node]);
      for (int reader : facts.readers[number])
        passed.readers.set(places_[reader]);
    }
  separated_.resize(nodes.size());
  allowed_.resize(pool.memo().frames.size());
  for (auto [place, node] : llvm::enumerate(nodes)) {
    computedOnce_[place] = pool.isAddedUp(node) &&
                           llvm::none_of(pool.memo().groups[node],
                                         [](const MemoGroup &group) { return group.isSampled; });
    for (int other : facts.separated.from(node).set_bits())
      if (places_[other] >= 0)
        separated_[place].set(places_[other]);
    for (size_t frame = 0; frame < allowed_.size(); ++frame)
      allowed_[frame][place] = bound.allows(node, frame) && !pool.memo().frames[frame].isNative;
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

// What a draft adds to a view, with all nodes that its members own, if of the nodes that are not placed
// only the wanted ones may join it. Either all it does is counted in the view. Or all its time, but then
// what joins may cost nothing more.
double CoverSearch::leastOf(int view, const Draft &draft, const Nodes &wanted) const {
  double least = std::numeric_limits<double>::infinity();
  const Nodes &owned = draft.owns[view];
  for (const Option &option : draft.options) {
    double inView = option.inView[view], share = bound_.facts().views[view].share[option.frame];
    double sum = option.least[view];
    Part part = option.parts.computing > option.parts.moving ? Computing : Moving;
    double most = part == Computing ? 1 - share : share;
    const std::vector<double> &hidden = bound_.facts().hidden[part][option.frame],
                              &reading = bound_.facts().hiddenReading[part][option.frame];
    if (sum > inView) {
      for (size_t place = owned._Find_first(); place < mostNodes; place = owned._Find_next(place))
        if (int index = nodes_[place]; !wanted[place])
          sum += bound_.stored(view, index);
        else
          sum += bound_.owned(view, index, option.frame) - most * reading[index];
      if (most > 0)
        for (size_t place = wanted._Find_first(); place < mostNodes && sum > inView;
             place = wanted._Find_next(place))
          sum -= most * hidden[nodes_[place]];
    }
    least = std::min(least, std::max(sum, inView));
  }
  return least;
}

// What the drafts cost at least, or they and the nodes that are not placed in one of the views.
double CoverSearch::boundAt(size_t depth) const {
  const Nodes &notPlaced = notPlaced_[depth];
  double left[viewCount];
  double total = 0;
  for (int view = 0; view < viewCount; ++view)
    left[view] = left_[view][depth];
  auto launches = static_cast<int>((launched_ & notPlaced).count());
  for (const Draft &draft : drafts_) {
    total += draft.nanoseconds;
    for (int view = 0; view < viewCount; ++view)
      left[view] += draft.inView[view];
    launches -= (draft.mayJoin & notPlaced & launched_).any();
  }
  for (const Passed &passed : passed_) {
    Nodes readers = passed.readers & notPlaced;
    if (readers.none())
      continue;
    auto passes = static_cast<int>(readers.count());
    for (size_t i = 0; i < drafts_.size() && passes > 0; ++i)
      passes -= drafts_[i].read[passed.array] && (drafts_[i].mayJoin & readers).any();
    for (int view = 0; view < viewCount; ++view)
      left[view] += bound_.reading(view, passed.input) * passes;
  }
  double launching = std::max(0, launches) * pool_.machine().launchNanoseconds;
  double least = total;
  for (double inView : left)
    least = std::max(least, inView);
  if (launching + least >= cheapest_ * equal)
    return launching + least;
  for (int view = 0; view < viewCount; ++view) {
    for (const Draft &draft : drafts_)
      left[view] += leastOf(view, draft, draft.mayCompute & notPlaced) - draft.inView[view];
    least = std::max(least, left[view]);
  }
  return launching + least;
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
    disown(draft, node);
    if (!isInside(number)) {
      addRead(draft, use, node);
    } else {
      possible = keepOptions(draft, [&](const Option &option) {
        return isFusable(node, use, option) &&
               (!isAddedUp || computing == 1 || cost_.group(node, option.frame)->isSampled);
      });
      possible = possible && addMember(draft, node);
    }
    possible = possible && price(draft);
    if (!possible)
      break;
  }
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
    for (const MemoGroup &group : pool_.memo().groups[node])
      if (bound_.allows(node, group.frame))
        draft.options.push_back({group.frame, {}, {}});
  }
  bool possible = draft.members[place] || addMember(draft, node);
  if (!possible || !addRoot(draft, node) || !price(draft))
    return;
  if (isNew)
    drafts_.emplace_back();
  std::swap(drafts_[number], draft);
  Nodes stored;
  stored.set(place);
  storedBy_[place] = number;
  if (!waitsFor(number, stored))
    visit(depth + 1);
  storedBy_[place] = -1;
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
  return bound_.allows(node, option.frame) && llvm::all_of(use.uses, [&](Use each) {
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
        return bound_.allows(node, option.frame) &&
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
    if (producer < 0)
      continue;
    int place = places_[producer];
    if (place < 0) {
      draft.waits |= waitsOf_[producer];
      continue;
    }
    for (int view = 0; view < viewCount; ++view)
      if (bound_.owner(view, producer) == node &&
          llvm::none_of(drafts_, [&](const Draft &other) { return other.owns[view][place]; }) &&
          !draft.owns[view][place]) {
        draft.owns[view].set(place);
        for (Option &option : draft.options)
          option.owned[view] += bound_.owned(view, producer, option.frame);
      }
  }
  return true;
}

// Takes back what was assumed of a node that is placed now.
void CoverSearch::disown(Draft &draft, int node) const {
  for (int view = 0; view < viewCount; ++view)
    if (draft.owns[view][places_[node]]) {
      draft.owns[view].reset(places_[node]);
      for (Option &option : draft.options)
        option.owned[view] -= bound_.owned(view, node, option.frame);
    }
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
  return keepOptions(
      draft, [&](const Option &option) { return cost_.group(node, option.frame)->storable; });
}

// What nodes that are not placed count for reading, but have for nothing if they join the draft.
cost::Parts CoverSearch::alreadyRead(const Draft &draft, const Option &option) const {
  cost::Parts parts;
  for (const Passed &passed : passed_)
    if (int place = passed.countedWith[option.frame];
        place >= 0 && !placed_[place] && option.read[passed.array] &&
        allowed_[option.frame][place] && !(draft.separated[place] && computedOnce_[place]))
      parts += bound_.facts().reading[option.frame][passed.input];
  return parts;
}

// Leaves out frames in which the operator has become too large; false if none is left.
bool CoverSearch::price(Draft &draft) const {
  size_t members = draft.members.count(), roots = draft.roots.count();
  if (!keepOptions(draft, [&](const Option &option) {
        return pool_.fitsIntoRegisters(members, roots, option.read.count() + draft.storedArrays);
      }))
    return false;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  draft.nanoseconds = infinity;
  for (double &inView : draft.inView)
    inView = infinity;
  draft.read.reset();
  draft.mayCompute.reset();
  for (Option &option : draft.options) {
    option.parts = cost::partsOf(pool_.machine(), option.work);
    double launch = pool_.machine().launchNanoseconds, total = launch + option.parts.total();
    draft.nanoseconds = std::min(draft.nanoseconds, total);
    cost::Parts read = alreadyRead(draft, option);
    for (int view = 0; view < viewCount; ++view) {
      double share = bound_.facts().views[view].share[option.frame];
      option.least[view] = total - costIn(share, read);
      option.inView[view] =
          launch + costIn(share, option.parts) + option.owned[view] - costIn(share, read);
      draft.inView[view] = std::min(draft.inView[view], option.inView[view]);
    }
    draft.read |= option.read;
    draft.mayCompute |= allowed_[option.frame];
  }
  draft.mayJoin = draft.mayCompute & ~draft.separated;
  draft.mayCompute &= ~(draft.separated & computedOnce_);
  return true;
}
