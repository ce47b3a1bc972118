// Steps of optimisers: operands are the learning rate, the number of the step, and lists of equal lengths.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// List number `list` of `lists` behind the first two operands, at this place.
Value listed(NodeImporter &node, size_t lists, size_t list, size_t place) {
  return node.operand(2 + list * ((node.operandCount() - 2) / lists) + place);
}

size_t lengthOfLists(NodeImporter &node, size_t lists) {
  size_t count = node.operandCount();
  if (count < 2 + lists || (count - 2) % lists != 0)
    throw Error(fmt::format("{} operands are not two and {} lists of one length", count, lists));
  return (count - 2) / lists;
}

// The gradient, and what keeps the weights small.
Value regularised(NodeImporter &node, Value weights, Value gradient) {
  GraphBuilder &graph = node.graph();
  Value decay = graph.binary(Binary::Mul, weights, graph.real(node.real("norm_coefficient", 0)));
  return graph.binary(Binary::Add, decay, gradient);
}

Value mixed(GraphBuilder &graph, Value x, double share, Value y) {
  return graph.binary(Binary::Add, graph.binary(Binary::Mul, x, graph.real(share)),
                      graph.binary(Binary::Mul, y, graph.real(1 - share)));
}

Value squared(GraphBuilder &graph, Value x) { return graph.binary(Binary::Mul, x, x); }

// The number of the step in the type of the learning rate.
Value stepOf(NodeImporter &node) {
  return node.graph().cast(node.operand(1), GraphBuilder::elementOf(node.operand(0)));
}

void importAdagrad(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  size_t length = lengthOfLists(node, 3);
  Value slowed = graph.binary(
      Binary::Add,
      graph.binary(Binary::Mul, stepOf(node), graph.real(node.real("decay_factor", 0))),
      graph.real(1));
  Value rate = graph.binary(Binary::Div, node.operand(0), slowed);
  for (size_t i = 0; i < length; ++i) {
    Value weights = listed(node, 3, 0, i);
    Value gradient = regularised(node, weights, listed(node, 3, 1, i));
    Value squares = graph.binary(Binary::Add, listed(node, 3, 2, i), squared(graph, gradient));
    Value scale = graph.binary(Binary::Add, graph.unary(Unary::Sqrt, squares),
                               graph.real(node.real("epsilon", 1e-6F)));
    Value step = graph.binary(Binary::Div, graph.binary(Binary::Mul, gradient, rate), scale);
    node.setResult(i, graph.binary(Binary::Sub, weights, step));
    node.setResult(length + i, squares);
  }
}

// Averages begin with 0: the rate makes good for that, but for step 0.
Value correctedRate(NodeImporter &node, double alpha, double beta) {
  GraphBuilder &graph = node.graph();
  Value rate = node.operand(0), step = graph.cast(node.operand(1), ElementType::F64);
  auto rest = [&](double share) {
    return graph.binary(Binary::Sub, graph.real(1),
                        graph.binary(Binary::Pow, graph.real(share), step));
  };
  Value factor = graph.binary(Binary::Div, graph.unary(Unary::Sqrt, rest(beta)), rest(alpha));
  Value corrected =
      graph.binary(Binary::Mul, rate, graph.cast(factor, GraphBuilder::elementOf(rate)));
  return graph.select(graph.binary(Binary::Gt, step, graph.real(0)), corrected, rate);
}

void importAdam(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  size_t length = lengthOfLists(node, 4);
  double alpha = node.real("alpha", 0.9F), beta = node.real("beta", 0.999F);
  Value rate = correctedRate(node, alpha, beta);
  for (size_t i = 0; i < length; ++i) {
    Value weights = listed(node, 4, 0, i);
    Value gradient = regularised(node, weights, listed(node, 4, 1, i));
    Value mean = mixed(graph, listed(node, 4, 2, i), alpha, gradient),
          squares = mixed(graph, listed(node, 4, 3, i), beta, squared(graph, gradient));
    Value scale = graph.binary(Binary::Add, graph.unary(Unary::Sqrt, squares),
                               graph.real(node.real("epsilon", 1e-6F)));
    Value step = graph.binary(Binary::Div, graph.binary(Binary::Mul, mean, rate), scale);
    Value kept = graph.real(1 - node.real("norm_coefficient_post", 0));
    node.setResult(i, graph.binary(Binary::Mul, graph.binary(Binary::Sub, weights, step), kept));
    node.setResult(length + i, mean);
    node.setResult(2 * length + i, squares);
  }
}

void importMomentum(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  size_t length = lengthOfLists(node, 3);
  StringRef mode = node.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    throw Error(fmt::format("there is no mode '{}'", mode.str()));
  Value rate = node.operand(0), alpha = graph.real(node.real("alpha", 0));
  mlir::Type element = GraphBuilder::elementOf(rate);
  Value beta = graph.select(graph.binary(Binary::Gt, stepOf(node), graph.real(0)),
                            graph.filled(node.real("beta", 0), element), graph.filled(1, element));
  for (size_t i = 0; i < length; ++i) {
    Value weights = listed(node, 3, 0, i);
    Value gradient = regularised(node, weights, listed(node, 3, 1, i));
    Value speed = graph.binary(Binary::Add, graph.binary(Binary::Mul, listed(node, 3, 2, i), alpha),
                               graph.binary(Binary::Mul, gradient, beta));
    Value direction = mode == "standard" ? speed
                                         : graph.binary(Binary::Add, gradient,
                                                        graph.binary(Binary::Mul, speed, alpha));
    node.setResult(i,
                   graph.binary(Binary::Sub, weights, graph.binary(Binary::Mul, direction, rate)));
    node.setResult(length + i, speed);
  }
}

constexpr ImportRule rules[] = {
    {"ai.onnx.preview.training.Adagrad", 1, importAdagrad},
    {"ai.onnx.preview.training.Adam", 1, importAdam},
    {"ai.onnx.preview.training.Momentum", 1, importMomentum},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::trainingRules() { return rules; }
