#include "fusion/select/OperatorPool.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// Larger bodies spill registers and take long to compile.
static constexpr size_t mostMergedMembers = 128;
// From some hundred operations on, LLVM's compile time grows with the square of a body's length.
// Cutting a chain of n additions costs writing and reading one array: on the fixed machine model
// 8/6 + 8/12 = 2 ns a cell, in addition to n/8 ns of computing. For n = 256 this is 6 %, and less
// for more expensive operators, so longer bodies don't pay.
static constexpr size_t mostMembers = 256;

OperatorPool::OperatorPool(const BlockGraph &graph, const MemoTable &memo,
                           const cost::MachineModel &machine, Selector selector)
    : cost_(graph, memo, machine), selector_(selector), mustBeStored_(graph.size()),
      scopes_(graph.size(), BitVector(graph.size())),
      allowed_(memo.frames.size(), BitVector(graph.size())) {
  for (int index : graph.nodes()) {
    const Node &node = graph[index];
    for (const MemoGroup &group : memo.groups[index])
      allowed_[group.frame].set(index);
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
  candidate.frames.resize(memo().frames.size());
  int own = candidate.frame;
  for (candidate.frame = 0; candidate.frame < static_cast<int>(memo().frames.size());
       ++candidate.frame)
    if (!memo().frames[candidate.frame].isNative && allowsMembers(candidate))
      candidate.frames.set(candidate.frame);
  candidate.frame = own;
  operators_.push_back(std::move(candidate));
  return static_cast<int>(operators_.size()) - 1;
}

bool OperatorPool::fillsItsFrame(const FusedOperator &candidate) const {
  const Frame &frame = memo().frames[candidate.frame];
  // A product alone is left to the native; kernels convolve faster where there are few filters, which the cost says.
  if (frame.loops >= Loops::AnyAxes && candidate.members.count() == 1 &&
      (selector_ != Selector::Cost ||
       graph()[candidate.members.find_first()].kind != NodeKind::Convolution))
    return false;
  if (frame.driver) {
    llvm::SmallPtrSet<Value, 4> read;
    candidate.forEachInput(graph(), [&](Use use) {
      const Node &node = graph()[use.user];
      if (node.readsInPlace(use.operand))
        read.insert(node.operands[use.operand]);
    });
    if (!llvm::all_of(frame.driver.arrays, [&](Value array) { return read.contains(array); }))
      return false;
  }
  // From members over the whole space to all that use or read the same arrays, as far as that goes.
  BitVector filled(graph().size()), values(cost_.inputs().size());
  auto fill = [&](int member) {
    filled.set(member);
    for (int input : cost_.inputsOf(member))
      if (cost_.inputs()[input].isArray)
        values.set(input);
  };
  for (int member : candidate.members.set_bits())
    if (cost_.group(member, candidate.frame)->natural)
      fill(member);
  auto isRelated = [&](int member) {
    return llvm::any_of(cost_.inputsOf(member),
                        [&](int input) {
                          int producer = cost_.inputs()[input].producer;
                          return values[input] || (producer >= 0 && filled[producer]);
                        }) ||
           llvm::any_of(graph()[member].users, [&](Use use) { return filled[use.user]; });
  };
  for (size_t before = 0; before < filled.count();) {
    before = filled.count();
    for (int member : candidate.members.set_bits())
      if (!filled[member] && isRelated(member))
        fill(member);
  }
  return filled.count() == candidate.members.count();
}

bool OperatorPool::fitsIntoRegisters(size_t members, size_t results, size_t arrays) const {
  return results == 1 ? members <= mostMembers
                      : members <= mostMergedMembers && arrays <= machine().addressRegisters;
}

bool OperatorPool::isBetter(const FusedOperator &candidate, const FusedOperator &best) const {
  bool isFlat = memo().frames[candidate.frame].loops == Loops::Cells;
  return candidate.nanoseconds < best.nanoseconds * (isFlat ? 1 + 1e-9 : 1 - 1e-9);
}

bool OperatorPool::isAddedUp(int index) const {
  const Node &node = graph()[index];
  if (node.kind != NodeKind::Aggregate)
    return node.kind == NodeKind::Product || node.kind == NodeKind::TransposedProduct ||
           node.kind == NodeKind::Scan;
  return node.aggregation() == AggregateKind::Sum || node.aggregation() == AggregateKind::Prod;
}

// Sampled products are always added up in the same order.
BitVector OperatorPool::addedUpAgain(ArrayRef<int> operators) const {
  BitVector sampled(graph().size()), other = sampled, again = sampled;
  for (int id : operators)
    for (int member : operators_[id].members.set_bits()) {
      if (!isAddedUp(member))
        continue;
      bool isSampled = cost_.group(member, operators_[id].frame)->isSampled;
      if (other[member] || (!isSampled && sampled[member]))
        again.set(member);
      (isSampled ? sampled : other).set(member);
    }
  return again;
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
      const MemoGroup *group = cost_.group(member, frame);
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

// Whether the frame allows all members, with what they use of each other.
bool OperatorPool::allowsMembers(const FusedOperator &candidate) const {
  if (candidate.members.test(allowed_[candidate.frame])) // some are not
    return false;
  for (int member : candidate.members.set_bits()) {
    unsigned fusable = cost_.group(member, candidate.frame)->fusable;
    for (auto [operand, producer] : llvm::enumerate(graph()[member].producers))
      if (producer >= 0 && candidate.members[producer] && !(fusable >> operand & 1))
        return false;
  }
  return true;
}

int OperatorPool::merge(int a, int b, llvm::function_ref<bool(int)> keep) {
  if (a > b)
    std::swap(a, b);
  if (!operators_[a].frames.anyCommon(operators_[b].frames))
    return -1;
  llvm::SmallBitVector kept; // by place among the roots of the first and then of the second
  for (int id : {a, b})
    for (int root : operators_[id].roots)
      kept.push_back(keep(root));
  auto [known, isNew] = merged_.try_emplace({a, b, kept}, -1);
  if (!isNew)
    return known->second;
  BitVector roots(graph().size());
  int place = 0;
  for (int id : {a, b})
    for (int root : operators_[id].roots)
      if (kept[place++])
        roots.set(root);
  return known->second = makeMerged(a, b, roots);
}

// Takes the cheapest frame that allows the merge; none if it saves nothing.
int OperatorPool::makeMerged(int a, int b, const BitVector &roots) {
  const FusedOperator &first = operators_[a], &second = operators_[b];
  BitVector frames = first.frames;
  frames &= second.frames;
  FusedOperator best, candidate;
  candidate.members = first.members;
  candidate.members |= second.members;
  candidate.roots.assign(roots.set_bits_begin(), roots.set_bits_end());
  for (int frame : frames.set_bits()) {
    candidate.frame = frame;
    auto isStorable = [&](int root) { return cost_.group(root, frame)->storable; };
    if (!llvm::all_of(candidate.roots, isStorable) || !allowsMembers(candidate))
      continue;
    cost_.price(candidate);
    if (candidate.nanoseconds < first.nanoseconds + second.nanoseconds &&
        fitsIntoRegisters(candidate.members.count(), candidate.roots.size(), candidate.arrays) &&
        (best.frame < 0 || isBetter(candidate, best)) && fillsItsFrame(candidate))
      best = candidate;
  }
  return best.frame < 0 ? -1 : add(std::move(best));
}
