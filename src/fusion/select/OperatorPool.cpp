#include "fusion/select/OperatorPool.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// Merging operators that only have the same iteration space saves no more than a launch, which is
// not worth many memory streams.
static constexpr int mostUnrelatedArrays = 10;
// Larger bodies spill registers and take long to compile.
static constexpr unsigned mostMergedMembers = 64;
// From some hundred operations on, LLVM's compile time grows with the square of a body's length.
// Cutting a chain of n additions costs writing and reading one array: on the fixed machine model
// 8/6 + 8/12 = 2 ns a cell, in addition to n/8 ns of computing. For n = 256 this is 6 %, and less
// for more expensive operators, so longer bodies don't pay.
static constexpr unsigned mostMembers = 256;

OperatorPool::OperatorPool(const BlockGraph &graph, const MemoTable &memo,
                           const cost::MachineModel &machine, Selector selector)
    : cost_{graph, memo, machine}, selector_(selector), mustBeStored_(graph.size()),
      scopes_(graph.size(), BitVector(graph.size())) {
  for (int index : graph.nodes()) {
    const Node &node = graph[index];
    auto isFusable = [&](Use use) { return memo.isFusable(use); };
    mustBeStored_[index] = node.leavesBlock || !llvm::all_of(node.users, isFusable);
    for (auto [operand, producer] : llvm::enumerate(node.producers))
      if (memo.isFusable({index, static_cast<int>(operand)})) {
        scopes_[index] |= scopes_[producer];
        scopes_[index].set(producer);
      }
  }
}

int OperatorPool::add(FusedOperator candidate) {
  operators_.push_back(std::move(candidate));
  return static_cast<int>(operators_.size()) - 1;
}

// Whether some member runs over the whole iteration space (from vectors alone a kernel doesn't know
// the length of rows), and all arrays of the driver are read as matrices. Loops over any axes are for
// what natives can't compute together.
bool OperatorPool::fillsItsFrame(const FusedOperator &candidate) const {
  const Frame &frame = memo().frames[candidate.frame];
  if (frame.loops >= Loops::AnyAxes && candidate.members.count() == 1)
    return false;
  llvm::SmallPtrSet<Value, 4> read;
  candidate.forEachInput(graph(), [&](Use use) {
    const Node &node = graph()[use.user];
    if (node.readsInPlace(use.operand))
      read.insert(node.operands[use.operand]);
  });
  return llvm::any_of(candidate.members.set_bits(),
                      [&](int member) { return memo().find(member, candidate.frame)->natural; }) &&
         llvm::all_of(frame.driver.arrays, [&](Value array) { return read.contains(array); });
}

//===- operators of one result ---------------------------------------------------------------===//

// The members of the operator for `root`: all operations that the frame allows and that are not
// stored, up to `mostMembers`. If one user could compute an operand in the operator and another one
// needs it stored, both read it.
BitVector OperatorPool::expand(int root, int frame, const BitVector &stored) const {
  BitVector excluded(graph().size());
  while (true) {
    BitVector members(graph().size()), needed(graph().size());
    members.set(root);
    for (int member = root; member >= 0; --member) {
      if (!members[member])
        continue;
      const Node &node = graph()[member];
      const MemoGroup *group = memo().find(member, frame);
      for (auto [operand, producer] : llvm::enumerate(node.producers)) {
        if (!graph().isNode(producer))
          continue;
        bool inside = (group->fusable >> operand & 1) && !stored[producer] && !excluded[producer] &&
                      (members[producer] || members.count() < mostMembers);
        (inside ? members : needed).set(producer);
      }
    }
    needed &= members;
    if (needed.none())
      return members;
    excluded |= needed;
  }
}

int OperatorPool::operatorFor(int root, const BitVector &stored) {
  BitVector relevant = stored;
  relevant &= scopes_[root];
  auto key = std::pair(root, relevant);
  if (auto found = byRoot_.find(key); found != byRoot_.end())
    return found->second;

  FusedOperator best;
  int fewest = 0; // other results that the best operator needs stored
  for (const MemoGroup &group : memo().groups[root]) {
    if (!group.storable)
      continue;
    FusedOperator candidate;
    candidate.members = expand(root, group.frame, stored);
    candidate.roots = {root};
    candidate.frame = group.frame;
    if (!fillsItsFrame(candidate))
      continue;
    cost_.price(candidate);
    int additional = 0;
    candidate.total = candidate.nanoseconds;
    for (int read : candidate.reads)
      if (!stored[read] && !mustBeStored_[read]) {
        additional += selector_ != Selector::Cost;
        candidate.total += operators_[operatorFor(read, stored)].total;
      }
    // Among equally good frames, prefer the flat loop over cells.
    bool isFlat = memo().frames[group.frame].loops == Loops::Cells;
    double limit = best.total * (isFlat ? 1 + 1e-9 : 1 - 1e-9);
    if (best.frame < 0 || additional < fewest ||
        (additional == fewest && candidate.total < limit)) {
      best = std::move(candidate);
      fewest = additional;
    }
  }
  assert(best.frame >= 0 && "an operation that is generated can be stored alone");
  return byRoot_[key] = add(std::move(best));
}

//===- operators of several results ----------------------------------------------------------===//

bool OperatorPool::isLegal(const FusedOperator &candidate) const {
  for (int member : candidate.members.set_bits()) {
    const MemoGroup *group = memo().find(member, candidate.frame);
    if (!group)
      return false;
    for (auto [operand, producer] : llvm::enumerate(graph()[member].producers))
      if (producer >= 0 && candidate.members[producer] && !(group->fusable >> operand & 1))
        return false;
  }
  return fillsItsFrame(candidate) && llvm::all_of(candidate.roots, [&](int root) {
           return memo().find(root, candidate.frame)->storable;
         });
}

// Whether the operators have members or inputs in common, or one reads a result of the other.
static bool areRelated(const FusedOperator &a, const FusedOperator &b) {
  return a.members.anyCommon(b.members) ||
         llvm::any_of(a.roots, [&](int root) { return b.doesRead(root); }) ||
         llvm::any_of(b.roots, [&](int root) { return a.doesRead(root); }) ||
         llvm::any_of(a.inputs, [&](Value array) { return llvm::is_contained(b.inputs, array); });
}

int OperatorPool::merge(int a, int b, llvm::function_ref<bool(int)> keep) {
  if (a > b)
    std::swap(a, b);
  BitVector kept(graph().size());
  for (int id : {a, b})
    for (int root : operators_[id].roots)
      if (keep(root))
        kept.set(root);
  auto [known, isNew] = merged_.try_emplace({a, b, kept}, -1);
  if (isNew)
    known->second = makeMerged(a, b, kept);
  return known->second;
}

// Takes the cheapest frame that allows the merge, of the space of one of the operators.
int OperatorPool::makeMerged(int a, int b, const BitVector &roots) {
  const FusedOperator &first = operators_[a], &second = operators_[b];
  if (frameOf(a).isNative || frameOf(b).isNative)
    return -1;
  const Shape &firstSpace = frameOf(a).space, &secondSpace = frameOf(b).space;
  bool related = areRelated(first, second);
  if (!related && firstSpace != secondSpace)
    return -1;
  FusedOperator best;
  for (auto [number, frame] : llvm::enumerate(memo().frames)) {
    if (frame.isNative || (frame.space != firstSpace && frame.space != secondSpace))
      continue;
    FusedOperator candidate;
    candidate.members = first.members;
    candidate.members |= second.members;
    candidate.frame = static_cast<int>(number);
    candidate.roots.assign(roots.set_bits_begin(), roots.set_bits_end());
    if (!isLegal(candidate))
      continue;
    cost_.price(candidate);
    if (candidate.members.count() > mostMergedMembers ||
        candidate.arrays > (related ? machine().addressRegisters : mostUnrelatedArrays))
      continue;
    if (best.frame < 0 || candidate.nanoseconds < best.nanoseconds * (1 - 1e-9))
      best = std::move(candidate);
  }
  return best.frame < 0 ? -1 : add(std::move(best));
}
