// Operators that shift and scale by means and variances.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

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
  bool isNarrow = element.isF16() || element.isBF16();
  return isNarrow && node.integer("stash_type", 1) == 1 ? node.graph().cast(x, ElementType::F32)
                                                        : x;
}

struct Normalised {
  Value mean, inverse; // with dimensions of size 1; inverse: 1 / sqrt(variance + epsilon)
  Value cells;
};

Normalised normalise(GraphBuilder &graph, Value x, ArrayRef<int64_t> dimensions, double epsilon) {
  Value mean = graph.reduce(AggregateKind::Mean, x, dimensions, KeepDimensions::Yes);
  Value centred = graph.binary(Binary::Sub, x, mean);
  Value variance = graph.reduce(AggregateKind::Mean, graph.binary(Binary::Mul, centred, centred),
                                dimensions, KeepDimensions::Yes);
  Value spread = graph.unary(Unary::Sqrt, graph.binary(Binary::Add, variance, graph.real(epsilon)));
  Value inverse = graph.binary(Binary::Div, graph.real(1), spread);
  return {mean, inverse, graph.binary(Binary::Mul, centred, inverse)};
}

Value scaled(GraphBuilder &graph, Value x, Value scale, Value bias) {
  Value product = graph.binary(Binary::Mul, x, scale);
  return bias ? graph.binary(Binary::Add, product, bias) : product;
}

void importBatchNormalization(NodeImporter &node) {
  if (node.integer("training_mode", 0) != 0 ||
      (node.version() < 7 && node.integer("is_test", 0) == 0))
    node.refuse("BatchNormalization that learns");
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

constexpr ImportRule rules[] = {
    {"BatchNormalization", 1, importBatchNormalization},
    {"InstanceNormalization", 1, importInstanceNormalization},
    {"LayerNormalization", 17, importLayerNormalization},
    {"MeanVarianceNormalization", 9, importMeanVarianceNormalization},
    {"RMSNormalization", 23, importRmsNormalization},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::normalisationRules() { return rules; }
