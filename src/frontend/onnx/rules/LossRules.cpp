// Losses of classifiers: minus the logarithm of what was foretold for the class that was right.
#include "frontend/onnx/ImportRules.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// `logarithms` are of [cases, classes, …], operand 1 holds the right class of [cases, …], operand 2, if there,
// a weight for each class.
void setLoss(NodeImporter &node, Value logarithms) {
  GraphBuilder &graph = node.graph();
  Value target = graph.cast(node.operand(1), ElementType::I64);
  mlir::Type element = GraphBuilder::elementOf(logarithms);
  Value weights;
  if (node.has("ignore_index")) {
    Value counts = graph.binary(Binary::Ne, target, graph.integer(node.integer("ignore_index", 0)));
    target = graph.select(counts, target, graph.filled(0, graph.builder().getI64Type()));
    weights = graph.cast(counts, element);
  }
  target = graph.checkedIndices(target, graph.size(logarithms, 1), GraphBuilder::CountFrom::Begin);
  if (node.hasOperand(2)) {
    Value own = graph.take(node.operand(2), target, 0);
    weights = weights ? graph.binary(Binary::Mul, own, weights) : own;
  }
  Value right = graph.squeeze(graph.takeElements(logarithms, graph.unsqueeze(target, {1}), 1), {1});
  Value loss = graph.unary(Unary::Neg, right);
  if (weights)
    loss = graph.binary(Binary::Mul, loss, weights);
  StringRef reduction = node.text("reduction", "mean");
  if (reduction == "none")
    return node.setResult(0, loss);
  Numbers all = numbersFrom(0, GraphBuilder::rankOf(loss));
  bool isMean = reduction == "mean";
  if (isMean && !weights)
    return node.setResult(0, graph.reduce(AggregateKind::Mean, loss, all, KeepDimensions::No));
  Value sum = graph.reduce(AggregateKind::Sum, loss, all, KeepDimensions::No);
  if (isMean)
    sum = graph.binary(Binary::Div, sum,
                       graph.reduce(AggregateKind::Sum, weights, all, KeepDimensions::No));
  node.setResult(0, sum);
}

void importNegativeLogLikelihoodLoss(NodeImporter &node) { setLoss(node, node.operand(0)); }

void importSoftmaxCrossEntropyLoss(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  Value shifted =
      graph.binary(Binary::Sub, x, graph.reduce(AggregateKind::Max, x, {1}, KeepDimensions::Yes));
  Value sum =
      graph.reduce(AggregateKind::Sum, graph.unary(Unary::Exp, shifted), {1}, KeepDimensions::Yes);
  Value logarithms = graph.binary(Binary::Sub, shifted, graph.unary(Unary::Log, sum));
  setLoss(node, logarithms);
  node.setResult(1, logarithms);
}

constexpr ImportRule rules[] = {
    {"NegativeLogLikelihoodLoss", 12, importNegativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", 12, importSoftmaxCrossEntropyLoss},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::lossRules() { return rules; }
