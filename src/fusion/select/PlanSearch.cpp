#include "fusion/select/PlanSearch.h"

#include "fusion/select/Patterns.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallPtrSet.h"

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

static std::vector<Partition> findPartitions(const OperatorPool &pool) {
  const BlockGraph &graph = pool.graph();
  llvm::EquivalenceClasses<int> classes;
  for (int index : graph.nodes()) {
    classes.insert(index);
    for (Use use : graph[index].users)
      if (pool.memo().isFusable(use))
        classes.unionSets(index, use.user);
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

// Whether the node's value depends on an order of additions or multiplications.
static bool isAddedUp(const Node &node) {
  if (node.kind != NodeKind::Aggregate)
    return node.kind == NodeKind::Product || node.kind == NodeKind::TransposedProduct ||
           node.kind == NodeKind::Scan;
  return node.aggregation() == AggregateKind::Sum || node.aggregation() == AggregateKind::Prod;
}

// The nodes that several of the operators would add up, in possibly different orders. Sampled
// products are always added up in the same order.
static BitVector addedUpAgain(const OperatorPool &pool, ArrayRef<int> operators) {
  BitVector sampled(pool.graph().size()), other = sampled, again = sampled;
  for (int id : operators)
    for (int member : pool[id].members.set_bits()) {
      if (!isAddedUp(pool.graph()[member]))
        continue;
      bool isSampled = pool.memo().find(member, pool[id].frame)->isSampled;
      if (other[member] || (!isSampled && sampled[member]))
        again.set(member);
      (isSampled ? sampled : other).set(member);
    }
  return again;
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
    BitVector again = addedUpAgain(pool, operators);
    again.reset(stored);
    if (again.none())
      return operators;
    stored |= again;
  }
}

double fusion::priceOf(OperatorPool &pool, const Partition &partition, BitVector stored) {
  double total = 0;
  std::vector<RefusedMerge> refused;
  for (int id : coverWithOneValueEach(pool, partition.nodes, stored, refused))
    total += pool[id].nanoseconds;
  return total;
}

namespace {

// Finds the cheapest assignment of one partition: which points are stored.
class PartitionSearch {
public:
  PartitionSearch(OperatorPool &pool, Partition &partition) : pool_(pool), partition_(partition) {
    // Large results first: they influence the cost most, so bounds prune early.
    order_.assign(partition.points.begin(), partition.points.end());
    llvm::stable_sort(order_, [&](int a, int b) { return bytesOf(a) > bytesOf(b); });
    auto nodes = std::max<int64_t>(nodesOfMostPlans, partition.nodes.size());
    double share = static_cast<double>(nodesOfMostPlans) / static_cast<double>(nodes);
    mostPlans_ = static_cast<int64_t>(mostPricedPlans * share * share * share);
    measureUnavoidable();
    partition.least = boundWith(0);
  }

  BitVector run() {
    BitVector none(pool_.graph().size()), all = none;
    for (int point : order_)
      all.set(point);
    tryPlan(none);
    tryPlan(all);
    improvePointwise();
    partition_.exact = order_.size() <= mostExactPoints;
    if (partition_.exact && !order_.empty())
      enumerate(0, none, 0);
    partition_.nanoseconds = cheapest_;
    return best_;
  }

private:
  double bytesOf(int node) const { return pool_.cost().leastBytesToStore(node); }

  // The work of every plan of the partition: read each input once (but those that only a part is read
  // of), compute each node once, store the results that must be stored, and read those that a
  // consumer can't compute itself, in a later launch.
  void measureUnavoidable() {
    const BlockGraph &graph = pool_.graph();
    BitVector inside(graph.size());
    for (int node : partition_.nodes)
      inside.set(node);
    llvm::SmallPtrSet<Value, 16> seen;
    SmallVector<int> launches(graph.size()); // earlier launches on the longest path to a node
    for (int index : partition_.nodes) {
      const Node &node = graph[index];
      unavoidable_.flops += pool_.cost().leastFlops(index);
      if (pool_.mustBeStored(index))
        unavoidable_.writtenBytes += bytesOf(index);
      for (auto [operand, value] : llvm::enumerate(node.operands)) {
        int producer = node.producers[operand];
        bool isInside = producer >= 0 && inside[producer];
        bool fusable = isInside && pool_.memo().isFusable({index, static_cast<int>(operand)});
        if (isInside)
          launches[index] = std::max(launches[index], launches[producer] + !fusable);
        if (fusable || !tok::isArray(value.getType()) || node.kind == NodeKind::Slice ||
            !seen.insert(value).second)
          continue;
        double bytes = pool_.cost().leastBytesToRead(value);
        (bytes > pool_.machine().cacheBytes ? unavoidable_.readBytes : cachedBytes_) += bytes;
      }
      laterLaunches_ = std::max(laterLaunches_, launches[index]);
    }
  }

  // A bound for plans that write so many bytes beside what every plan writes.
  double boundWith(double additionalBytes) const {
    cost::Work least = unavoidable_;
    least.writtenBytes += additionalBytes;
    return cost::leastNanoseconds(pool_.machine(), least, cachedBytes_) +
           laterLaunches_ * pool_.machine().launchNanoseconds;
  }

  bool pays() const {
    auto nodes = static_cast<double>(partition_.nodes.size());
    double spent = static_cast<double>(partition_.evaluated) * pricingNanoseconds * nodes * nodes;
    return partition_.evaluated < mostPlans_ &&
           spent <= std::max(searchedAnyway, runsThatPay * (cheapest_ - partition_.least));
  }

  void tryPlan(const BitVector &stored) {
    if (!tried_.insert(stored).second)
      return;
    double total = priceOf(pool_, partition_, stored);
    ++partition_.evaluated;
    if (best_.empty() || total < cheapest_ * (1 - 1e-9)) {
      best_ = stored;
      cheapest_ = total;
    }
  }

  // Local search: flips one point at a time as long as that makes the plan cheaper.
  void improvePointwise() {
    constexpr int mostRounds = 8;
    for (int round = 0; round < mostRounds; ++round) {
      double before = cheapest_;
      for (int point : order_) {
        if (!pays())
          return;
        BitVector changed = best_;
        changed.flip(point);
        tryPlan(changed);
      }
      if (cheapest_ >= before)
        return;
    }
  }

  // Branch and bound, depth first over the points from `depth` on. The bound charges each stored
  // point for being written. If a merged operator then needn't store it, this is no loss: the plan
  // that doesn't store the point has the same operators.
  void enumerate(size_t depth, BitVector &assignment, double additionalBytes) {
    if (boundWith(additionalBytes) >= cheapest_) {
      partition_.pruned += int64_t(1) << (order_.size() - depth);
      return;
    }
    if (!pays()) {
      partition_.exact = false;
      return;
    }
    if (depth == order_.size()) {
      tryPlan(assignment);
      return;
    }
    int point = order_[depth];
    enumerate(depth + 1, assignment, additionalBytes);
    assignment.set(point);
    enumerate(depth + 1, assignment,
              additionalBytes + (pool_.mustBeStored(point) ? 0 : bytesOf(point)));
    assignment.reset(point);
  }

  OperatorPool &pool_;
  Partition &partition_;
  SmallVector<int> order_;
  cost::Work unavoidable_;
  double cachedBytes_ = 0;
  int laterLaunches_ = 0;
  int64_t mostPlans_;
  BitVector best_;
  double cheapest_ = 0;
  llvm::DenseSet<BitVector> tried_;
};

} // namespace

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
    for (Partition &partition : plan.partitions)
      stored |= PartitionSearch(pool, partition).run();
    break;
  }
  plan.shared = stored;
  plan.operators = coverWithOneValueEach(pool, graph.nodes(), stored, plan.refusedMerges);
  plan.shared ^= stored;
  return plan;
}
