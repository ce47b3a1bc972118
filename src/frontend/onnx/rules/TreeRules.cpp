// Ensembles of trees: results are sums of what the leaves say to which cases come.
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/rules/Scores.h"
#include "frontend/onnx/rules/Trees.h"

#include "base/Error.h"

#include "llvm/ADT/StringSwitch.h"

#include <fmt/format.h>
#include <map>
#include <set>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- attributes ----------------------------------------------------------------------------===//

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

// Of floats, or of the tensor of doubles that newer versions may have instead.
std::vector<double> realsOf(NodeImporter &node, StringRef attribute) {
  SmallVector<double> numbers = node.reals(attribute);
  std::vector<double> doubles = numbersOf(node, (attribute + "_as_tensor").str());
  return doubles.empty() ? std::vector<double>(numbers.begin(), numbers.end()) : doubles;
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

// What the leaves say: numbers [leaves, targets].
struct Votes {
  Votes(NodeImporter &node, int64_t leaves, int64_t targets) : targets(targets) {
    constexpr int64_t mostCells = int64_t{1} << 26;
    if (targets < 1 || leaves > mostCells / targets)
      node.refuse(fmt::format("an ensemble with {} leaves and {} targets", leaves, targets));
    cells.resize(static_cast<size_t>(leaves * targets));
  }

  void add(int64_t leaf, int64_t target, double weight) {
    cells[static_cast<size_t>(leaf * targets + target)] += weight;
  }

  std::vector<double> cells;
  int64_t targets;
};

//===- TreeEnsemble --------------------------------------------------------------------------===//

// The members of each node with that mode stand behind each other, separated by NaN.
void readMembers(NodeImporter &node, Trees &trees) {
  std::vector<double> all = numbersOf(node, "membership_values");
  size_t at = 0;
  for (TreeNode &own : trees.nodes) {
    if (own.mode != TreeMode::Member)
      continue;
    for (; at < all.size() && !std::isnan(all[at]); ++at)
      own.members.push_back(all[at]);
    ++at;
  }
}

Trees treesOf(NodeImporter &node, int64_t leaves) {
  node.ignore({"nodes_hitrates"}); // how often each node is visited
  Trees trees;
  Numbers features = node.integers("nodes_featureids"), modes;
  auto count = static_cast<int64_t>(features.size());
  std::vector<double> splits = numbersOf(node, "nodes_splits");
  Numbers nanIsTrue = node.integers("nodes_missing_value_tracks_true", Numbers(count, 0));
  for (double mode : numbersOf(node, "nodes_modes"))
    modes.push_back(static_cast<int64_t>(mode));
  checkCount("nodes_modes", modes.size(), count);
  checkCount("nodes_splits", splits.size(), count);
  checkCount("nodes_missing_value_tracks_true", nanIsTrue.size(), count);
  checkRange("nodes_modes", modes, treeModes);
  auto branch = [&](StringRef ids, StringRef leafs) {
    Numbers numbers = node.integers(ids), areLeaves = node.integers(leafs), places;
    checkCount(ids, numbers.size(), count);
    checkCount(leafs, areLeaves.size(), count);
    for (auto [number, isLeaf] : llvm::zip(numbers, areLeaves)) {
      checkRange(ids, number, isLeaf != 0 ? leaves : count);
      places.push_back(isLeaf != 0 ? count + number : number);
    }
    return places;
  };
  Numbers onTrue = branch("nodes_truenodeids", "nodes_trueleafs"),
          onFalse = branch("nodes_falsenodeids", "nodes_falseleafs");
  for (int64_t i = 0; i < count; ++i)
    trees.addNode({.feature = features[i],
                   .mode = static_cast<TreeMode>(modes[i]),
                   .split = splits[i],
                   .onTrue = onTrue[i],
                   .onFalse = onFalse[i],
                   .nanIsTrue = nanIsTrue[i] != 0});
  trees.roots = node.integers("tree_roots");
  checkRange("tree_roots", trees.roots, count);
  readMembers(node, trees);
  trees.addLeaves(leaves);
  return trees;
}

// The sum over the trees of what the case's leaves say: doubles [cases, targets].
Value sumsOf(GraphBuilder &graph, const Trees &trees, const Votes &votes, Value x) {
  Value leaf = leavesOf(graph, trees, x);
  Value table = tableOf(graph, votes.cells, {trees.leaves, votes.targets});
  // [cases, trees, targets]
  return graph.reduce(AggregateKind::Sum, graph.take(table, leaf, 0), {1}, KeepDimensions::No);
}

Value averageOf(GraphBuilder &graph, Value sums, const Trees &trees) {
  return graph.binary(Binary::Div, sums, graph.real(static_cast<double>(trees.roots.size())));
}

void importTreeEnsemble(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  enum { Average, Sum };
  int64_t aggregate = node.integer("aggregate_function", Sum),
          transform = node.integer("post_transform", 0);
  if (aggregate != Sum && aggregate != Average)
    node.refuse("TreeEnsemble of extremes");
  constexpr ScoreTransform transforms[] = {ScoreTransform::None, ScoreTransform::Softmax,
                                           ScoreTransform::Logistic};
  if (transform < 0 || transform >= static_cast<int64_t>(std::size(transforms)))
    node.refuse(fmt::format("the transformation {} of a TreeEnsemble", transform));
  Value x = casesOf(node);
  Numbers targets = node.integers("leaf_targetids");
  auto leaves = static_cast<int64_t>(targets.size());
  std::vector<double> weights = numbersOf(node, "leaf_weights");
  Votes votes(node, leaves, node.integer("n_targets", 0));
  checkCount("leaf_weights", weights.size(), leaves);
  checkRange("leaf_targetids", targets, votes.targets);
  for (int64_t leaf = 0; leaf < leaves; ++leaf)
    votes.add(leaf, targets[leaf], weights[leaf]);
  Trees trees = treesOf(node, leaves);
  Value sums = sumsOf(graph, trees, votes, x);
  if (aggregate == Average)
    sums = averageOf(graph, sums, trees);
  sums = transformed(graph, sums, transforms[transform]);
  node.setResult(0, graph.cast(sums, GraphBuilder::elementOf(x)));
}

//===- TreeEnsembleClassifier, TreeEnsembleRegressor -----------------------------------------===//

// Nodes and leaves stand in one list, each with its tree and its number in that.
class NodeTable {
public:
  explicit NodeTable(NodeImporter &node)
      : node_(node), trees_(node.integers("nodes_treeids")), ids_(node.integers("nodes_nodeids")) {
    SmallVector<StringRef> modes = node.texts("nodes_modes");
    auto count = static_cast<int64_t>(trees_.size());
    checkCount("nodes_nodeids", ids_.size(), count);
    checkCount("nodes_modes", modes.size(), count);
    for (int64_t i = 0; i < count; ++i) {
      modes_.push_back(modeOf(modes[i]));
      order_.push_back(modes_[i] ? nodes_++ : leaves_++);
      if (!places_.try_emplace({trees_[i], ids_[i]}, i).second)
        throw Error(fmt::format("tree {} has two nodes {}", trees_[i], ids_[i]));
    }
  }

  Trees trees() {
    auto count = static_cast<int64_t>(trees_.size());
    Numbers features = node_.integers("nodes_featureids"),
            onTrue = node_.integers("nodes_truenodeids"),
            onFalse = node_.integers("nodes_falsenodeids"),
            nanIsTrue = node_.integers("nodes_missing_value_tracks_true", Numbers(count, 0));
    std::vector<double> splits = realsOf(node_, "nodes_values");
    // Says how often each node is visited, which changes no result.
    std::vector<double> visits = realsOf(node_, "nodes_hitrates");
    checkCount("nodes_featureids", features.size(), count);
    checkCount("nodes_truenodeids", onTrue.size(), count);
    checkCount("nodes_falsenodeids", onFalse.size(), count);
    checkCount("nodes_missing_value_tracks_true", nanIsTrue.size(), count);
    checkCount("nodes_values", splits.size(), count);
    if (!visits.empty())
      checkCount("nodes_hitrates", visits.size(), count);
    Trees trees;
    std::set<int64_t> begun;
    for (int64_t i = 0; i < count; ++i) {
      if (begun.insert(trees_[i]).second) // a tree begins with its root
        trees.roots.push_back(placeOf(i));
      if (modes_[i])
        trees.addNode({.feature = features[i],
                       .mode = *modes_[i],
                       .split = splits[i],
                       .onTrue = placeOf(entry(trees_[i], onTrue[i])),
                       .onFalse = placeOf(entry(trees_[i], onFalse[i])),
                       .nanIsTrue = nanIsTrue[i] != 0});
    }
    trees.addLeaves(leaves_);
    return trees;
  }

  // Of the attributes PREFIX_treeids, …; there may be several for a leaf.
  Votes votes(StringRef prefix, int64_t targets) {
    auto named = [&](StringRef what) { return (prefix + "_" + what).str(); };
    Numbers trees = node_.integers(named("treeids")), ids = node_.integers(named("nodeids")),
            targetIds = node_.integers(named("ids"));
    std::vector<double> weights = realsOf(node_, named("weights"));
    auto count = static_cast<int64_t>(trees.size());
    checkCount(named("nodeids"), ids.size(), count);
    checkCount(named("ids"), targetIds.size(), count);
    checkCount(named("weights"), weights.size(), count);
    checkRange(named("ids"), targetIds, targets);
    Votes votes(node_, leaves_, targets);
    for (int64_t i = 0; i < count; ++i) {
      int64_t leaf = entry(trees[i], ids[i]);
      if (modes_[leaf])
        throw Error(
            fmt::format("node {} of tree {} has a weight and is no leaf", ids[i], trees[i]));
      votes.add(order_[leaf], targetIds[i], weights[i]);
    }
    return votes;
  }

private:
  // Nothing of a leaf.
  std::optional<TreeMode> modeOf(StringRef name) const {
    if (name == "LEAF")
      return std::nullopt;
    std::optional<TreeMode> mode = llvm::StringSwitch<std::optional<TreeMode>>(name)
                                       .Case("BRANCH_LEQ", TreeMode::LessOrEqual)
                                       .Case("BRANCH_LT", TreeMode::Less)
                                       .Case("BRANCH_GTE", TreeMode::GreaterOrEqual)
                                       .Case("BRANCH_GT", TreeMode::Greater)
                                       .Case("BRANCH_EQ", TreeMode::Equal)
                                       .Case("BRANCH_NEQ", TreeMode::NotEqual)
                                       .Default(std::nullopt);
    if (!mode)
      throw Error(fmt::format("there are no nodes of the mode {}", quotedName(name)));
    return mode;
  }

  int64_t entry(int64_t tree, int64_t id) const {
    auto found = places_.find({tree, id});
    if (found == places_.end())
      throw Error(fmt::format("tree {} has no node {}", tree, id));
    return found->second;
  }
  int64_t placeOf(int64_t entry) const {
    return modes_[entry] ? order_[entry] : nodes_ + order_[entry];
  }

  NodeImporter &node_;
  const Numbers trees_, ids_;
  std::vector<std::optional<TreeMode>> modes_;
  Numbers order_; // among the nodes, or among the leaves
  int64_t nodes_ = 0, leaves_ = 0;
  std::map<std::pair<int64_t, int64_t>, int64_t> places_;
};

// Added to the sums, if there are any.
Value withBase(NodeImporter &node, Value sums, int64_t targets) {
  std::vector<double> base = realsOf(node, "base_values");
  if (base.empty())
    return sums;
  checkCount("base_values", base.size(), targets);
  GraphBuilder &graph = node.graph();
  return graph.binary(Binary::Add, sums, tableOf(graph, base, {targets}));
}

void importTreeEnsembleRegressor(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  StringRef aggregate = node.text("aggregate_function", "SUM");
  if (aggregate != "SUM" && aggregate != "AVERAGE")
    node.refuse("TreeEnsembleRegressor of extremes");
  Value x = casesOf(node);
  NodeTable table(node);
  Trees trees = table.trees();
  int64_t targets = node.integer("n_targets", 1);
  Value sums = sumsOf(graph, trees, table.votes("target", targets), x);
  if (aggregate == "AVERAGE")
    sums = averageOf(graph, sums, trees);
  sums = transformed(graph, withBase(node, sums, targets), scoreTransform(node));
  node.setResult(0, graph.cast(sums, ElementType::F32));
}

// Of two classes, files may have the votes for one: for the second, whatever number it is given.
Value scoresOfBoth(GraphBuilder &graph, Value score, bool areShares) {
  Value other =
      areShares ? graph.binary(Binary::Sub, graph.filled(1, graph.builder().getF64Type()), score)
                : graph.unary(Unary::Neg, score);
  return graph.join({other, score}, 1);
}

void importTreeEnsembleClassifier(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Numbers labels = classLabels(node, "classlabels_int64s", "classlabels_strings");
  Value x = casesOf(node);
  NodeTable table(node);
  Trees trees = table.trees();
  auto classes = static_cast<int64_t>(labels.size());
  Votes votes = table.votes("class", classes);
  Value scores = sumsOf(graph, trees, votes, x);
  ScoreTransform transform = scoreTransform(node);
  Numbers voted = node.integers("class_ids");
  if (classes == 2 && llvm::all_equal(voted) && !voted.empty()) {
    // Shares, or distances from the border between the classes; those of ONNX Runtime are told apart in this way, too.
    bool areShares = llvm::all_of(votes.cells, [](double vote) { return vote >= 0; });
    int64_t own = voted.front();
    Value score = graph.slice(scores, 1, graph.integer(own), graph.integer(1));
    std::vector<double> base = realsOf(node, "base_values");
    if (base.size() == 1)
      score = graph.binary(Binary::Add, score, graph.real(base.front()));
    else if (!base.empty())
      node.refuse("TreeEnsembleClassifier with votes for one class and base values of two");
    scores = scoresOfBoth(graph, score, areShares);
    if (areShares)
      transform = ScoreTransform::None;
  } else {
    scores = withBase(node, scores, classes);
  }
  node.setResult(0, labelsOf(graph, scores, labels));
  node.setResult(1, graph.cast(transformed(graph, scores, transform), ElementType::F32));
}

constexpr ImportRule rules[] = {
    {"ai.onnx.ml.TreeEnsemble", 5, importTreeEnsemble},
    {"ai.onnx.ml.TreeEnsembleClassifier", 1, importTreeEnsembleClassifier},
    {"ai.onnx.ml.TreeEnsembleRegressor", 1, importTreeEnsembleRegressor},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::treeRules() { return rules; }
