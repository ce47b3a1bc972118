// Operators that shift and scale by means and variances.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// A vector with one number for each channel, the second dimension of an array of this rank.
Value byChannel(GraphBuilder &graph, Value vector, int64_t rank) {
  return rank < 2 ? vector : graph.startingAt(vector, 1, rank);
}

// 16-bit floats are normalised in f32, unless the node says otherwise.
Value widened(NodeImporter &node, Value x) {
  mlir::Type element = GraphBuilder::elementOf(x);
  bool isNarrow = element.isF16() || element.isBF16(), isWide = node.integer("stash_type", 1) == 1;
  return isNarrow && isWide ? node.graph().cast(x, ElementType::F32) : x;
}

struct Normalised {
  Value mean, variance, inverse; // with dimensions of size 1; inverse: 1 / sqrt(variance + epsilon)
  Value cells;
};

Normalised normalise(GraphBuilder &graph, Value x, ArrayRef<int64_t> dimensions, double epsilon) {
  Value mean = graph.reduce(AggregateKind::Mean, x, dimensions, KeepDimensions::Yes);
  Value centred = graph.binary(Binary::Sub, x, mean);
  Value variance = graph.reduce(AggregateKind::Mean, graph.binary(Binary::Mul, centred, centred),
                                dimensions, KeepDimensions::Yes);
  Value spread = graph.unary(Unary::Sqrt, graph.binary(Binary::Add, variance, graph.real(epsilon)));
  Value inverse = graph.binary(Binary::Div, graph.real(1), spread);
  return {mean, variance, inverse, graph.binary(Binary::Mul, centred, inverse)};
}

Value scaled(GraphBuilder &graph, Value x, Value scale, Value bias) {
  Value product = graph.binary(Binary::Mul, x, scale);
  return bias ? graph.binary(Binary::Add, product, bias) : product;
}

// By the mean and variance of the operand itself; the next two results are the running ones.
void importLearningBatchNormalization(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0);
  Numbers others = numbersFrom(0, rank);
  if (rank > 1)
    others.erase(others.begin() + 1);
  Normalised result = normalise(graph, x, others, node.real("epsilon", 1e-5F));
  node.setResult(0, scaled(graph, result.cells, byChannel(graph, node.operand(1), rank),
                           byChannel(graph, node.operand(2), rank)));
  double kept = node.real("momentum", 0.9F);
  auto running = [&](size_t number, Value current) {
    Value before = node.operand(number);
    Value now = graph.cast(graph.squeeze(current, others), GraphBuilder::elementOf(before));
    return graph.binary(Binary::Add, graph.binary(Binary::Mul, before, graph.real(kept)),
                        graph.binary(Binary::Mul, now, graph.real(1 - kept)));
  };
  node.setResult(1, running(3, result.mean));
  node.setResult(2, running(4, result.variance));
}

void importBatchNormalization(NodeImporter &node) {
  if (node.version() >= 14 && node.integer("training_mode", 0) != 0)
    return importLearningBatchNormalization(node);
  if (node.version() < 7 && node.integer("is_test", 0) == 0)
    node.refuse("BatchNormalization that learns");
  if (node.version() < 9 && node.integer("spatial", 1) == 0)
    node.refuse("BatchNormalization of each place");
  node.ignore({"momentum"});
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  auto parameter = [&](size_t number) {
    return graph.cast(node.operand(number), GraphBuilder::elementOf(x));
  };
  // A product and a sum for each cell; the rest is computed once for each channel.
  double epsilon = node.real("epsilon", 1e-5F);
  Value spread =
      graph.unary(Unary::Sqrt, graph.binary(Binary::Add, parameter(4), graph.real(epsilon)));
  Value scale = graph.binary(Binary::Div, parameter(1), spread);
  Value shift =
      graph.binary(Binary::Sub, parameter(2), graph.binary(Binary::Mul, parameter(3), scale));
  node.setResult(0, scaled(graph, x, byChannel(graph, scale, node.rank(0)),
                           byChannel(graph, shift, node.rank(0))));
}

void importInstanceNormalization(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0);
  Normalised result =
      normalise(graph, node.operand(0), numbersFrom(2, rank), node.real("epsilon", 1e-5F));
  node.setResult(0, scaled(graph, result.cells, byChannel(graph, node.operand(1), rank),
                           byChannel(graph, node.operand(2), rank)));
}

// Channels in groups; scale and bias are one number for each group before version 21, then for each channel.
void importGroupNormalization(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0);
  if (rank < 2 || node.integer("num_groups", 0) < 1)
    throw Error("images with channels, and a number of groups, are expected");
  Value groups = graph.integer(node.integer("num_groups", 1));
  Values sizes = graph.sizes(x);
  Value channels = graph.scalar(Binary::IntDiv, sizes[1], groups);
  Value rest = graph.product(ArrayRef<Value>(sizes).drop_front(2));
  Normalised result =
      normalise(graph, widened(node, graph.view(x, {sizes[0], groups, channels, rest})), {2, 3},
                node.real("epsilon", 1e-5F));
  Value cells = graph.cast(result.cells, GraphBuilder::elementOf(x));
  bool byGroup = node.version() < 21;
  auto parameter = [&](size_t number) {
    return byGroup ? graph.startingAt(node.operand(number), 1, 4)
                   : byChannel(graph, node.operand(number), rank);
  };
  if (byGroup)
    cells = scaled(graph, cells, parameter(1), parameter(2));
  cells = graph.view(cells, sizes);
  node.setResult(0, byGroup ? cells : scaled(graph, cells, parameter(1), parameter(2)));
}

void importLayerNormalization(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  mlir::Type element = GraphBuilder::elementOf(x);
  int64_t rank = node.rank(0), axis = node.axis(node.integer("axis", -1), rank);
  Normalised result =
      normalise(graph, widened(node, x), numbersFrom(axis, rank), node.real("epsilon", 1e-5F));
  Value bias = node.hasOperand(2) ? node.operand(2) : Value();
  node.setResult(0, scaled(graph, graph.cast(result.cells, element), node.operand(1), bias));
  node.setResult(1, result.mean);
  node.setResult(2, result.inverse);
}

void importRmsNormalization(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  mlir::Type element = GraphBuilder::elementOf(x);
  int64_t rank = node.rank(0), axis = node.axis(node.integer("axis", -1), rank);
  Value wide = widened(node, x);
  Value mean = graph.reduce(AggregateKind::Mean, graph.binary(Binary::Mul, wide, wide),
                            numbersFrom(axis, rank), KeepDimensions::Yes);
  Value spread = graph.unary(
      Unary::Sqrt, graph.binary(Binary::Add, mean, graph.real(node.real("epsilon", 1e-5F))));
  Value cells = graph.cast(graph.binary(Binary::Div, wide, spread), element);
  node.setResult(0, scaled(graph, cells, node.operand(1), Value()));
}

// (x - mean) / (standard deviation + 1e-9)
void importMeanVarianceNormalization(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  Numbers axes = node.axes(node.integers("axes", {0, 2, 3}), node.rank(0));
  Value mean = graph.reduce(AggregateKind::Mean, x, axes, KeepDimensions::Yes);
  Value centred = graph.binary(Binary::Sub, x, mean);
  Value variance = graph.reduce(AggregateKind::Mean, graph.binary(Binary::Mul, centred, centred),
                                axes, KeepDimensions::Yes);
  Value spread = graph.binary(Binary::Add, graph.unary(Unary::Sqrt, variance), graph.real(1e-9));
  node.setResult(0, graph.binary(Binary::Div, centred, spread));
}

// Along one dimension; where all cells are 0, they stay 0.
void importLpNormalization(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t axis = node.axis(node.integer("axis", -1), node.rank(0)), p = node.integer("p", 2);
  if (p != 1 && p != 2)
    throw Error(fmt::format("p is 1 or 2, not {}", p));
  Value powers = p == 1 ? graph.unary(Unary::Abs, x) : graph.binary(Binary::Mul, x, x);
  Value sum = graph.reduce(AggregateKind::Sum, powers, {axis}, KeepDimensions::Yes);
  Value norm = p == 1 ? sum : graph.unary(Unary::Sqrt, sum);
  Value isZero = graph.binary(Binary::Eq, norm, graph.real(0));
  node.setResult(0, graph.select(isZero, graph.filled(0, GraphBuilder::elementOf(x)),
                                 graph.binary(Binary::Div, x, norm)));
}

constexpr ImportRule rules[] = {
    {"BatchNormalization", 1, importBatchNormalization},
    {"GroupNormalization", 18, importGroupNormalization},
    {"InstanceNormalization", 1, importInstanceNormalization},
    {"LayerNormalization", 17, importLayerNormalization},
    {"LpNormalization", 1, importLpNormalization},
    {"MeanVarianceNormalization", 9, importMeanVarianceNormalization},
    {"RMSNormalization", 23, importRmsNormalization},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::normalisationRules() { return rules; }
