#include "fusion/explore/MemoTable.h"

#include "fusion/explore/Notation.h"

#include "mlir/Analysis/SliceAnalysis.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <bit>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

const MemoGroup *MemoTable::find(int operation, int frame) const {
  for (const MemoGroup &group : groups[operation])
    if (group.frame == frame)
      return &group;
  return nullptr;
}

bool MemoTable::isFusable(Use use) const {
  return llvm::any_of(groups[use.user],
                      [&](const MemoGroup &group) { return group.fusable >> use.operand & 1; });
}

int MemoTable::entryCount() const {
  int count = 0;
  for (const auto &ofOperation : groups)
    for (const MemoGroup &group : ofOperation)
      count += 1 << std::popcount(group.fusable);
  return count;
}

static SmallVector<EntryPattern> findDrivers(const BlockGraph &graph, Drivers drivers) {
  auto isShared = [&](Value array) {
    return llvm::none_of(graph.nodes(), [&](int node) {
      return graph[node].operation == array.getDefiningOp() &&
             graph[node].kind == NodeKind::Elementwise && graph.consumers(node) < 2;
    });
  };
  SmallVector<EntryPattern> found;
  for (const EntryPattern &pattern : graph.facts().patterns())
    if (drivers == Drivers::All || llvm::all_of(pattern.arrays, isShared))
      found.push_back(pattern);
  return found;
}

// Frames are opened for every space that some operation iterates over: by both kinds of loops, and at
// the entries of every driver of this shape; over any axes where an operation needs it; by natives.
static std::vector<Frame> collectFrames(const BlockGraph &graph, ArrayRef<EntryPattern> drivers) {
  std::vector<Frame> frames;
  for (int node : graph.nodes()) {
    auto consider = [&](const Frame &frame) {
      if (!llvm::is_contained(frames, frame) && judge(graph, node, frame).natural)
        frames.push_back(frame);
    };
    for (Shape space : graph[node].spaces) {
      for (Loops loops : {Loops::Cells, Loops::Rows})
        consider({loops, space});
      for (const EntryPattern &driver : drivers)
        if (graph.facts().shapeOf(driver) == space)
          consider({Loops::Rows, space, driver});
    }
    Shape result = graph.shapeOf(graph[node].result());
    consider({Loops::Scans, result});
    result.columns = Size::constant(1);
    consider({Loops::AnyAxes, result});
    consider({Loops::Rows, {}, {}, /*isNative=*/true});
  }
  return frames;
}

// Adds the groups of one operation: in each frame where it is legal, it may be fused with the
// operands whose producers have open entries in this frame.
static void addGroups(const BlockGraph &graph, int index, MemoTable &memo) {
  const Node &node = graph[index];
  for (auto [number, frame] : llvm::enumerate(memo.frames)) {
    MemoGroup group{judge(graph, index, frame), static_cast<int>(number)};
    if (!group.isLegal)
      continue;
    for (auto [operand, producer] : llvm::enumerate(node.producers)) {
      const MemoGroup *own = graph.isNode(producer) ? memo.find(producer, group.frame) : nullptr;
      if (!own || !own->open)
        group.fusable &= ~(1u << operand);
    }
    memo.groups[index].push_back(group);
  }
}

// Removes groups that lead to no operator: their result can neither be stored in the frame nor be
// computed together with a user that leads to one.
static void removeDeadEnds(const BlockGraph &graph, MemoTable &memo) {
  for (int index : llvm::reverse(graph.nodes()))
    llvm::erase_if(memo.groups[index], [&](const MemoGroup &group) {
      return !group.storable && llvm::none_of(graph[index].users, [&](Use use) {
        const MemoGroup *user = graph.isNode(use.user) ? memo.find(use.user, group.frame) : nullptr;
        return user && user->fusable >> use.operand & 1;
      });
    });
}

// Removes groups that no operator of the frame can have, because nothing that uses or reads the same
// arrays, as far as that goes, runs over the frame's whole space (OperatorPool::fillsItsFrame).
static void removeUnrelated(const BlockGraph &graph, MemoTable &memo) {
  for (auto [number, frame] : llvm::enumerate(memo.frames)) {
    if (frame.isNative)
      continue;
    llvm::EquivalenceClasses<int> related;
    llvm::SmallDenseMap<Value, int> firstReader;
    llvm::SmallDenseSet<int> fills;
    auto groupOf = [&, frame = static_cast<int>(number)](int node) -> const MemoGroup * {
      return graph.isNode(node) ? memo.find(node, frame) : nullptr;
    };
    for (int node : graph.nodes()) {
      if (!groupOf(node))
        continue;
      related.insert(node);
      for (auto [operand, producer] : llvm::zip(graph[node].operands, graph[node].producers)) {
        if (tok::isArray(operand.getType()))
          related.unionSets(firstReader.try_emplace(operand, node).first->second, node);
        if (groupOf(producer))
          related.unionSets(producer, node);
      }
    }
    for (int node : graph.nodes())
      if (const MemoGroup *group = groupOf(node); group && group->natural)
        fills.insert(related.getLeaderValue(node));
    for (int node : graph.nodes())
      if (groupOf(node) && !fills.contains(related.getLeaderValue(node)))
        llvm::erase_if(memo.groups[node],
                       [&, frame = static_cast<int>(number)](const MemoGroup &group) {
                         return group.frame == frame;
                       });
  }
}

// Whether the value is computed from the array by elementwise operations only.
static bool dependsOn(const BlockGraph &graph, Value value, Value array) {
  BackwardSliceOptions elementwise;
  elementwise.inclusive = true;
  elementwise.filter = [&](Operation *operation) {
    return isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp>(operation) &&
           graph.shapeOf(operation->getResult(0)) == graph.shapeOf(array);
  };
  llvm::SetVector<Operation *> slice;
  getBackwardSlice(value, &slice, elementwise);
  return llvm::any_of(slice, [&](Operation *operation) {
    return llvm::is_contained(operation->getOperands(), array);
  });
}

// Records why results that depend on a sparse array are computed in all cells nevertheless.
static void recordSparseRefusals(const BlockGraph &graph, ArrayRef<EntryPattern> drivers,
                                 MemoTable &memo) {
  auto refuse = [&](int index, Value value, const char *what) {
    for (const EntryPattern &driver : drivers) {
      Value array = driver.arrays.front();
      // The value may also be computed at the union of this array's entries and others'.
      bool isDriven = llvm::any_of(drivers, [&](const EntryPattern &other) {
        return driver.isWithin(other) && graph.facts().whereZero(other, value).isZero();
      });
      if (driver.arrays.size() == 1 && array != value && !isDriven &&
          graph.shapeOf(array) == graph.shapeOf(value) && dependsOn(graph, value, array))
        memo.refusals.push_back(
            {index, std::string(what) + "not zero where " + notation(array) + " is zero"});
    }
  };
  for (int index : graph.nodes()) {
    const Node &node = graph[index];
    if (node.kind == NodeKind::Elementwise && node.leavesBlock)
      refuse(index, node.result(), "");
    else if (node.kind != NodeKind::Elementwise)
      for (Value operand : node.operands)
        if (tok::isArray(operand.getType()))
          refuse(index, operand, "its operand is ");
  }
}

static void recordRefusals(const BlockGraph &graph, MemoTable &memo) {
  for (int index = 0; index < graph.size(); ++index) {
    const Node &node = graph[index];
    if (!node.live)
      continue;
    if (!node.refusal.empty())
      memo.refusals.push_back({index, node.refusal});
    if (!graph.isNode(index))
      continue;
    for (Use use : node.users)
      if (!memo.isFusable(use) && (graph.isNode(use.user) || tok::isArray(node.result().getType())))
        memo.refusals.push_back({index, refusalOfEdge(graph, use)});
  }
}

MemoTable fusion::explore(const BlockGraph &graph, Drivers which) {
  MemoTable memo;
  SmallVector<EntryPattern> drivers = findDrivers(graph, which);
  memo.frames = collectFrames(graph, drivers);
  memo.groups.resize(graph.size());
  for (int node : graph.nodes())
    addGroups(graph, node, memo);
  removeDeadEnds(graph, memo);
  removeUnrelated(graph, memo);
  recordRefusals(graph, memo);
  recordSparseRefusals(graph, drivers, memo);
  return memo;
}
