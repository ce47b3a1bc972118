#include "frontend/onnx/rules/Trees.h"

#include "frontend/onnx/rules/Scores.h"

#include "frontend/onnx/ControlFlowBuilder.h"

#include "base/Error.h"

#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// The steps of the longest way. Throws Error if nodes lead back to themselves.
int64_t depthOf(const std::vector<TreeNode> &nodes) {
  auto count = static_cast<int64_t>(nodes.size());
  Numbers before(count, 0), depth(count, 1), ready;
  auto eachNext = [&](int64_t node, function_ref<void(int64_t)> visit) {
    for (int64_t next : {nodes[node].onTrue, nodes[node].onFalse})
      if (next < count)
        visit(next);
  };
  for (int64_t node = 0; node < count; ++node)
    eachNext(node, [&](int64_t next) { ++before[next]; });
  for (int64_t node = 0; node < count; ++node)
    if (before[node] == 0)
      ready.push_back(node);
  int64_t seen = 0, deepest = 0;
  for (; !ready.empty(); ++seen) {
    int64_t node = ready.pop_back_val();
    deepest = std::max(deepest, depth[node]);
    eachNext(node, [&](int64_t next) {
      depth[next] = std::max(depth[next], depth[node] + 1);
      if (--before[next] == 0)
        ready.push_back(next);
    });
  }
  if (seen < count)
    throw Error("nodes of its trees lead back to themselves");
  return deepest;
}

class TreeWriter {
public:
  TreeWriter(GraphBuilder &graph, const Trees &trees, Value x)
      : graph_(graph), trees_(trees), x_(x) {
    auto count = static_cast<int64_t>(trees.nodes.size());
    Numbers features, modes, onTrue, onFalse, nanIsTrue;
    std::vector<double> splits;
    for (const TreeNode &node : trees.nodes) {
      features.push_back(node.feature);
      modes.push_back(static_cast<int64_t>(node.mode));
      onTrue.push_back(node.onTrue);
      onFalse.push_back(node.onFalse);
      nanIsTrue.push_back(node.nanIsTrue);
      splits.push_back(node.split);
    }
    for (Numbers *branch : {&onTrue, &onFalse}) // a leaf leads to itself
      llvm::append_range(*branch, numbersFrom(count, trees.places()));
    for (Numbers *numbers : {&features, &modes, &nanIsTrue})
      numbers->resize(trees.places(), 0);
    splits.resize(trees.places(), 0);
    features_ =
        graph.checkedIndices(literal(features), graph.size(x, 1), GraphBuilder::CountFrom::Begin);
    modes_ = literal(modes);
    onTrue_ = literal(onTrue);
    onFalse_ = literal(onFalse);
    nanIsTrue_ = literal(nanIsTrue);
    splits_ = table(splits, {trees.places()});
    writeMembers();
  }

  Value leaves() {
    Value roots = literal(trees_.roots);
    Value begin = graph_.broadcast(roots, {graph_.size(x_, 0), graph_.size(roots, 0)}), end = begin;
    if (trees_.depth > 0) {
      Value steps = graph_.integer(trees_.depth);
      LoopWriter loop(graph_);
      Value place = loop.carry([&] { return begin; });
      loop.setNext(place, next(place));
      end = loop.finishCounted(steps)[LoopWriter::placeOf(place)];
    }
    return graph_.binary(Binary::Sub, end,
                         graph_.integer(static_cast<int64_t>(trees_.nodes.size())));
  }

private:
  Value literal(ArrayRef<int64_t> numbers) {
    auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                      graph_.builder().getI64Type());
    return graph_.literal(DenseElementsAttr::get(type, numbers));
  }
  Value table(ArrayRef<double> numbers, ArrayRef<int64_t> sizes) {
    return graph_.cast(tableOf(graph_, numbers, sizes), GraphBuilder::elementOf(x_));
  }

  void writeMembers() {
    size_t most = 0;
    for (const TreeNode &node : trees_.nodes)
      most = std::max(most, node.members.size());
    if (most == 0)
      return;
    std::vector<double> cells;
    for (const TreeNode &node : trees_.nodes) {
      llvm::append_range(cells, node.members);
      cells.resize(cells.size() + most - node.members.size(),
                   std::numeric_limits<double>::quiet_NaN());
    }
    cells.resize(static_cast<size_t>(trees_.places()) * most);
    members_ = table(cells, {trees_.places(), static_cast<int64_t>(most)});
  }

  Value next(Value place) {
    auto at = [&](Value table) { return graph_.take(table, place, 0); };
    Value feature = graph_.takeElements(x_, at(features_), 1), split = at(splits_);
    Value mode = at(modes_), isTrue;
    constexpr Binary comparisons[] = {Binary::Le, Binary::Lt, Binary::Ge,
                                      Binary::Gt, Binary::Eq, Binary::Ne};
    for (int64_t number = 0; number < treeModes; ++number) {
      auto one = static_cast<TreeMode>(number);
      if (llvm::none_of(trees_.nodes, [&](const TreeNode &node) { return node.mode == one; }))
        continue;
      Value holds = one == TreeMode::Member ? isMember(feature, place)
                                            : graph_.binary(comparisons[number], feature, split);
      Value isMode = graph_.binary(Binary::Eq, mode, graph_.integer(number));
      isTrue = isTrue ? graph_.select(isMode, holds, isTrue) : holds;
    }
    Value isNan = graph_.cast(graph_.unary(Unary::IsNan, feature), ElementType::Bool);
    isTrue = graph_.select(isNan, graph_.cast(at(nanIsTrue_), ElementType::Bool), isTrue);
    return graph_.select(isTrue, at(onTrue_), at(onFalse_));
  }

  Value isMember(Value feature, Value place) {
    if (!members_)
      return graph_.binary(Binary::Ne, feature, feature);
    Value are =
        graph_.binary(Binary::Eq, graph_.take(members_, place, 0), graph_.unsqueeze(feature, {2}));
    Value count = graph_.reduce(AggregateKind::Max, graph_.cast(are, ElementType::F32), {2},
                                KeepDimensions::No);
    return graph_.cast(count, ElementType::Bool);
  }

  GraphBuilder &graph_;
  const Trees &trees_;
  Value x_, features_, modes_, onTrue_, onFalse_, nanIsTrue_, splits_, members_;
};

} // namespace

void Trees::addLeaves(int64_t count) {
  leaves = count;
  auto check = [&](int64_t place) {
    if (place < 0 || place >= places())
      throw Error(fmt::format("its trees lead to place {} of {}", place, places()));
  };
  for (const TreeNode &node : nodes) {
    check(node.onTrue);
    check(node.onFalse);
  }
  for (int64_t root : roots)
    check(root);
  depth = depthOf(nodes);
}

Value onnx::leavesOf(GraphBuilder &graph, const Trees &trees, Value x) {
  return TreeWriter(graph, trees, x).leaves();
}
