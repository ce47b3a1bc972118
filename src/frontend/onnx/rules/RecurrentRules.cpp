// Layers that go along a sequence: RNN, GRU and LSTM, as loops over time. Products with the inputs are one for all
// steps, outside of the loop; gates are side by side.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"
#include "frontend/onnx/ControlFlowBuilder.h"
#include "frontend/onnx/file/QuotedName.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- activations ---------------------------------------------------------------------------===//

struct Activation {
  StringRef opType;
  SmallVector<std::pair<StringRef, double>, 2> attributes;
};

// Those of the standard, with the numbers that they take and have if the node doesn't say.
const Activation known[] = {
    {"Relu", {}},
    {"Tanh", {}},
    {"Sigmoid", {}},
    {"Softsign", {}},
    {"Softplus", {}},
    {"Affine", {{"alpha", 1}, {"beta", 0}}},
    {"LeakyRelu", {{"alpha", 0.01}}},
    {"ThresholdedRelu", {{"alpha", 1}}},
    {"ScaledTanh", {{"alpha", 1}, {"beta", 1}}},
    {"HardSigmoid", {{"alpha", 0.2}, {"beta", 0.5}}},
    {"Elu", {{"alpha", 1}}},
};

// One for each name; numbers go, in order, to those that take them.
SmallVector<Activation> activationsOf(NodeImporter &node, ArrayRef<StringRef> names) {
  SmallVector<double> alphas = node.reals("activation_alpha"),
                      betas = node.reals("activation_beta");
  ArrayRef<double> nextAlpha = alphas, nextBeta = betas;
  SmallVector<Activation> activations;
  for (StringRef name : names) {
    const auto *found = llvm::find_if(
        known, [&](const Activation &one) { return one.opType.equals_insensitive(name); });
    if (found == std::end(known))
      throw Error(fmt::format("there is no activation {}", quotedName(name)));
    activations.push_back(*found);
    for (auto &[attribute, value] : activations.back().attributes) {
      ArrayRef<double> &next = attribute == "alpha" ? nextAlpha : nextBeta;
      if (next.empty())
        continue;
      value = next.front();
      next = next.drop_front();
    }
  }
  return activations;
}

//===- layers --------------------------------------------------------------------------------===//

// A layer in one direction. Matrices have a row for each case of the batch.
class Direction {
public:
  NodeImporter &node;
  SmallVector<Activation> activations;
  Value hidden;     // the size of a state
  Value recurrence; // hidden x gates * hidden
  Value
      recurrentBias; // gates * hidden, of products with the state, if it is not with the inputs already; or null
  Value peepholes; // 3 * hidden, or null

  // A gate's part of what is side by side, and the gates from it on.
  Value gate(Value array, int64_t number, int64_t count = 1) const {
    GraphBuilder &graph = node.graph();
    Value begin = graph.scalar(Binary::Mul, graph.integer(number), hidden),
          size = graph.scalar(Binary::Mul, graph.integer(count), hidden);
    return graph.slice(array, GraphBuilder::rankOf(array) - 1, begin, size);
  }

  Value sum(Value lhs, Value rhs) const { return node.graph().binary(Binary::Add, lhs, rhs); }
  Value product(Value lhs, Value rhs) const { return node.graph().binary(Binary::Mul, lhs, rhs); }

  // `sum` with a peephole: this gate's weights times the cell.
  Value peeped(Value sum, int64_t number, Value cell) const {
    return peepholes ? this->sum(sum, product(cell, gate(peepholes, number))) : sum;
  }

  // A gate's sum through an activation, cut off before if the node says so.
  Value opened(size_t number, Value sum) const {
    GraphBuilder &graph = node.graph();
    if (!node.has("clip"))
      return activated(number, sum);
    double clip = node.real("clip", 0);
    Value least = graph.binary(Binary::Max, sum, graph.real(-clip));
    return activated(number, graph.binary(Binary::Min, least, graph.real(clip)));
  }

  Value activated(size_t number, Value x) const {
    GraphBuilder &graph = node.graph();
    const Activation &activation = activations[number];
    auto coefficient = [&](size_t place) {
      return graph.real(activation.attributes[place].second);
    };
    if (activation.opType == "Affine")
      return sum(product(x, coefficient(0)), coefficient(1));
    if (activation.opType == "ScaledTanh")
      return product(graph.unary(Unary::Tanh, product(x, coefficient(1))), coefficient(0));
    return node.applied(activation.opType, x, activation.attributes);
  }
};

// The states after a step. `input` has the products with the inputs; the first state is the layer's output.
using Cell = Values (*)(const Direction &direction, Value input, ArrayRef<Value> states);

struct Layer {
  int64_t gates;
  SmallVector<size_t> initialStates;  // operands
  SmallVector<StringRef> activations; // of one direction
  bool addsBiasToState;               // not to the inputs
  Cell cell;
};

class LayerWriter {
public:
  LayerWriter(NodeImporter &node, const Layer &layer)
      : node_(node), graph_(node.graph()), layer_(layer) {
    Value x = timeFirst(node.operand(0));
    steps_ = graph_.size(x, 0);
    batch_ = graph_.size(x, 1);
    hidden_ = node.has("hidden_size") ? graph_.integer(node.integer("hidden_size", 0))
                                      : graph_.size(node.operand(2), 2);
    element_ = GraphBuilder::elementOf(x);
    inputs_ = graph_.view(x, {graph_.scalar(Binary::Mul, steps_, batch_), graph_.size(x, 2)});
    if (node.hasOperand(4))
      lengths_ = graph_.unsqueeze(graph_.cast(node.operand(4), ElementType::I64), {1});
  }

  void write() {
    StringRef direction = node_.text("direction", "forward");
    node_.ignore(
        {"output_sequence"}); // whether the first output is there, which its name says as well
    bool isBoth = direction == "bidirectional";
    if (!isBoth && direction != "forward" && direction != "reverse")
      throw Error(fmt::format("there is no direction {}", quotedName(direction)));
    size_t perDirection = layer_.activations.size();
    SmallVector<StringRef> names = node_.texts("activations");
    if (names.empty())
      for (int i = 0; i < (isBoth ? 2 : 1); ++i)
        llvm::append_range(names, layer_.activations);
    if (names.size() != perDirection * (isBoth ? 2 : 1))
      throw Error(fmt::format("it has {} activations instead of {}", names.size(),
                              perDirection * (isBoth ? 2 : 1)));
    SmallVector<Activation> activations = activationsOf(node_, names);
    ArrayRef<Activation> all = activations;
    writeDirection(0, direction == "reverse", all.take_front(perDirection));
    if (isBoth)
      writeDirection(1, true, all.take_back(perDirection));
    bool batchFirst = node_.integer("layout", 0) != 0;
    if (node_.wantsResult(0)) {
      Value y = graph_.join(outputs_, 1);
      node_.setResult(0, batchFirst ? graph_.permute(y, {2, 0, 1, 3}) : y);
    }
    for (auto [number, states] : llvm::enumerate(lastStates_))
      node_.setResult(number + 1, timeFirst(graph_.join(states, 0)));
  }

private:
  // The first two dimensions of an array are the other way round where the node has the batch first.
  Value timeFirst(Value array) {
    return node_.integer("layout", 0) != 0 ? graph_.permute(array, {1, 0, 2}) : array;
  }

  // What an operand has for one direction, the first dimension.
  Value ofDirection(Value operand, int64_t number) {
    return graph_.part(operand, 0, graph_.integer(number));
  }

  Value zeros(ArrayRef<Value> sizes) { return graph_.broadcast(graph_.filled(0, element_), sizes); }

  void writeDirection(int64_t number, bool isBackwards, ArrayRef<Activation> activations) {
    Direction direction{.node = node_,
                        .activations = SmallVector<Activation>(activations),
                        .hidden = hidden_,
                        .recurrence = graph_.permute(ofDirection(node_.operand(2), number), {1, 0}),
                        .recurrentBias = {},
                        .peepholes = {}};
    Value all = graph_.scalar(Binary::Mul, graph_.integer(layer_.gates), hidden_);
    Value products =
        graph_.matmul(inputs_, graph_.permute(ofDirection(node_.operand(1), number), {1, 0}));
    if (node_.hasOperand(3)) {
      Value biases = ofDirection(node_.operand(3), number);
      products = direction.sum(products, direction.gate(biases, 0, layer_.gates));
      direction.recurrentBias = direction.gate(biases, layer_.gates, layer_.gates);
      if (!layer_.addsBiasToState)
        products = direction.sum(products, std::exchange(direction.recurrentBias, {}));
    }
    if (layer_.initialStates.size() == 2 && node_.hasOperand(7))
      direction.peepholes = ofDirection(node_.operand(7), number);
    writeSteps(direction, graph_.view(products, {steps_, batch_, all}), number, isBackwards);
  }

  Value initialState(size_t operand, int64_t number) {
    return node_.hasOperand(operand) ? ofDirection(timeFirst(node_.operand(operand)), number)
                                     : zeros({batch_, hidden_});
  }

  void writeSteps(const Direction &direction, Value inputs, int64_t number, bool isBackwards) {
    Values states, last;
    bool wantsAll = node_.wantsResult(0);
    for (size_t operand : layer_.initialStates)
      states.push_back(initialState(operand, number));
    Value rows = wantsAll ? zeros({steps_, graph_.scalar(Binary::Mul, batch_, hidden_)}) : Value();
    Value final = graph_.scalar(Binary::Sub, steps_, graph_.integer(1));

    LoopWriter loop(graph_);
    Value step = isBackwards ? graph_.scalar(Binary::Sub, final, loop.counter()) : loop.counter();
    Values before;
    for (Value state : states)
      before.push_back(loop.carry([&] { return state; }));
    Values after = layer_.cell(direction, graph_.part(inputs, 0, step), before);
    Value output = after.front();
    // Behind the end of a case its states stay, and its outputs are zeros.
    if (lengths_) {
      Value isInside = graph_.binary(Binary::Gt, lengths_, step);
      output = graph_.select(isInside, output, graph_.filled(0, element_));
      for (auto [next, state] : llvm::zip(after, before))
        next = graph_.select(isInside, next, state);
    }
    for (auto [next, state] : llvm::zip(after, before))
      loop.setNext(state, next);
    if (wantsAll) {
      Value carried = loop.carry([&] { return rows; });
      loop.setNext(carried, withRow(graph_, carried, step, output));
    }
    Values results = loop.finishCounted(steps_);
    lastStates_.resize(states.size());
    for (size_t i = 0; i < states.size(); ++i)
      lastStates_[i].push_back(graph_.unsqueeze(results[i], {0}));
    if (wantsAll)
      outputs_.push_back(graph_.view(results.back(), {steps_, graph_.integer(1), batch_, hidden_}));
  }

  NodeImporter &node_;
  GraphBuilder &graph_;
  const Layer &layer_;
  Value steps_, batch_, hidden_;
  Value inputs_;  // steps * batch x inputs
  Value lengths_; // batch x 1, or null
  mlir::Type element_;
  Values outputs_; // of each direction: steps x 1 x batch x hidden
  SmallVector<Values> lastStates_;
};

//===- cells ---------------------------------------------------------------------------------===//

Values stepOfRnn(const Direction &layer, Value input, ArrayRef<Value> states) {
  return {
      layer.opened(0, layer.sum(input, layer.node.graph().matmul(states[0], layer.recurrence)))};
}

// H' = (1 - z) * h + z * H
Value mixed(const Direction &layer, Value z, Value h, Value state) {
  Value rest = layer.node.graph().binary(Binary::Sub, layer.node.graph().real(1), z);
  return layer.sum(layer.product(rest, h), layer.product(z, state));
}

// Gates: z, r, h. The state is reset before its product.
Values stepOfGru(const Direction &layer, Value input, ArrayRef<Value> states) {
  GraphBuilder &graph = layer.node.graph();
  Value gates =
      layer.opened(0, layer.sum(layer.gate(input, 0, 2),
                                graph.matmul(states[0], layer.gate(layer.recurrence, 0, 2))));
  Value reset = layer.product(layer.gate(gates, 1), states[0]);
  Value h = layer.opened(
      1, layer.sum(layer.gate(input, 2), graph.matmul(reset, layer.gate(layer.recurrence, 2))));
  return {mixed(layer, layer.gate(gates, 0), h, states[0])};
}

// The product of the state is reset.
Values stepOfLinearGru(const Direction &layer, Value input, ArrayRef<Value> states) {
  Value products = layer.node.graph().matmul(states[0], layer.recurrence);
  if (layer.recurrentBias)
    products = layer.sum(products, layer.recurrentBias);
  Value gates = layer.opened(0, layer.sum(layer.gate(input, 0, 2), layer.gate(products, 0, 2)));
  Value reset = layer.product(layer.gate(gates, 1), layer.gate(products, 2));
  Value h = layer.opened(1, layer.sum(layer.gate(input, 2), reset));
  return {mixed(layer, layer.gate(gates, 0), h, states[0])};
}

// Gates: i, o, f, c. Peepholes: i, o, f. The cell is not cut off on its way to the output, as in ONNX Runtime.
Values stepOfLstm(const Direction &layer, Value input, ArrayRef<Value> states) {
  GraphBuilder &graph = layer.node.graph();
  Value cell = states[1];
  Value sums = layer.sum(input, graph.matmul(states[0], layer.recurrence));
  Value i = layer.opened(0, layer.peeped(layer.gate(sums, 0), 0, cell));
  bool areCoupled = layer.node.integer("input_forget", 0) != 0;
  Value f = areCoupled ? graph.binary(Binary::Sub, graph.real(1), i)
                       : layer.opened(0, layer.peeped(layer.gate(sums, 2), 2, cell));
  Value c = layer.opened(1, layer.gate(sums, 3));
  Value next = layer.sum(layer.product(f, cell), layer.product(i, c));
  Value o = layer.opened(0, layer.peeped(layer.gate(sums, 1), 1, next));
  return {layer.product(o, layer.activated(2, next)), next};
}

void importRnn(NodeImporter &node) {
  LayerWriter(node, {1, {5}, {"Tanh"}, false, stepOfRnn}).write();
}

void importGru(NodeImporter &node) {
  bool isLinear = node.integer("linear_before_reset", 0) != 0;
  LayerWriter(node, {3, {5}, {"Sigmoid", "Tanh"}, isLinear, isLinear ? stepOfLinearGru : stepOfGru})
      .write();
}

void importLstm(NodeImporter &node) {
  LayerWriter(node, {4, {5, 6}, {"Sigmoid", "Tanh", "Tanh"}, false, stepOfLstm}).write();
}

constexpr ImportRule rules[] = {
    {"GRU", 1, importGru},
    {"LSTM", 1, importLstm},
    {"RNN", 1, importRnn},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::recurrentRules() { return rules; }
