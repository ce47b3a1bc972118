#include "fusion/select/ImproveCover.h"

#include "fusion/select/OperatorOrder.h"

#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// What is cheaper by less than this share is not worth a step.
static constexpr double equal = 1 - 1e-9;

CoverImprovement::CoverImprovement(OperatorPool &pool, ArrayRef<int> nodes, ArrayRef<int> operators)
    : pool_(pool), nodes_(nodes), inside_(pool.graph().size()) {
  for (int node : nodes)
    inside_.set(node);
  best_.stored.resize(pool.graph().size());
  for (int id : operators) {
    BitVector &results = best_.groups.emplace_back(pool.graph().size());
    for (int root : pool[id].roots)
      results.set(root);
    best_.stored |= results;
    best_.priced.push_back(&known_.emplace_back(Priced{pool[id], scopeOf(results), id}));
    best_.nanoseconds += pool[id].nanoseconds;
  }
}

SmallVector<int> CoverImprovement::operators() const {
  SmallVector<int> ids;
  for (const Priced *priced : best_.priced)
    ids.push_back(priced->id);
  return ids;
}

void CoverImprovement::run(int64_t mostPriced) {
  descend(best_, mostPriced);
  while (priced_ < mostPriced && restart(mostPriced)) {
  }
}

// Whether something cheaper was found.
bool CoverImprovement::restart(int64_t mostPriced) {
  std::vector<std::pair<Groups, int>> ofOperators;
  for (size_t i = 0; i < best_.groups.size(); ++i) {
    Groups without = best_.groups;
    BitVector group = std::move(without[i]);
    without[i] = BitVector(group.size());
    for (size_t j = 0; j < i; ++j) {
      ofOperators.emplace_back(without, -1);
      ofOperators.back().first[j] |= group;
    }
    if (group.count() == 1)
      continue;
    for (int result : group.set_bits())
      without.emplace_back(group.size()).set(result);
    ofOperators.emplace_back(std::move(without), -1);
  }
  if (restartFrom(ofOperators, mostPriced))
    return true;
  std::vector<std::pair<Groups, int>> ofResults;
  for (int node : nodes_)
    for (Groups &changed : changesOf(best_.groups, node))
      ofResults.emplace_back(std::move(changed), node);
  return restartFrom(ofResults, mostPriced);
}

// What is hardly dearer before other steps is tried first. The nodes beside the groups stay as they are.
bool CoverImprovement::restartFrom(ArrayRef<std::pair<Groups, int>> groups, int64_t mostPriced) {
  std::vector<std::pair<Cover, int>> starts;
  for (const auto &[start, kept] : groups) {
    Cover cover = best_;
    cover.nanoseconds = std::numeric_limits<double>::infinity();
    if (priced_ < mostPriced && tryGroups(cover, start))
      starts.emplace_back(std::move(cover), kept);
  }
  SmallVector<size_t> order = llvm::to_vector(llvm::seq(starts.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(starts[a].first.nanoseconds, a) < std::pair(starts[b].first.nanoseconds, b);
  });
  for (size_t number : order) {
    auto &[cover, kept] = starts[number];
    if (priced_ >= mostPriced)
      break;
    descend(cover, mostPriced, kept);
    if (cover.nanoseconds < best_.nanoseconds * equal) {
      best_ = std::move(cover);
      return true;
    }
  }
  return false;
}

// Ends after a round of all nodes of which none helps.
void CoverImprovement::descend(Cover &cover, int64_t mostPriced, int kept) {
  size_t next = nodes_.size();
  for (size_t withoutSuccess = 0; withoutSuccess < nodes_.size(); ++withoutSuccess) {
    if (priced_ >= mostPriced)
      return;
    next = (next == 0 ? nodes_.size() : next) - 1;
    if (int node = nodes_[next]; node != kept && improve(cover, node))
      withoutSuccess = 0;
  }
}

// The groups after each step that changes where the node's result alone is stored, if anywhere.
std::vector<CoverImprovement::Groups> CoverImprovement::changesOf(const Groups &groups,
                                                                  int node) const {
  size_t own = groups.size();
  Groups without = groups;
  for (auto [number, group] : llvm::enumerate(without))
    if (group[node]) {
      own = number;
      group.reset(node);
    }
  bool isStored = own < without.size();
  std::vector<Groups> changes;
  if (isStored && !pool_.mustBeStored(node))
    changes.push_back(without);
  for (size_t other = 0; other < without.size(); ++other)
    if (other != own) {
      changes.push_back(without);
      changes.back()[other].set(node);
    }
  if (!isStored || without[own].any()) {
    without.emplace_back(pool_.graph().size()).set(node);
    changes.push_back(std::move(without));
  }
  return changes;
}

// Takes the first step that makes the cover cheaper: of the node's result alone.
bool CoverImprovement::improve(Cover &cover, int node) {
  return llvm::any_of(changesOf(cover.groups, node),
                      [&](Groups &changed) { return tryGroups(cover, std::move(changed)); });
}

// Takes the groups if they are cheaper. Operators whose own groups are the same are only looked up where
// they could compute what is no longer stored, or read what now is.
bool CoverImprovement::tryGroups(Cover &cover, Groups groups) {
  BitVector stored(pool_.graph().size());
  for (const BitVector &group : groups)
    stored |= group;
  BitVector changed = stored;
  changed ^= cover.stored;
  double total = 0;
  SmallVector<Priced *> priced;
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (group.none())
      continue;
    Priced *same = number < cover.groups.size() && group == cover.groups[number]
                       ? cover.priced[number]
                       : nullptr;
    priced.push_back(same && !same->scope.anyCommon(changed) ? same : operatorFor(group, stored));
    if (priced.back()->op.frame < 0)
      return false;
    total += priced.back()->op.nanoseconds;
    if (total >= cover.nanoseconds * equal)
      return false;
  }
  SmallVector<int> operators;
  for (Priced *each : priced) {
    if (each->id < 0)
      each->id = pool_.add(each->op);
    operators.push_back(each->id);
  }
  if (pool_.addedUpAgain(operators).any() || OperatorOrder(pool_, operators).isCyclic())
    return false;
  llvm::erase_if(groups, [](const BitVector &group) { return group.none(); });
  cover = {std::move(groups), std::move(stored), std::move(priced), total};
  return true;
}

BitVector CoverImprovement::scopeOf(const BitVector &results) const {
  BitVector scope(results.size());
  for (int result : results.set_bits())
    scope |= pool_.scope(result);
  return scope;
}

// The cheapest operator; without a frame if there is none.
CoverImprovement::Priced *CoverImprovement::operatorFor(const BitVector &results,
                                                        const BitVector &stored) {
  BitVector scope = scopeOf(results), relevant = scope;
  relevant &= stored;
  auto [found, isNew] = byResults_.try_emplace({results, std::move(relevant)});
  if (!isNew)
    return found->second;
  Priced *priced = found->second = &known_.emplace_back();
  priced->scope = std::move(scope);
  FusedOperator candidate, &best = priced->op;
  candidate.roots.assign(results.set_bits_begin(), results.set_bits_end());
  for (const MemoGroup &group : pool_.memo().groups[candidate.roots.back()]) {
    candidate.frame = group.frame;
    if (!llvm::all_of(candidate.roots, [&](int root) {
          const MemoGroup *other = pool_.cost().group(root, group.frame);
          return other && other->storable;
        }))
      continue;
    std::optional<BitVector> members = membersFor(results, group.frame, stored);
    if (!members)
      continue;
    candidate.members = std::move(*members);
    if (pool_.memo().frames[group.frame].isNative && candidate.members.count() > 1)
      continue;
    pool_.cost().price(candidate);
    ++priced_;
    if (pool_.fitsIntoRegisters(candidate.members.count(), candidate.roots.size(),
                                candidate.arrays) &&
        (best.frame < 0 || pool_.isBetter(candidate, best)) && pool_.fillsItsFrame(candidate))
      best = candidate;
  }
  return priced;
}

// What the operator computes: all that others don't store. Nullopt if it needs a result that nothing
// stores, or one of its own before it is complete.
std::optional<BitVector> CoverImprovement::membersFor(const BitVector &results, int frame,
                                                      const BitVector &stored) const {
  BitVector members = results;
  BitVector needed(results.size());
  for (int member = results.find_last(); member >= 0; --member) {
    if (!members[member])
      continue;
    unsigned fusable = pool_.cost().group(member, frame)->fusable;
    for (auto [operand, producer] : llvm::enumerate(pool_.graph()[member].producers)) {
      if (producer < 0 || !inside_[producer])
        continue;
      if ((fusable >> operand & 1) && (results[producer] || !stored[producer]))
        members.set(producer);
      else if (stored[producer])
        needed.set(producer);
      else
        return std::nullopt;
    }
  }
  if (needed.anyCommon(members))
    return std::nullopt;
  return members;
}
