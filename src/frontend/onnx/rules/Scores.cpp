#include "frontend/onnx/rules/Scores.h"

#include "base/Error.h"
#include "frontend/onnx/rules/AlongDimension.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

ScoreTransform onnx::scoreTransform(const NodeImporter &node) {
  StringRef name = node.text("post_transform", "NONE");
  if (name == "NONE")
    return ScoreTransform::None;
  if (name == "SOFTMAX")
    return ScoreTransform::Softmax;
  if (name == "LOGISTIC")
    return ScoreTransform::Logistic;
  node.refuse(fmt::format("the transformation {} of scores", name.str()));
}

Value onnx::transformed(GraphBuilder &graph, Value scores, ScoreTransform transform) {
  if (transform == ScoreTransform::Logistic)
    return graph.unary(Unary::Sigmoid, scores);
  if (transform == ScoreTransform::None)
    return scores;
  return softmax(graph, scores, 1);
}

Numbers onnx::classLabels(const NodeImporter &node, StringRef attribute, StringRef texts) {
  if (node.has(texts))
    node.refuse("labels that are texts");
  Numbers labels = node.integers(attribute);
  if (labels.empty())
    throw Error("it has no labels");
  return labels;
}

Value onnx::labelsOf(GraphBuilder &graph, Value scores, const Numbers &labels) {
  Value place = placeFromZero(graph, AggregateKind::FirstIndexMax, scores, 1, KeepDimensions::No);
  auto type =
      RankedTensorType::get({static_cast<int64_t>(labels.size())}, graph.builder().getI64Type());
  Value table = graph.literal(DenseElementsAttr::get(type, ArrayRef<int64_t>(labels)));
  return graph.take(table, place, 0);
}

Value onnx::casesOf(NodeImporter &node) {
  if (node.rank(0) != 2)
    throw Error(fmt::format("cases of {} dimensions instead of 2", node.rank(0)));
  Value x = node.operand(0);
  return isFloat(node.elementType(0)) ? x : node.graph().cast(x, ElementType::F64);
}

Value onnx::tableOf(GraphBuilder &graph, ArrayRef<double> cells, ArrayRef<int64_t> sizes) {
  auto type = RankedTensorType::get(sizes, graph.builder().getF64Type());
  return graph.literal(DenseElementsAttr::get(type, cells));
}
