// Ensembles of trees, whose nodes compare a feature of each case with a number.
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ControlFlowBuilder.h"
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/file/QuotedName.h"

#include "base/Error.h"

#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

enum Mode : uint8_t { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual, Member };
constexpr int64_t modeCount = Member + 1;

// Nodes and, behind them, leaves: the places that a case goes through in a tree. A leaf leads to itself.
struct Trees {
  Numbers roots, features, modes, onTrue, onFalse, tracksTrue; // the last one says where NaN goes
  std::vector<double> splits;
  std::vector<std::vector<double>> members; // by place
  int64_t nodes = 0, depth = 0;             // how many steps the longest way to a leaf has

  bool has(Mode mode) const { return llvm::is_contained(ArrayRef(modes).take_front(nodes), mode); }
  int64_t places() const { return static_cast<int64_t>(features.size()); }
};

std::vector<double> numbersOf(NodeImporter &node, StringRef attribute) {
  const Tensor *tensor = node.tensor(attribute);
  if (!tensor)
    return {};
  DenseElementsAttr cells = constantTensor(*tensor, node.graph(), nullptr);
  std::vector<double> numbers;
  if (auto floats = dyn_cast<DenseFPElementsAttr>(cells))
    for (APFloat cell : floats.getValues<APFloat>()) {
      bool isInexact = false;
      cell.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
      numbers.push_back(cell.convertToDouble());
    }
  else
    for (const APInt &cell : cells.getValues<APInt>())
      numbers.push_back(static_cast<double>(cell.getZExtValue()));
  return numbers;
}

void checkCount(StringRef attribute, size_t count, int64_t expected) {
  if (static_cast<int64_t>(count) != expected)
    throw Error(fmt::format("attribute {} has {} numbers instead of {}", quotedName(attribute),
                            count, expected));
}

void checkRange(StringRef attribute, ArrayRef<int64_t> numbers, int64_t end) {
  for (int64_t number : numbers)
    if (number < 0 || number >= end)
      throw Error(
          fmt::format("attribute {} has {}, but there are {}", quotedName(attribute), number, end));
}

// The steps of the longest way. Throws Error if nodes lead back to themselves.
int64_t depthOf(const Trees &trees) {
  Numbers before(trees.nodes, 0), depth(trees.nodes, 1), ready;
  auto eachNext = [&](int64_t node, function_ref<void(int64_t)> visit) {
    for (int64_t next : {trees.onTrue[node], trees.onFalse[node]})
      if (next < trees.nodes)
        visit(next);
  };
  for (int64_t node = 0; node < trees.nodes; ++node)
    eachNext(node, [&](int64_t next) { ++before[next]; });
  for (int64_t node = 0; node < trees.nodes; ++node)
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
  if (seen < trees.nodes)
    throw Error("nodes of its trees lead back to themselves");
  return deepest;
}

// The members of each node with that mode stand behind each other, separated by NaN.
void readMembers(NodeImporter &node, Trees &trees) {
  trees.members.resize(trees.places());
  std::vector<double> all = numbersOf(node, "membership_values");
  size_t at = 0;
  for (int64_t place = 0; place < trees.nodes; ++place) {
    if (trees.modes[place] != Member)
      continue;
    for (; at < all.size() && !std::isnan(all[at]); ++at)
      trees.members[place].push_back(all[at]);
    ++at;
  }
}

Trees treesOf(NodeImporter &node, int64_t leaves) {
  Trees trees;
  trees.features = node.integers("nodes_featureids");
  trees.nodes = trees.places();
  trees.splits = numbersOf(node, "nodes_splits");
  trees.roots = node.integers("tree_roots");
  trees.tracksTrue = node.integers("nodes_missing_value_tracks_true", Numbers(trees.nodes, 0));
  for (double mode : numbersOf(node, "nodes_modes"))
    trees.modes.push_back(static_cast<int64_t>(mode));
  checkCount("nodes_modes", trees.modes.size(), trees.nodes);
  checkCount("nodes_splits", trees.splits.size(), trees.nodes);
  checkCount("nodes_missing_value_tracks_true", trees.tracksTrue.size(), trees.nodes);
  checkRange("nodes_modes", trees.modes, modeCount);
  checkRange("tree_roots", trees.roots, trees.nodes);
  auto readBranch = [&](Numbers &branch, StringRef ids, StringRef leafs) {
    Numbers numbers = node.integers(ids), areLeaves = node.integers(leafs);
    checkCount(ids, numbers.size(), trees.nodes);
    checkCount(leafs, areLeaves.size(), trees.nodes);
    for (auto [number, isLeaf] : llvm::zip(numbers, areLeaves)) {
      checkRange(ids, number, isLeaf != 0 ? leaves : trees.nodes);
      branch.push_back(isLeaf != 0 ? trees.nodes + number : number);
    }
    for (int64_t leaf = 0; leaf < leaves; ++leaf)
      branch.push_back(trees.nodes + leaf);
  };
  readBranch(trees.onTrue, "nodes_truenodeids", "nodes_trueleafs");
  readBranch(trees.onFalse, "nodes_falsenodeids", "nodes_falseleafs");
  trees.depth = depthOf(trees);
  for (Numbers *numbers : {&trees.features, &trees.modes, &trees.tracksTrue})
    numbers->resize(trees.nodes + leaves, 0);
  trees.splits.resize(trees.places(), 0);
  readMembers(node, trees);
  return trees;
}

class TreeWriter {
public:
  // `x`: a row for each case.
  TreeWriter(GraphBuilder &graph, const Trees &trees, Value x)
      : graph_(graph), trees_(trees), x_(x), features_(literal(trees.features)),
        modes_(literal(trees.modes)), onTrue_(literal(trees.onTrue)),
        onFalse_(literal(trees.onFalse)), tracksTrue_(literal(trees.tracksTrue)),
        splits_(table(trees.splits, {trees.places()})) {
    size_t most = 0;
    for (const std::vector<double> &members : trees.members)
      most = std::max(most, members.size());
    std::vector<double> cells;
    for (std::vector<double> members : trees.members) {
      members.resize(most, std::numeric_limits<double>::quiet_NaN());
      llvm::append_range(cells, members);
    }
    if (most > 0)
      members_ = table(cells, {trees.places(), static_cast<int64_t>(most)});
  }

  // The leaf of each case in each tree, from 0.
  Value leaves() {
    Value roots = literal(trees_.roots);
    Value begin = graph_.broadcast(roots, {graph_.size(x_, 0), graph_.size(roots, 0)});
    Value steps = graph_.integer(trees_.depth);
    LoopWriter loop(graph_);
    Value place = loop.carry([&] { return begin; });
    loop.setNext(place, next(place));
    Value end = loop.finishCounted(steps)[LoopWriter::placeOf(place)];
    return graph_.binary(Binary::Sub, end, graph_.integer(trees_.nodes));
  }

private:
  Value literal(ArrayRef<int64_t> numbers) {
    auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                      graph_.builder().getI64Type());
    return graph_.literal(DenseElementsAttr::get(type, numbers));
  }
  Value table(ArrayRef<double> numbers, ArrayRef<int64_t> sizes) {
    auto type = RankedTensorType::get(sizes, graph_.builder().getF64Type());
    return graph_.cast(graph_.literal(DenseElementsAttr::get(type, numbers)),
                       GraphBuilder::elementOf(x_));
  }

  Value next(Value place) {
    auto at = [&](Value table) { return graph_.take(table, place, 0); };
    Value feature = graph_.takeElements(x_, at(features_), 1), split = at(splits_);
    Value mode = at(modes_), isTrue;
    constexpr Binary comparisons[] = {Binary::Le, Binary::Lt, Binary::Ge,
                                      Binary::Gt, Binary::Eq, Binary::Ne};
    for (int64_t number = 0; number < modeCount; ++number) {
      if (!trees_.has(static_cast<Mode>(number)))
        continue;
      Value holds = number == Member ? isMember(feature, place)
                                     : graph_.binary(comparisons[number], feature, split);
      Value isMode = graph_.binary(Binary::Eq, mode, graph_.integer(number));
      isTrue = isTrue ? graph_.select(isMode, holds, isTrue) : holds;
    }
    Value isNan = graph_.cast(graph_.unary(Unary::IsNan, feature), ElementType::Bool);
    isTrue = graph_.select(isNan, graph_.cast(at(tracksTrue_), ElementType::Bool), isTrue);
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
  Value x_, features_, modes_, onTrue_, onFalse_, tracksTrue_, splits_, members_;
};

void importTreeEnsemble(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  enum { Average, Sum };
  enum { None, Softmax, Logistic };
  int64_t aggregate = node.integer("aggregate_function", Sum),
          transform = node.integer("post_transform", None);
  if (aggregate != Sum && aggregate != Average)
    node.refuse("TreeEnsemble of extremes");
  if (transform < None || transform > Logistic)
    node.refuse(fmt::format("the transformation {} of a TreeEnsemble", transform));
  if (node.rank(0) != 2)
    throw Error(fmt::format("cases of {} dimensions instead of 2", node.rank(0)));
  Numbers targets = node.integers("leaf_targetids");
  auto leaves = static_cast<int64_t>(targets.size());
  int64_t targetCount = node.integer("n_targets", 0);
  std::vector<double> weights = numbersOf(node, "leaf_weights");
  checkCount("leaf_weights", weights.size(), leaves);
  checkRange("leaf_targetids", targets, targetCount);
  Trees trees = treesOf(node, leaves);
  Value x = node.operand(0);
  Value leaf = TreeWriter(graph, trees, x).leaves();
  mlir::Type whole = graph.builder().getI64Type(), wide = graph.builder().getF64Type();
  Value weightTable = graph.literal(
            DenseElementsAttr::get(RankedTensorType::get({leaves}, wide), ArrayRef(weights))),
        targetTable = graph.literal(DenseElementsAttr::get(RankedTensorType::get({leaves}, whole),
                                                           ArrayRef<int64_t>(targets)));
  // [cases, trees, targets]
  Value weight = graph.unsqueeze(graph.take(weightTable, leaf, 0), {2});
  Value target = graph.unsqueeze(graph.take(targetTable, leaf, 0), {2});
  Value isOf = graph.binary(Binary::Eq, target, graph.places(graph.integer(targetCount), whole));
  Value sums = graph.reduce(AggregateKind::Sum, graph.select(isOf, weight, graph.filled(0, wide)),
                            {1}, KeepDimensions::No);
  if (aggregate == Average)
    sums = graph.binary(Binary::Div, sums, graph.real(static_cast<double>(trees.roots.size())));
  if (transform == Logistic)
    sums = graph.unary(Unary::Sigmoid, sums);
  if (transform == Softmax) {
    Value largest = graph.reduce(AggregateKind::Max, sums, {1}, KeepDimensions::Yes);
    Value grown = graph.unary(Unary::Exp, graph.binary(Binary::Sub, sums, largest));
    sums = graph.binary(Binary::Div, grown,
                        graph.reduce(AggregateKind::Sum, grown, {1}, KeepDimensions::Yes));
  }
  node.setResult(0, graph.cast(sums, GraphBuilder::elementOf(x)));
}

constexpr ImportRule rules[] = {
    {"ai.onnx.ml.TreeEnsemble", 5, importTreeEnsemble},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::treeRules() { return rules; }
