#include "fusion/select/OperatorCost.h"

#include "fusion/select/ArrayBytes.h"
#include "fusion/select/CellWork.h"
#include "fusion/select/WorkAccount.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// Operators from so many additions on are expensive (schedule/Instructions.h).
static constexpr double fewestExpensiveAdditions = 8;
// Kernels don't use tiles of registers for a product whose left factor they compute of other things than
// products, nor for several products that are results: each multiplication takes that many more times as long.
static constexpr double slownessWithoutTiles = 12;

namespace {

// The bytes of all arrays that the block takes and returns, and of those that natives read and write, as far as
// their sizes are known or estimated: most of unknown size are small.
double bytesTouchedBy(const BlockGraph &graph) {
  double bytes = 0;
  llvm::SmallPtrSet<Value, 16> seen;
  auto touch = [&](Value value) {
    if (tok::isArray(value.getType()) && seen.insert(value).second &&
        llvm::all_of(graph.facts().sizesOf(value),
                     [](const Size &size) { return size.estimate(-1) >= 0; }))
      bytes += bytesOf(graph.facts(), value);
  };
  for (int index = 0; index < graph.size(); ++index) {
    const Node &node = graph[index];
    if (!node.live || node.kind == NodeKind::Slice)
      continue;
    for (auto [operand, producer] : llvm::zip(node.operands, node.producers))
      if (producer < 0 || !graph.isNode(index))
        touch(operand);
    for (Value result : node.operation->getResults())
      if (node.leavesBlock || !graph.isNode(index))
        touch(result);
  }
  return bytes;
}

// The machine as the block's operators find it, if the block touches so many bytes.
cost::MachineModel machineFor(const BlockGraph &graph, const cost::MachineModel &machine,
                              double touchedBytes) {
  return cost::inBlock(machine, std::max(touchedBytes, graph.surroundingBytes()),
                       graph.loopOperations());
}

// Whether what the product multiplies is computed of a sampled product with the same factor V, as in
// (X * f(U %*% t(V))) %*% V: where the frame allows both, each entry reads one row of V for them.
bool followsSampledProduct(const BlockGraph &graph, ArrayRef<const MemoGroup *> groups,
                           int product) {
  if (graph[product].kind != NodeKind::Product)
    return false;
  Value factor = graph[product].operands[1];
  llvm::SmallSetVector<int, 8> computed;
  computed.insert(graph[product].producers[0]);
  for (size_t next = 0; next < computed.size(); ++next) { // the set grows meanwhile
    int index = computed[next];
    if (!graph.isNode(index) || !groups[index])
      continue;
    auto transpose = graph[index].operands.size() == 2
                         ? graph[index].operands[1].getDefiningOp<tok::TransposeOp>()
                         : tok::TransposeOp();
    if (groups[index]->isSampled && transpose && transpose.getOperand() == factor)
      return true;
    computed.insert(graph[index].producers.begin(), graph[index].producers.end());
  }
  return false;
}

// Of arrays that the block is given.
cost::Work found(cost::Work work) {
  work.foundBytes += std::exchange(work.readBytes, 0);
  return work;
}

// Whether two slices are nearly the same part of one array, shifted by a few cells, as the neighbours of a picture's cells are: an
// operator that goes through both reads from memory once.
bool overlap(const BlockFacts &facts, const Node &first, const Node &second) {
  constexpr double leastShare = 7.0 / 8;
  if (first.operands[0] != second.operands[0] ||
      facts.shapeOf(first.result()) != facts.shapeOf(second.result()))
    return false;
  return llvm::all_of(llvm::seq(2), [&](int dimension) {
    auto begin = [&](const Node &node) {
      return facts.estimate(facts.integerOf(node.operands[1 + 2 * dimension]));
    };
    double length = facts.estimate(facts.sizesOf(first.result())[dimension]);
    return length - std::abs(begin(first) - begin(second)) >= leastShare * length;
  });
}

} // namespace

OperatorCost::OperatorCost(const BlockGraph &graph, const MemoTable &memo,
                           const cost::MachineModel &machine)
    : OperatorCost(graph, memo, machine, bytesTouchedBy(graph)) {}

OperatorCost::OperatorCost(const BlockGraph &graph, const MemoTable &memo,
                           const cost::MachineModel &machine, double touchedBytes)
    : graph(graph), memo(memo), machine(machineFor(graph, machine, touchedBytes)), unused_(machine),
      touchedBytes_(touchedBytes), inputsOf_(graph.size()) {
  llvm::SmallDenseMap<Value, int> numbers;
  SmallVector<int> readers;                // by input: the first node that reads it
  SmallVector<std::pair<int, int>> slices; // nodes, and the inputs that they read
  for (int index : graph.nodes())
    for (auto [value, producer] : llvm::zip(graph[index].operands, graph[index].producers)) {
      auto next = static_cast<int>(inputs_.size());
      int number = next;
      if (graph[index].kind != NodeKind::Slice) {
        number = numbers.try_emplace(value, next).first->second;
      } else if (tok::isArray(value.getType())) {
        auto *other = llvm::find_if(slices, [&](auto slice) {
          return overlap(graph.facts(), graph[slice.first], graph[index]);
        });
        number = other == slices.end() ? next : other->second;
        slices.push_back({index, number});
      }
      inputsOf_[index].push_back(number);
      if (number < next)
        continue;
      inputs_.push_back({value, producer, tok::isArray(value.getType())});
      readers.push_back(index);
    }
  additions_.resize(graph.size());
  for (int node : graph.nodes())
    additions_[node] = additionsOf(graph[node], graph.facts(), machine);
  for (auto [number, frame] : llvm::enumerate(memo.frames)) {
    bool hasExpensive = llvm::any_of(graph.nodes(), [&, number = number](int node) {
      const MemoGroup *group = memo.find(node, static_cast<int>(number));
      bool isOfRows = group && has(group->over, Axes::Rows | Axes::Columns | Axes::Other);
      return group && (isOfRows || (graph[node].kind == NodeKind::Elementwise &&
                                    additions_[node] >= fewestExpensiveAdditions));
    });
    auto accountOf = [&] { return WorkAccount(graph.facts(), machine, frame, hasExpensive); };
    std::vector<cost::Work> &reading = reading_.emplace_back(inputs_.size());
    for (auto [input, work] : llvm::enumerate(reading))
      if (WorkAccount account = accountOf(); inputs_[input].isArray) {
        account.addOperand(graph[readers[input]], inputs_[input].value);
        work = inputs_[input].producer < 0 ? found(account.work) : account.work;
        work.overhead += this->machine.arrayNanoseconds;
      }
    std::vector<const MemoGroup *> &groups = groups_.emplace_back(graph.size());
    std::vector<cost::Work> &computing = computing_.emplace_back(graph.size());
    std::vector<cost::Work> &storing = storing_.emplace_back(graph.size());
    for (int node : graph.nodes()) {
      groups[node] = memo.find(node, static_cast<int>(number));
      if (!groups[node])
        continue;
      WorkAccount computed = accountOf(), stored = accountOf();
      computed.addMember(graph[node], additions_[node], *groups[node],
                         followsSampledProduct(graph, groups, node));
      computing[node] = computed.work;
      if (!tok::isArray(graph[node].result().getType()))
        continue;
      stored.addResult(graph[node].result());
      storing[node] = stored.work;
      storing[node].overhead += this->machine.arrayNanoseconds;
      storing[node].waiting += cost::firstTouchNanoseconds(this->machine, stored.work.writtenBytes);
    }
  }
}

static bool mayHaveTiles(NodeKind kind) {
  return kind == NodeKind::Product || kind == NodeKind::Convolution;
}

// Whether its products, if it has any, are computed in tiles of registers.
bool OperatorCost::hasTiles(const FusedOperator &candidate) const {
  if (memo.frames[candidate.frame].loops != Loops::AnyAxes)
    return true;
  int products = 0;
  bool computesFactor = false;
  for (int member : candidate.members.set_bits())
    if (mayHaveTiles(graph[member].kind)) {
      ++products;
      int producer = graph[member].producers[0];
      computesFactor |= producer >= 0 && candidate.members[producer];
    }
  return products == 0 || (products == 1 ? !computesFactor : candidate.roots.size() == 1);
}

cost::Work OperatorCost::workOf(FusedOperator &candidate) const {
  cost::Work work;
  BitVector seen(inputs_.size());
  for (int member : candidate.members.set_bits()) {
    work += computing(member, candidate.frame);
    for (int input : inputsOf(member))
      if (int producer = inputs_[input].producer; producer < 0 || !candidate.members[producer])
        seen.set(input);
  }
  candidate.reads.clear();
  candidate.arrays = 0;
  for (int number : seen.set_bits()) {
    const OperatorInput &input = inputs_[number];
    work += reading(number, candidate.frame);
    if (graph.isNode(input.producer) && !llvm::is_contained(candidate.reads, input.producer))
      candidate.reads.push_back(input.producer);
    candidate.arrays += input.isArray;
  }
  for (int root : candidate.roots) {
    work += storing(root, candidate.frame);
    candidate.arrays += tok::isArray(graph[root].result().getType());
  }
  if (!hasTiles(candidate))
    for (int member : candidate.members.set_bits())
      if (mayHaveTiles(graph[member].kind))
        work.flops += slownessWithoutTiles * computing(member, candidate.frame).flops;
  return work;
}

void OperatorCost::price(FusedOperator &candidate) const {
  candidate.nanoseconds = cost::nanoseconds(machine, workOf(candidate));
}

Prediction OperatorCost::predict(FusedOperator candidate) const {
  cost::Work work = workOf(candidate);
  SmallVector<Value> touched;
  candidate.forEachInput(
      graph, [&](Use input) { touched.push_back(graph[input.user].operands[input.operand]); });
  for (int root : candidate.roots)
    touched.push_back(graph[root].result());
  return predict(work, bytesOfUnknownSize(touched, graph.facts()));
}

Prediction OperatorCost::predict(const cost::Work &work, double bytes) const {
  cost::Parts parts = cost::partsOf(machine, work);
  double total = cost::nanoseconds(machine, work);
  bool isComputing = parts.computing > parts.moving;
  Prediction prediction{total, cost::nanosecondsInParallel(machine, work), machine.threads,
                        (cost::withAllHidden(machine, parts) - parts.overhead) /
                            std::max(total, 1e-9),
                        isComputing ? Limit::Computing : Limit::Moving};
  if (bytes == 0)
    return prediction;
  prediction.bytes = bytes;
  double others = work.waiting - cost::firstTouchNanoseconds(machine, work.writtenBytes),
         times = std::pow(Prediction::step, -Prediction::stepsDown);
  for (Prediction::Time &time : prediction.ofOtherSizes) {
    cost::MachineModel found = machineFor(graph, unused_, times * touchedBytes_);
    found.launchNanoseconds = std::min(found.launchNanoseconds, machine.launchNanoseconds);
    cost::Work scaled = work.times(times);
    scaled.waiting =
        times * std::max(others, 0.0) + cost::firstTouchNanoseconds(found, scaled.writtenBytes);
    time = {cost::nanoseconds(found, scaled), cost::nanosecondsInParallel(found, scaled)};
    times *= Prediction::step;
  }
  return prediction;
}
