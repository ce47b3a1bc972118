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
  best_.operators.assign(operators.begin(), operators.end());
  for (int id : operators) {
    BitVector &results = best_.groups.emplace_back(pool.graph().size());
    for (int root : pool[id].roots)
      results.set(root);
    best_.nanoseconds += pool[id].nanoseconds;
  }
}

void CoverImprovement::run(int64_t mostPriced) {
  descend(best_, mostPriced);
  while (priced_ < mostPriced && restart(mostPriced)) {
  }
}

// Whether something cheaper was found.
bool CoverImprovement::restart(int64_t mostPriced) {
  std::vector<Groups> starts;
  for (size_t i = 0; i < best_.groups.size(); ++i) {
    Groups without = best_.groups;
    BitVector group = std::move(without[i]);
    without.erase(without.begin() + static_cast<ptrdiff_t>(i));
    for (size_t j = 0; j < i; ++j) {
      starts.push_back(without);
      starts.back()[j] |= group;
    }
    if (group.count() == 1)
      continue;
    for (int result : group.set_bits())
      without.emplace_back(group.size()).set(result);
    starts.push_back(std::move(without));
  }
  for (Groups &start : starts) {
    Cover cover{{}, {}, std::numeric_limits<double>::infinity()};
    if (priced_ >= mostPriced || !tryGroups(cover, std::move(start)))
      continue;
    descend(cover, mostPriced);
    if (cover.nanoseconds < best_.nanoseconds * equal) {
      best_ = std::move(cover);
      return true;
    }
  }
  return false;
}

void CoverImprovement::descend(Cover &cover, int64_t mostPriced) {
  for (bool improved = true; improved;) {
    improved = false;
    for (int node : llvm::reverse(nodes_)) {
      if (priced_ >= mostPriced)
        return;
      improved |= improve(cover, node);
    }
  }
}

// Takes the first step that makes the cover cheaper: of the node's result alone.
bool CoverImprovement::improve(Cover &cover, int node) {
  size_t own = cover.groups.size();
  Groups without = cover.groups;
  for (auto [number, group] : llvm::enumerate(without))
    if (group[node]) {
      own = number;
      group.reset(node);
    }
  bool isStored = own < without.size();
  if (isStored && !pool_.mustBeStored(node) && tryGroups(cover, without))
    return true;
  for (size_t other = 0; other < without.size(); ++other)
    if (other != own) {
      Groups changed = without;
      changed[other].set(node);
      if (tryGroups(cover, std::move(changed)))
        return true;
    }
  if (isStored && without[own].none())
    return false;
  without.emplace_back(pool_.graph().size()).set(node);
  return tryGroups(cover, std::move(without));
}

// Takes the groups if they are cheaper.
bool CoverImprovement::tryGroups(Cover &cover, Groups groups) {
  llvm::erase_if(groups, [](const BitVector &group) { return group.none(); });
  BitVector stored(pool_.graph().size());
  for (const BitVector &group : groups)
    stored |= group;
  double total = 0;
  for (const BitVector &group : groups) {
    const FusedOperator &op = operatorFor(group, stored);
    if (op.frame < 0)
      return false;
    total += op.nanoseconds;
    if (total >= cover.nanoseconds * equal)
      return false;
  }
  SmallVector<int> operators;
  for (const BitVector &group : groups)
    operators.push_back(pool_.add(operatorFor(group, stored)));
  if (pool_.addedUpAgain(operators).any() || OperatorOrder(pool_, operators).isCyclic())
    return false;
  cover = {std::move(groups), std::move(operators), total};
  return true;
}

// The cheapest operator; without a frame if there is none.
const FusedOperator &CoverImprovement::operatorFor(const BitVector &results,
                                                   const BitVector &stored) {
  BitVector relevant(pool_.graph().size());
  for (int result : results.set_bits())
    relevant |= pool_.scope(result);
  relevant &= stored;
  auto [known, isNew] = known_.try_emplace({results, std::move(relevant)});
  FusedOperator &best = known->second;
  if (!isNew)
    return best;
  FusedOperator candidate;
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
  return best;
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
