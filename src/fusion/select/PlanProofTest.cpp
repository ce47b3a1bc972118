// Shows that the plans of random blocks are the cheapest of all: compares them with an enumeration of
// all covers, which is written independently. It lists every legal operator (every frame, set of
// members and set of results) and tries every combination of them that computes the block. What dense
// operators cost is worked out independently, too.
//
// A few hundred partitions are part of the tests; TOKAMAK_PROVED_PARTITIONS=20000 in the environment asks
// for more, and TOKAMAK_PROVED_OPERATIONS=16 for larger ones.
#include "fusion/select/CoverSearch.h"
#include "fusion/select/FusedBlock.h"
#include "fusion/select/OperatorOrder.h"
#include "fusion/select/PlanSearch.h"
#include "fusion/select/RandomBlock.h"

#include <cmath>
#include <cstdlib>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

using Set = uint32_t; // of nodes, by position in the partition

class Enumeration {
public:
  Enumeration(OperatorPool &pool, llvm::ArrayRef<int> nodes) : pool_(pool), nodes_(nodes) {
    byHighestResult_.resize(nodes.size());
    for (int frame = 0; frame < static_cast<int>(pool.memo().frames.size()); ++frame)
      listOperators(frame);
  }

  // The nanoseconds of the cheapest cover; gives up, with a negative number, after too many steps.
  double cheapest() {
    Set needed = 0;
    for (size_t i = 0; i < nodes_.size(); ++i)
      needed |= Set(pool_.mustBeStored(nodes_[i])) << i;
    choose(needed, 0, 0);
    return steps_ > mostSteps ? -1 : best_;
  }

  // Ids of all legal operators.
  llvm::SmallVector<int> operators() const {
    llvm::SmallVector<int> ids;
    for (const std::vector<Candidate> &candidates : byHighestResult_)
      for (const Candidate &candidate : candidates)
        ids.push_back(candidate.id);
    return ids;
  }

private:
  struct Candidate {
    int id; // of the pool
    Set members, results, reads;
    double nanoseconds;
  };

  int positionOf(int node) const {
    return static_cast<int>(llvm::find(nodes_, node) - nodes_.begin());
  }

  // The members that some other member uses, if all such uses are legal in the frame.
  std::optional<Set> usedInside(Set members, int frame) const {
    Set used = 0;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!(members >> i & 1))
        continue;
      const MemoGroup *group = pool_.memo().find(nodes_[i], frame);
      if (!group)
        return std::nullopt;
      for (auto [operand, producer] : llvm::enumerate(pool_.graph()[nodes_[i]].producers)) {
        int position = positionOf(producer);
        if (position == static_cast<int>(nodes_.size()) || !(members >> position & 1))
          continue;
        if (!(group->fusable >> operand & 1))
          return std::nullopt;
        used |= Set(1) << position;
      }
    }
    return used;
  }

  void listOperators(int frame) {
    for (Set members = 1; members < Set(1) << nodes_.size(); ++members) {
      if (pool_.memo().frames[frame].isNative && std::popcount(members) > 1)
        continue;
      std::optional<Set> used = usedInside(members, frame);
      if (!used)
        continue;
      for (Set more = *used;; more = (more - 1) & *used) { // other members are always results
        addOperator(frame, members, (members & ~*used) | more);
        if (more == 0)
          break;
      }
    }
  }

  void addOperator(int frame, Set members, Set results) {
    FusedOperator op;
    op.frame = frame;
    op.members.resize(pool_.graph().size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (members >> i & 1)
        op.members.set(nodes_[i]);
      if (!(results >> i & 1))
        continue;
      if (!pool_.memo().find(nodes_[i], frame)->storable)
        return;
      op.roots.push_back(nodes_[i]);
    }
    pool_.cost().price(op);
    if (!pool_.fillsItsFrame(op) ||
        !pool_.fitsIntoRegisters(op.members.count(), op.roots.size(), op.arrays))
      return;
    Set reads = 0;
    for (int read : op.reads)
      if (int position = positionOf(read); position < static_cast<int>(nodes_.size()))
        reads |= Set(1) << position;
    double nanoseconds = op.nanoseconds;
    byHighestResult_[31 - std::countl_zero(results)].push_back(
        {pool_.add(std::move(op)), members, results, reads, nanoseconds});
  }

  // Adds an operator for the highest result that is needed and not there.
  void choose(Set needed, Set present, double nanoseconds) {
    if (++steps_ > mostSteps || nanoseconds >= best_)
      return;
    Set missing = needed & ~present;
    if (missing == 0) {
      if (isValid())
        best_ = nanoseconds;
      return;
    }
    for (const Candidate &candidate : byHighestResult_[31 - std::countl_zero(missing)]) {
      if (candidate.results & present)
        continue;
      chosen_.push_back(&candidate);
      choose(needed | candidate.reads, present | candidate.results,
             nanoseconds + candidate.nanoseconds);
      chosen_.pop_back();
    }
  }

  // Operators must not wait for each other, and each sum must be computed by one of them.
  bool isValid() const {
    llvm::SmallVector<int> ids;
    Set sampled = 0, addedUp = 0;
    for (const Candidate *candidate : chosen_) {
      ids.push_back(candidate->id);
      for (size_t i = 0; i < nodes_.size(); ++i) {
        Set bit = Set(1) << i;
        if (!(candidate->members & bit) || !pool_.isAddedUp(nodes_[i]))
          continue;
        bool isSampled = pool_.memo().find(nodes_[i], pool_[candidate->id].frame)->isSampled;
        if (addedUp & bit || (!isSampled && sampled & bit))
          return false;
        (isSampled ? sampled : addedUp) |= bit;
      }
    }
    return !OperatorOrder(pool_, ids).isCyclic();
  }

  static constexpr int64_t mostSteps = 20'000'000;
  OperatorPool &pool_;
  llvm::ArrayRef<int> nodes_;
  std::vector<std::vector<Candidate>> byHighestResult_;
  std::vector<const Candidate *> chosen_;
  double best_ = std::numeric_limits<double>::infinity();
  int64_t steps_ = 0;
};

int fromEnvironment(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

// The nanoseconds of an operator that only has dense operands and is no native; nullopt of others.
std::optional<double> nanosecondsOfDense(const OperatorPool &pool, const FusedOperator &op) {
  const BlockGraph &graph = pool.graph();
  const Frame &frame = pool.memo().frames[op.frame];
  const cost::MachineModel &machine = pool.machine();
  if (frame.isNative || frame.driver)
    return std::nullopt;
  double rows = graph.facts().estimate(frame.space.rows), all = graph.cells(frame.space);
  auto isArray = [](mlir::Value value) { return tok::isArray(value.getType()); };
  // Vectors along rows are not all full. Narrow rows are transposed instead.
  double columns = graph.facts().estimate(frame.space.columns);
  bool isNarrow = frame.loops == Loops::Rows && frame.space.columns.isConstant() && columns <= 16;
  auto inVectors = [](double width) { return 8 * std::ceil(width / 8) / width; };
  double slowness = frame.loops == Loops::Rows && !isNarrow ? inVectors(columns) : 1;
  double read = 0, found = 0, written = 0, computed = 0, multiplied = 0, supplied = 0;
  int products = 0;
  bool multipliesComputed = false;
  llvm::SmallPtrSet<mlir::Value, 8> seen;
  for (int member : op.members.set_bits()) {
    const Node &node = graph[member];
    for (auto [operand, producer] : llvm::zip(node.operands, node.producers)) {
      if (!isArray(operand) || (producer >= 0 && op.members[producer]) ||
          !seen.insert(operand).second)
        continue;
      const Shape &shape = graph.shapeOf(operand);
      if (graph.facts().isSparse(operand))
        return std::nullopt;
      (producer < 0 ? found : read) += 8 * graph.cells(shape);
      if (isNarrow && shape.rows == frame.space.rows && !shape.hasOneColumn())
        computed += graph.cells(shape);
    }
    const Shape &shape = graph.shapeOf(isArray(node.result()) ? node.result() : node.operands[0]);
    switch (node.kind) {
    case NodeKind::Elementwise:
    case NodeKind::Aggregate: {
      const Shape &over =
          graph.shapeOf(node.kind == NodeKind::Aggregate ? node.operands[0] : node.result());
      bool isWide = over == frame.space || frame.loops == Loops::Cells;
      double points = isWide                          ? all * slowness
                      : over.hasOneColumn()           ? rows
                      : over.rows == frame.space.rows ? graph.cells(over)
                                                      : all / 8 * slowness;
      computed += pool.cost().additions(member) * points;
      break;
    }
    case NodeKind::Product: { // on the fixed model, tiles of registers are no faster
      double width = graph.facts().estimate(shape.columns);
      multiplied += graph.cells(graph.shapeOf(node.operands[0])) * width *
                    (frame.loops == Loops::Rows && !isNarrow ? slowness : inVectors(width));
      ++products;
      multipliesComputed |= node.producers[0] >= 0 && op.members[node.producers[0]];
      break;
    }
    default:
      return std::nullopt;
    }
  }
  // Tiles of registers are only used for products of what is read, and for chains of products.
  bool isSlow = frame.loops == Loops::AnyAxes &&
                ((products == 1 && multipliesComputed) || (products > 1 && op.roots.size() > 1));
  computed += (isSlow ? 13 : 1) * multiplied;
  for (int root : op.roots)
    if (mlir::Value result = graph[root].result(); isArray(result)) {
      if (graph.facts().isSparse(result))
        return std::nullopt;
      double bytes = 8 * graph.cells(graph.shapeOf(result));
      written += bytes;
      supplied += bytes * machine.freshShare * machine.firstTouchNanosecondsPerByte *
                  std::clamp(bytes / machine.privateCacheBytes - 0.5, 0.0, 1.0);
    }
  // Arrays of the block are read while the operator touches others, those that the block is given after all
  // that it touches. The caches, which are all equally fast, keep the rest.
  auto between = [&](double bytes, double near, double far) {
    double streamed = std::clamp(bytes / machine.sharedCacheBytes - 0.5, 0.0, 1.0);
    return streamed / far + (1 - streamed) / near;
  };
  double bytes = read + found + written, touched = std::max(bytes, machine.touchedBytes);
  auto reading = [&](double of) {
    return between(of, machine.sharedReadBytesPerNanosecond, machine.memoryReadBytesPerNanosecond);
  };
  double writing = between(touched, machine.sharedWriteBytesPerNanosecond,
                           machine.memoryWriteBytesPerNanosecond);
  double moving = read * reading(bytes) + found * reading(touched) + written * writing;
  double computing = computed / machine.flopsPerNanosecond;
  return machine.launchNanoseconds + supplied + std::max(moving, computing) +
         machine.unhiddenShare * std::min(moving, computing);
}

} // namespace

// Goes through all covers of small partitions: no bound of a part of a cover is above what the whole takes,
// whatever is decided first about one of the results.
TEST(PlanProof, noBoundIsTooHigh) {
  int wanted = fromEnvironment("TOKAMAK_PROVED_PARTITIONS", 300);
  int checked = 0;
  constexpr unsigned computedAgain =
      5333; // a plan of this block computes an operation in two operators
  unsigned next = 0;
  for (unsigned seed = computedAgain; checked < wanted; seed = next++) {
    RandomBlock text(seed, 4 + seed % 8, 3);
    FusedBlock block(RandomBlock::arguments, text.results, text.body);
    block.machine.launchNanoseconds = seed % 3 ? 1500 : 3e6;
    auto [graph, memo, pool] = Candidates(block);
    for (const Partition &partition : searchPlan(pool).partitions) {
      if (partition.nodes.size() < 3 || partition.nodes.size() > 8)
        continue;
      ++checked;
      PartitionFacts facts(pool, partition.nodes);
      PlanBound bound(facts);
      if (seed % 2)
        bound.raise(partition.nanoseconds * 1.5, static_cast<int>(seed % 50));
      if (seed % 3 == 0) { // any shares
        CostShares shares = bound.shares(), slope = shares;
        std::mt19937 random(seed);
        for (std::vector<double> *changes : {&slope.computing, &slope.ofUse, &slope.ofStored})
          for (double &change : *changes)
            change = static_cast<double>(random() % 5);
        for (llvm::SmallVector<double> &changes : slope.ofReaders)
          for (double &change : changes)
            change = static_cast<double>(random() % 5);
        shares.moveAlong(slope, 100, facts);
        bound = PlanBound(bound, std::move(shares));
      }
      // Any plan will do for the best one known: this one computes as much as possible several times.
      llvm::SmallVector<int> operators;
      for (int node : partition.nodes)
        if (pool.mustBeStored(node))
          operators.push_back(pool.operatorFor(node, llvm::BitVector(graph.size())));
      auto check = [&](const PlanBound &bound) {
        constexpr double mayTake = 100e6; // nanoseconds
        CoverSearch search(pool, bound, partition.nodes,
                           seed % 2 ? llvm::ArrayRef(operators) : partition.operators,
                           {partition.nanoseconds * 1.5, mayTake, /*leavesOut=*/false});
        search.run();
        EXPECT_LE(search.tightest(), 1 + 1e-9) << "seed " << seed << "\n" << text.body;
      };
      check(bound);
      int node = partition.nodes[seed / 2 % partition.nodes.size()];
      if (bound.storing(node) == Storing::Open)
        check(PlanBound(bound, node, seed / 4 % 2 ? Storing::Stored : Storing::Inside));
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

// What the search for covers finds if no plan and no good bound is known.
static double cheapestFromScratch(OperatorPool &pool, const Partition &partition) {
  PartitionFacts facts(pool, partition.nodes);
  PlanBound bound(facts);
  constexpr double mayTake = 100e6; // nanoseconds
  CoverSearch search(pool, bound, partition.nodes, /*operators=*/{},
                     {std::numeric_limits<double>::infinity(), mayTake});
  search.run();
  return search.took() < mayTake ? search.nanoseconds() : partition.nanoseconds;
}

TEST(PlanProof, noCoverIsCheaper) {
  auto mostNodes = static_cast<size_t>(fromEnvironment("TOKAMAK_PROVED_OPERATIONS", 10));
  int wanted = fromEnvironment("TOKAMAK_PROVED_PARTITIONS", 300);
  int proved = 0, unproved = 0, tooLarge = 0;
  int64_t dense = 0;
  constexpr unsigned waiting =
      2163; // the cheapest operators of this block would wait for each other
  unsigned next = fromEnvironment("TOKAMAK_FIRST_SEED", 0);
  for (unsigned seed = waiting; proved < wanted; seed = next++) {
    RandomBlock text(seed, 6 + seed % (mostNodes + 4));
    FusedBlock block(RandomBlock::arguments, text.results, text.body);
    // With arrays of a million rows, launches matter only if they are very slow.
    block.machine.launchNanoseconds = seed % 3 ? 1500 : 3e6;
    auto [graph, memo, pool] = Candidates(block);
    Plan plan = searchPlan(pool);
    for (const Partition &partition : plan.partitions) {
      if (partition.nodes.size() < 4 || partition.nodes.size() > mostNodes)
        continue;
      Enumeration enumeration(pool, partition.nodes);
      double cheapest = enumeration.cheapest();
      if (cheapest < 0) {
        ++tooLarge;
        continue;
      }
      ++proved;
      unproved += !partition.isExact();
      EXPECT_NEAR(partition.nanoseconds / cheapest, 1, 1e-6) << "seed " << seed << "\n"
                                                             << text.body;
      EXPECT_LE(partition.least, cheapest * (1 + 1e-6)) << "seed " << seed;
      EXPECT_NEAR(cheapestFromScratch(pool, partition) / cheapest, 1, 1e-6) << "seed " << seed;
      for (int id : enumeration.operators())
        if (std::optional<double> nanoseconds = nanosecondsOfDense(pool, pool[id])) {
          ++dense;
          EXPECT_NEAR(pool[id].nanoseconds / *nanoseconds, 1, 1e-9) << "seed " << seed;
        }
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(dense, wanted);
  // The search ends where it pays no more.
  EXPECT_LE(unproved, proved / 1000);
  std::printf(
      "%d partitions proved (%d were too large to enumerate), of %d not said by the search; "
      "%lld dense operators priced\n",
      proved, tooLarge, unproved, static_cast<long long>(dense));
}
