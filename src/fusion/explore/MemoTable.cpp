#include "fusion/explore/MemoTable.h"

#include "fusion/explore/Notation.h"

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

// Open: every space that some operation iterates over, under both templates.
static std::vector<Frame> collectFrames(const BlockGraph &graph) {
  std::vector<Frame> frames;
  for (int node : graph.nodes())
    for (FusionTemplate fusionTemplate : {FusionTemplate::Cell, FusionTemplate::Row}) {
      Frame frame{fusionTemplate, graph[node].space};
      if (judge(graph, node, fusionTemplate, frame.space).legal &&
          !llvm::is_contained(frames, frame))
        frames.push_back(frame);
    }
  return frames;
}

// Fuse and merge: the operands whose producers have open entries in the frame; close: the verdict's
// `open`.
static void addGroups(const BlockGraph &graph, int index, MemoTable &memo) {
  const Node &node = graph[index];
  for (auto [number, frame] : llvm::enumerate(memo.frames)) {
    Verdict verdict = judge(graph, index, frame.fusionTemplate, frame.space);
    if (!verdict.legal)
      continue;
    uint8_t fusable = 0;
    for (auto [operand, producer] : llvm::enumerate(node.producers)) {
      if (!(verdict.fusable >> operand & 1) || !graph.isNode(producer))
        continue;
      const MemoGroup *group = memo.find(producer, static_cast<int>(number));
      if (group && group->open)
        fusable |= 1u << operand;
    }
    bool natural = node.space == frame.space;
    memo.groups[index].push_back(
        {static_cast<int>(number), fusable, verdict.open, verdict.storable, natural});
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
    for (Use use : node.users) {
      const Node &user = graph[use.user];
      if (graph.isNode(use.user) && !memo.isFusable(use))
        memo.refusals.push_back({index, refusalOfEdge(graph, use)});
      else if (!graph.isNode(use.user) && tok::isArray(node.operation->getResult(0).getType()))
        memo.refusals.push_back({index, "read by " +
                                            user.operation->getName().stripDialect().str() +
                                            ", for which no kernel is generated"});
    }
  }
}

MemoTable fusion::explore(const BlockGraph &graph) {
  MemoTable memo;
  memo.frames = collectFrames(graph);
  memo.groups.resize(graph.size());
  for (int node : graph.nodes())
    addGroups(graph, node, memo);
  recordRefusals(graph, memo);
  return memo;
}
