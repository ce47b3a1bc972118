#include "fusion/select/PlanSearch.h"

#include "fusion/select/CoverSearch.h"
#include "fusion/select/ImproveCover.h"
#include "fusion/select/OperatorOrder.h"
#include "fusion/select/Patterns.h"
#include "fusion/select/WorkAccount.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

//===- partitions and points -----------------------------------------------------------------===//

// Whether a consumer can only compute the node with recomputation: a vector that is evaluated in
// every cell of a matrix.
static bool isComputedAgainAnyway(const OperatorPool &pool, int index) {
  const BlockGraph &graph = pool.graph();
  const Node &node = graph[index];
  if (node.kind != NodeKind::Elementwise)
    return false;
  return llvm::any_of(node.users, [&](Use use) {
    return graph.isNode(use.user) &&
           llvm::all_of(pool.memo().groups[use.user], [&](const MemoGroup &group) {
             if (!(group.fusable >> use.operand & 1))
               return true;
             Axes over = pool.memo().find(index, group.frame)->over;
             return pointsOf(graph.facts(), pool.memo().frames[group.frame], over, node.spaces[0]) >
                    graph.cells(node.spaces[0]);
           });
  });
}

// Whether the node can be a sampled product, or be computed in loops over any axes. The alternative
// is a native for all cells, before the operator.
static bool competesWithNative(const OperatorPool &pool, int index) {
  return llvm::any_of(pool.memo().groups[index], [&](const MemoGroup &group) {
    return group.isSampled ||
           (group.natural && pool.memo().frames[group.frame].loops >= Loops::AnyAxes);
  });
}

static bool isInteresting(const OperatorPool &pool, int index) {
  auto isFusable = [&](Use use) { return pool.memo().isFusable(use); };
  return llvm::any_of(pool.graph()[index].users, isFusable) &&
         (pool.graph().consumers(index) > 1 || isComputedAgainAnyway(pool, index) ||
          competesWithNative(pool, index));
}

// Operations are in one partition if an operator can contain both.
static std::vector<Partition> findPartitions(const OperatorPool &pool) {
  const BlockGraph &graph = pool.graph();
  llvm::EquivalenceClasses<int> classes;
  SmallVector<int> firstInFrame(pool.memo().frames.size(), -1);
  for (int index : graph.nodes()) {
    classes.insert(index);
    for (const MemoGroup &group : pool.memo().groups[index])
      if (int &first = firstInFrame[group.frame]; !pool.memo().frames[group.frame].isNative) {
        first = first < 0 ? index : first;
        classes.unionSets(first, index);
      }
  }
  std::vector<Partition> partitions;
  llvm::DenseMap<int, size_t> numbers;
  for (int index : graph.nodes()) {
    auto [entry, isNew] = numbers.try_emplace(classes.getLeaderValue(index), partitions.size());
    if (isNew)
      partitions.emplace_back();
    Partition &partition = partitions[entry->second];
    partition.nodes.push_back(index);
    if (isInteresting(pool, index))
      partition.points.push_back(index);
  }
  return partitions;
}

//===- plans ---------------------------------------------------------------------------------===//

// Chooses an operator for each result that has to be stored: because every plan must store it, or
// because another operator reads it.
static SmallVector<int> cover(OperatorPool &pool, ArrayRef<int> nodes, const BitVector &stored) {
  BitVector pending(pool.graph().size());
  for (int node : nodes)
    if (pool.mustBeStored(node))
      pending.set(node);
  SmallVector<int> operators;
  for (int node : llvm::reverse(nodes)) {
    if (!pending[node])
      continue;
    operators.push_back(pool.operatorFor(node, stored));
    for (int read : pool[operators.back()].reads)
      pending.set(read);
  }
  std::reverse(operators.begin(), operators.end());
  return operators;
}

// Covers the nodes with operators of one result each, merges them where that is preferred, and
// stores more results until no sum has two values.
static SmallVector<int> coverWithOneValueEach(OperatorPool &pool, ArrayRef<int> nodes,
                                              BitVector &stored,
                                              std::vector<RefusedMerge> &refused) {
  while (true) {
    SmallVector<int> operators = cover(pool, nodes, stored);
    if (pool.selector() == Selector::Cost)
      refused = mergeOperators(pool, operators);
    BitVector again = pool.addedUpAgain(operators);
    again.reset(stored);
    if (again.none())
      return operators;
    stored |= again;
  }
}

namespace {

// Finds the cheapest plan of one partition.
class PartitionSearch {
public:
  PartitionSearch(OperatorPool &pool, Partition &partition)
      : pool_(pool), partition_(partition), facts_(pool, partition.nodes), bound_(facts_),
        isInLoop_(pool.graph().loopOperations().has_value()) {
    // Large results first: they influence the cost most.
    auto sorted = [&](ArrayRef<int> nodes) {
      SmallVector<std::pair<double, int>> keys;
      for (int node : nodes)
        keys.emplace_back(-cellsOf(node), node);
      llvm::sort(keys);
      return llvm::to_vector(llvm::make_second_range(keys));
    };
    points_ = sorted(partition.points);
    choices_ = points_;
    for (int node : sorted(partition.nodes))
      if (!llvm::is_contained(points_, node))
        choices_.push_back(node);
    partition.least = bound_.nanoseconds();
  }

  void run() {
    BitVector none(pool_.graph().size()), all = none;
    for (int point : points_)
      all.set(point);
    tryPlan(none);
    tryPlan(all);
    bool searchesCovers = CoverSearch::isPossible(pool_, partition_.nodes);
    improvePointwise(searchesCovers ? 3 : 8);
    if (partition_.isExact())
      return;
    raiseAtFirst();
    partition_.least = std::min(bound_.nanoseconds(), partition_.nanoseconds);
    if (!partition_.isExact())
      improveOperators();
    if (!partition_.isExact() && searchesCovers)
      partition_.least =
          std::min(search(bound_, choices_.size(), std::max(paysFor() - spent(), searchedInCovers)),
                   partition_.nanoseconds);
  }

private:
  double cellsOf(int node) const {
    return pool_.graph().cells(pool_.graph().shapeOf(pool_.graph()[node].result()));
  }

  // The time that a search may take, in nanoseconds, and what pricing plans has taken.
  double paysFor() const {
    double saved = partition_.nanoseconds - partition_.least;
    double atMost = searchedAtMost;
    if (!isInLoop_)
      atMost = std::min(atMost, runsSearched * partition_.nanoseconds);
    return std::max(searchedAnyway, std::min(runsThatPay * saved, atMost));
  }
  double spent() const {
    auto nodes = static_cast<double>(partition_.nodes.size());
    return static_cast<double>(partition_.evaluated) * pricingNanoseconds * nodes * nodes +
           static_cast<double>(priced_) * pricingOperator() +
           static_cast<double>(steps_) * raisingStep();
  }
  double raisingStep() const {
    return raisingNanoseconds * static_cast<double>(partition_.nodes.size());
  }
  double pricingOperator() const {
    return pricingOperatorNanoseconds * static_cast<double>(partition_.nodes.size());
  }

  void tryPlan(BitVector stored) {
    if (!tried_.insert(stored).second)
      return;
    BitVector assignment = stored;
    std::vector<RefusedMerge> refused;
    SmallVector<int> operators = coverWithOneValueEach(pool_, partition_.nodes, stored, refused);
    double total = 0;
    for (int id : operators)
      total += pool_[id].nanoseconds;
    ++partition_.evaluated;
    if (best_.empty() || total < partition_.nanoseconds * (1 - 1e-9)) {
      partition_.runnerUp = partition_.nanoseconds;
      partition_.nanoseconds = total;
      partition_.operators = operators;
      best_ = assignment;
    } else if (total > partition_.nanoseconds * (1 + 1e-9) &&
               (partition_.runnerUp == 0 || total < partition_.runnerUp)) {
      partition_.runnerUp = total;
    }
  }

  // Local search: flips one point at a time as long as that makes the plan cheaper.
  void improvePointwise(int mostRounds) {
    for (int round = 0; round < mostRounds; ++round) {
      double before = partition_.nanoseconds;
      for (int point : points_) {
        if (partition_.isExact() || spent() > paysFor() * 0.8) // the rest is for covers
          return;
        BitVector changed = best_;
        changed.flip(point);
        tryPlan(changed);
      }
      if (partition_.nanoseconds >= before)
        return;
    }
  }

  // Local search: stores one result more or less, or in another operator.
  void improveOperators() {
    CoverImprovement improvement(pool_, partition_.nodes, partition_.operators);
    double mayTake = (paysFor() - spent()) * shareForImproving;
    improvement.run(static_cast<int64_t>(mayTake / pricingOperator()));
    priced_ = improvement.priced();
    if (improvement.nanoseconds() >= partition_.nanoseconds * (1 - 1e-9))
      return;
    partition_.runnerUp = partition_.nanoseconds;
    partition_.nanoseconds = improvement.nanoseconds();
    partition_.operators = improvement.operators();
  }

  // With many steps, equal shares lead higher than those that the bound begins with, which are high at once.
  void raiseAtFirst() {
    double mayTake = std::max(0.0, paysFor() - spent()) * shareForRaising;
    if (mayTake < mostStepsAtFirst * raisingStep()) {
      steps_ = raise(bound_, static_cast<int>(mayTake / raisingStep()));
      return;
    }
    PlanBound equal(bound_, CostShares(facts_));
    steps_ = raise(equal, mostStepsAtFirst);
    if (equal.nanoseconds() > bound_.nanoseconds())
      bound_ = std::move(equal);
  }

  // Raises the bound in at most so many steps, and tries plans that make its choices. Returns how many steps
  // it took.
  int raise(PlanBound &bound, int mostSteps) {
    int steps = 0;
    while (steps < mostSteps && !isHopeless(bound)) {
      int next = std::min(stepsUntilPriced, mostSteps - steps);
      bound.raise(partition_.nanoseconds, next);
      steps += next;
      if (!isHopeless(bound) && spent() <= paysFor() * 0.8)
        tryPlan(bound.storedByChoices());
    }
    return steps;
  }

  bool isHopeless(const PlanBound &bound) const {
    return bound.nanoseconds() >= partition_.nanoseconds * (1 - 1e-9);
  }

  // Decides what can be decided because the other choice is no cheaper, and returns the choice that
  // would raise the bound most in both cases; -1 if none is left.
  int decide(PlanBound &bound, size_t mostTried, double end) {
    int best = -1;
    double most = 0;
    for (int node : choices_) {
      if (bound.storing(node) != Storing::Open)
        continue;
      if (searched_ >= end)
        break;
      searched_ += 2 * boundNanoseconds * static_cast<double>(partition_.nodes.size());
      PlanBound stored(bound, node, Storing::Stored), inside(bound, node, Storing::Inside);
      if (isHopeless(stored) || isHopeless(inside)) {
        bound = isHopeless(stored) ? std::move(inside) : std::move(stored);
        if (isHopeless(bound))
          return -1;
        continue;
      }
      if (double least = std::min(stored.nanoseconds(), inside.nanoseconds()); least > most) {
        best = node;
        most = least;
      }
      if (--mostTried == 0)
        break;
    }
    double gap = partition_.nanoseconds - bound.nanoseconds();
    return best >= 0 && most - bound.nanoseconds() >= worthDeciding * gap ? best : -1;
  }

  // Looks for a cheaper cover among those that `bound` allows, and returns a bound for what is left after
  // so many nanoseconds. If that takes long, it decides whether a result is stored and looks
  // at both halves.
  double search(PlanBound bound, size_t mostTried, double mayTake) {
    double end = searched_ + mayTake;
    int next = isHopeless(bound) || mayTake <= 0 ? -1 : decide(bound, mostTried, end - mayTake / 2);
    double left = end - searched_;
    if (isHopeless(bound) || left <= 0)
      return bound.nanoseconds();
    CoverSearch search(
        pool_, bound, partition_.nodes, partition_.operators,
        {partition_.nanoseconds, next < 0 ? left : std::min(left, searchedBeforeDeciding)});
    if (std::optional<SmallVector<int>> operators = search.run()) {
      partition_.operators = std::move(*operators);
      partition_.runnerUp = search.runnerUp();
      partition_.nanoseconds = search.nanoseconds();
    }
    partition_.visited += search.visited();
    searched_ += search.took();
    double least = std::max(bound.nanoseconds(), search.least());
    if (next < 0 || least >= partition_.nanoseconds * (1 - 1e-9))
      return least;
    auto half = [&](Storing storing, double mayTake) {
      PlanBound raised(bound, next, storing);
      double took = raise(raised, stepsUntilPriced) * raisingStep();
      searched_ += took;
      return this->search(std::move(raised), mostTriedBelow, mayTake - took);
    };
    double stored = half(Storing::Stored, (end - searched_) / 2);
    return std::max(least, std::min(stored, half(Storing::Inside, end - searched_)));
  }

  OperatorPool &pool_;
  Partition &partition_;
  PartitionFacts facts_;
  PlanBound bound_;
  const bool isInLoop_;
  SmallVector<int> points_, choices_; // the latter: and the other operations
  int64_t priced_ = 0;                // operators, beside those of whole plans
  int steps_ = 0;                     // that raised the bound, before covers were looked at
  double searched_ = 0;               // nanoseconds that covers and bounds took
  BitVector best_;
  llvm::DenseSet<BitVector> tried_;
};

} // namespace

// The partitions' operators together; merged, where one was not searched to the end.
static Plan cheapestPlan(OperatorPool &pool, std::vector<Partition> partitions) {
  Plan plan;
  plan.shared.resize(pool.graph().size());
  plan.partitions = std::move(partitions);
  for (Partition &partition : plan.partitions) {
    PartitionSearch(pool, partition).run();
    plan.operators.append(partition.operators);
  }
  // Operators of one partition may wait for those of another one, which those don't know.
  if (OperatorOrder(pool, plan.operators).isCyclic()) {
    BitVector stored(pool.graph().size());
    plan.operators = coverWithOneValueEach(pool, pool.graph().nodes(), stored, plan.refusedMerges);
  } else {
    plan.refusedMerges = mergeOperators(pool, plan.operators);
  }
  return plan;
}

Plan fusion::searchPlan(OperatorPool &pool) {
  const BlockGraph &graph = pool.graph();
  Plan plan;
  plan.partitions = findPartitions(pool);
  BitVector stored(graph.size());
  switch (pool.selector()) {
  case Selector::None:
    stored.set();
    break;
  case Selector::Patterns:
    stored = storedOutsidePatterns(graph);
    break;
  case Selector::All:
    break;
  case Selector::NoRedundancy:
    for (int node : graph.nodes())
      if (graph.consumers(node) > 1)
        stored.set(node);
    break;
  case Selector::Cost:
    return cheapestPlan(pool, std::move(plan.partitions));
  }
  plan.shared = stored;
  plan.operators = coverWithOneValueEach(pool, graph.nodes(), stored, plan.refusedMerges);
  plan.shared ^= stored;
  return plan;
}
