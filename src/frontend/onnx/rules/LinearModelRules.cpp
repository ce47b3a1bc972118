// Linear models of ai.onnx.ml, and what stands around them: scaling and norms.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/rules/Scores.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// x W' + b: scores [cases, targets] in the type of the cases. The weights of a target stand behind each other.
Value linear(NodeImporter &node, Value x, int64_t targets) {
  GraphBuilder &graph = node.graph();
  SmallVector<double> weights = node.reals("coefficients"), begin = node.reals("intercepts");
  auto count = static_cast<int64_t>(weights.size());
  if (targets < 1 || count % targets != 0)
    throw Error(fmt::format("{} coefficients of {} targets", count, targets));
  mlir::Type element = GraphBuilder::elementOf(x);
  Value table = graph.cast(tableOf(graph, weights, {targets, count / targets}), element);
  Value scores = graph.matmul(x, graph.permute(table, {1, 0}));
  if (begin.empty())
    return scores;
  if (static_cast<int64_t>(begin.size()) != targets)
    throw Error(fmt::format("{} intercepts of {} targets", begin.size(), targets));
  return graph.binary(Binary::Add, scores, graph.cast(tableOf(graph, begin, {targets}), element));
}

void importLinearRegressor(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value scores = linear(node, casesOf(node), node.integer("targets", 1));
  node.setResult(0, graph.cast(transformed(graph, scores, scoreTransform(node)), ElementType::F32));
}

void importLinearClassifier(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  node.ignore({"multi_class"}); // how the coefficients were found
  Numbers labels = classLabels(node, "classlabels_ints", "classlabels_strings");
  auto classes = static_cast<int64_t>(labels.size());
  auto scored = static_cast<int64_t>(node.reals("intercepts").size());
  if (scored != classes)
    node.refuse(fmt::format("LinearClassifier with {} labels and {} intercepts", classes, scored));
  Value scores = linear(node, casesOf(node), classes);
  node.setResult(0, labelsOf(graph, scores, labels));
  node.setResult(1, graph.cast(transformed(graph, scores, scoreTransform(node)), ElementType::F32));
}

// Each row has the norm 1; one of zeros stays as it is.
void importNormalizer(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = graph.cast(casesOf(node), ElementType::F32);
  StringRef norm = node.text("norm", "MAX");
  AggregateKind kind = norm == "MAX" ? AggregateKind::Max : AggregateKind::Sum;
  Value cells = x;
  if (norm == "L1")
    cells = graph.unary(Unary::Abs, x);
  else if (norm == "L2")
    cells = graph.binary(Binary::Mul, x, x);
  else if (norm != "MAX")
    throw Error(fmt::format("there is no norm {}", quotedName(norm)));
  Value size = graph.reduce(kind, cells, {1}, KeepDimensions::Yes);
  if (norm == "L2")
    size = graph.unary(Unary::Sqrt, size);
  Value isZero = graph.binary(Binary::Eq, size, graph.filled(0, GraphBuilder::elementOf(size)));
  Value one = graph.filled(1, GraphBuilder::elementOf(size));
  node.setResult(0, graph.binary(Binary::Div, x, graph.select(isZero, one, size)));
}

// (x - offset) scale, of all features or of each.
void importScaler(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = graph.cast(casesOf(node), ElementType::F32);
  auto row = [&](StringRef attribute) {
    SmallVector<double> numbers = node.reals(attribute);
    if (numbers.empty())
      throw Error(fmt::format("attribute {} is missing", quotedName(attribute)));
    return graph.cast(tableOf(graph, numbers, {static_cast<int64_t>(numbers.size())}),
                      ElementType::F32);
  };
  Value moved = graph.binary(Binary::Sub, x, row("offset"));
  node.setResult(0, graph.binary(Binary::Mul, moved, row("scale")));
}

constexpr ImportRule rules[] = {
    {"ai.onnx.ml.LinearClassifier", 1, importLinearClassifier},
    {"ai.onnx.ml.LinearRegressor", 1, importLinearRegressor},
    {"ai.onnx.ml.Normalizer", 1, importNormalizer},
    {"ai.onnx.ml.Scaler", 1, importScaler},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::linearModelRules() { return rules; }
