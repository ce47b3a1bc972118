// Attention, with scores or with a state, and the rotation by which it knows positions.
#include "frontend/onnx/ControlFlowBuilder.h"
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/file/DataType.h"
#include "frontend/onnx/file/QuotedName.h"

#include "base/Error.h"

#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

// A finite number below all scores that occur.
double lowestOf(ElementType type) {
  return type == ElementType::F16 ? -0x1.ffcp15 : std::numeric_limits<float>::lowest() / 2;
}

// [batch, positions, heads * size] -> [batch, heads, positions, size]; arrays of four dimensions are so already.
Value byHeads(NodeImporter &node, Value x, StringRef heads) {
  GraphBuilder &graph = node.graph();
  int64_t count = node.integer(heads, 0);
  if (GraphBuilder::rankOf(x) == 4)
    return x;
  if (GraphBuilder::rankOf(x) != 3 || count < 1)
    throw Error(
        fmt::format("an array of {} dimensions and {} heads", GraphBuilder::rankOf(x), count));
  Value number = graph.integer(count);
  Value size = graph.scalar(Binary::IntDiv, graph.size(x, 2), number);
  return graph.permute(graph.view(x, {graph.size(x, 0), graph.size(x, 1), number, size}),
                       {0, 2, 1, 3});
}

Value withoutHeads(GraphBuilder &graph, Value x) {
  Value moved = graph.permute(x, {0, 2, 1, 3});
  return graph.view(moved, {graph.size(moved, 0), graph.size(moved, 1),
                            graph.scalar(Binary::Mul, graph.size(moved, 2), graph.size(moved, 3))});
}

//===- attention -----------------------------------------------------------------------------===//

struct Heads {
  Value queries, keys, values; // [batch, heads, positions, size]; there may be fewer heads of keys
  Value past;                  // how many keys come from before
};

bool haveAsManyHeads(GraphBuilder &graph, Value x, Value y) {
  std::optional<int64_t> left = graph.knownSize(x, 1), right = graph.knownSize(y, 1);
  return left && left == right;
}

// Of matrices by head; each head of `y` goes with as many neighbours of `x` as there are.
Value productByHeads(GraphBuilder &graph, Value x, Value y) {
  if (haveAsManyHeads(graph, x, y))
    return graph.matmul(x, y);
  Values sizes = graph.sizes(x), others = graph.sizes(y);
  Value group = graph.scalar(Binary::IntDiv, sizes[1], others[1]);
  Value grouped = graph.view(x, {sizes[0], others[1], group, sizes[2], sizes[3]});
  Value product = graph.matmul(grouped, graph.unsqueeze(y, {2}));
  return graph.view(product, {sizes[0], sizes[1], sizes[2], others[3]});
}

// Operand 3, with this cell for keys behind its end.
Value maskOf(NodeImporter &node, Value keys, double behind) {
  GraphBuilder &graph = node.graph();
  Value mask = node.operand(3);
  int64_t last = GraphBuilder::rankOf(mask) - 1;
  std::optional<int64_t> own = graph.knownSize(mask, last), all = graph.knownSize(keys, 2);
  if (!own || !all || *own >= *all)
    return mask;
  Value one = graph.integer(1);
  Value padded =
      graph.windows(mask, graph.real(behind), {graph.integer(*all), one, one, one, one, one});
  return graph.squeeze(padded, {last + 1});
}

// Which keys each query may look at, as booleans that go with scores [batch, heads, queries, keys]; null if all.
Value visibleKeys(NodeImporter &node, Value scores, const Heads &heads) {
  GraphBuilder &graph = node.graph();
  mlir::Type whole = graph.builder().getI64Type();
  Value keys = graph.places(graph.size(scores, 3), whole), all;
  auto restrict = [&](Value visible) {
    visible = graph.withRank(visible, 4);
    all = all ? graph.binary(Binary::And, all, visible) : visible;
  };
  if (node.hasOperand(3) && node.elementType(3) == ElementType::Bool)
    restrict(maskOf(node, heads.keys, 0));
  // [batch or 1, 1, queries, 1]: the place of each query among the keys, the last of which it has.
  Value place = graph.unsqueeze(graph.places(graph.size(scores, 2), whole), {0, 1, 3});
  if (node.hasOperand(6)) {
    Value lengths = graph.startingAt(graph.cast(node.operand(6), whole), 0, 4);
    restrict(graph.binary(Binary::Lt, keys, lengths));
    place =
        graph.binary(Binary::Add, place, graph.binary(Binary::Sub, lengths, graph.size(scores, 2)));
  } else {
    place = graph.binary(Binary::Add, place, heads.past);
  }
  if (node.integer("is_causal", 0) != 0)
    restrict(graph.binary(Binary::Le, keys, place));
  if (int64_t left = node.integer("left_window_size", -1); left >= 0)
    restrict(graph.binary(Binary::Ge, keys, graph.binary(Binary::Sub, place, graph.integer(left))));
  if (int64_t right = node.integer("right_window_size", -1); right >= 0)
    restrict(
        graph.binary(Binary::Le, keys, graph.binary(Binary::Add, place, graph.integer(right))));
  return all;
}

// Scores with what operands and attributes forbid as minus infinity.
Value masked(NodeImporter &node, Value scores, const Heads &heads) {
  GraphBuilder &graph = node.graph();
  mlir::Type element = GraphBuilder::elementOf(scores);
  if (node.hasOperand(3) && node.elementType(3) != ElementType::Bool)
    scores = graph.binary(Binary::Add, scores, maskOf(node, heads.keys, minusInfinity));
  Value visible = visibleKeys(node, scores, heads);
  return visible ? graph.select(visible, scores, graph.filled(minusInfinity, element)) : scores;
}

// Whether there may be a query that looks at no key at all. Without a mask, each one sees itself.
bool mayBeBlind(NodeImporter &node) {
  return node.hasOperand(3) || node.hasOperand(6) || node.integer("left_window_size", -1) >= 0;
}

// Of rows of minus infinity, zeros if `hasBlind`; the largest cell of others adds 1 to its sum.
Value softmax(GraphBuilder &graph, Value x, bool hasBlind) {
  Value largest = graph.reduce(AggregateKind::Max, x, {3}, KeepDimensions::Yes);
  if (hasBlind)
    largest =
        graph.binary(Binary::Max, largest, graph.real(lowestOf(GraphBuilder::elementTypeOf(x))));
  Value grown = graph.unary(Unary::Exp, graph.binary(Binary::Sub, x, largest));
  Value sum = graph.reduce(AggregateKind::Sum, grown, {3}, KeepDimensions::Yes);
  if (hasBlind)
    sum = graph.binary(Binary::Max, sum, graph.real(0.5));
  return graph.binary(Binary::Div, grown, sum);
}

Heads headsOf(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Heads heads{byHeads(node, node.operand(0), "q_num_heads"),
              byHeads(node, node.operand(1), "kv_num_heads"),
              byHeads(node, node.operand(2), "kv_num_heads"), graph.integer(0)};
  if (node.hasOperand(4)) {
    heads.past = graph.size(node.operand(4), 2);
    heads.keys = graph.join({node.operand(4), heads.keys}, 2);
  }
  if (node.hasOperand(5))
    heads.values = graph.join({node.operand(5), heads.values}, 2);
  return heads;
}

// The node's, or one through the root of the size of a head; `queries` are by heads.
Value scaleOf(NodeImporter &node, Value queries) {
  GraphBuilder &graph = node.graph();
  if (double given = node.real("scale", 0); given != 0)
    return graph.real(given);
  Value size = graph.inDoubles(graph.size(queries, 3));
  return graph.scalar(Binary::Div, graph.real(1), graph.scalar(Unary::Sqrt, size));
}

void importAttention(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Heads heads = headsOf(node);
  mlir::Type element = GraphBuilder::elementOf(heads.queries);
  ElementType type = GraphBuilder::elementTypeOf(heads.queries);
  Value scale = scaleOf(node, heads.queries);
  Value queries = heads.queries, keys = heads.keys;
  // Both factors are scaled by its root where that decides what 16 bits hold.
  if (type == ElementType::F16 || type == ElementType::BF16) {
    scale = graph.scalar(Unary::Sqrt, scale);
    keys = graph.binary(Binary::Mul, keys, scale);
  }
  Value scores = productByHeads(graph, graph.binary(Binary::Mul, queries, scale),
                                graph.permute(keys, {0, 1, 3, 2}));
  int64_t shown = node.integer("qk_matmul_output_mode", 0);
  auto show = [&](int64_t mode, Value array) {
    if (shown == mode)
      node.setResult(3, graph.cast(array, element));
  };
  show(0, scores);
  if (double cap = node.real("softcap", 0); cap > 0) {
    Value bent = graph.unary(Unary::Tanh, graph.binary(Binary::Div, scores, graph.real(cap)));
    scores = graph.binary(Binary::Mul, bent, graph.real(cap));
  }
  show(1, scores);
  scores = masked(node, scores, heads);
  show(2, scores);
  if (node.has("softmax_precision"))
    if (auto type = elementTypeOf(static_cast<DataType>(node.integer("softmax_precision", 1))))
      scores = graph.cast(scores, *type);
  Value weights = graph.cast(softmax(graph, scores, mayBeBlind(node)), element);
  show(3, weights);
  Value result = productByHeads(graph, weights, heads.values);
  node.setResult(0, node.rank(0) == 3 ? withoutHeads(graph, result) : result);
  node.setResult(1, heads.keys);
  node.setResult(2, heads.values);
}

// Two graphs of the node may change scores and weights.
void importFlexAttention(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  for (size_t i = 0; i < 3; ++i)
    if (node.rank(i) != 4)
      throw Error(fmt::format("operand {} has {} dimensions instead of 4", i + 1, node.rank(i)));
  ElementType own = node.elementType(0);
  ElementType type = own == ElementType::F64 ? own : ElementType::F32;
  if (auto given = elementTypeOf(static_cast<DataType>(node.integer("softmax_precision", 0))))
    type = *given;
  auto changed = [&](StringRef name, Value array) {
    if (!node.has(name))
      return array;
    ImportedValues results = node.importGraph(name, {ImportedValue::ofArray(array)});
    if (results.size() != 1 ||
        GraphBuilder::rankOf(arrayOf(results.front(), graph)) != GraphBuilder::rankOf(array))
      throw Error(fmt::format("graph {} gives no array of 4 dimensions", quotedName(name)));
    return arrayOf(results.front(), graph);
  };
  Value queries = graph.cast(node.operand(0), type), keys = graph.cast(node.operand(1), type);
  Value scores = productByHeads(graph, graph.binary(Binary::Mul, queries, scaleOf(node, queries)),
                                graph.permute(keys, {0, 1, 3, 2}));
  Value weights = changed("prob_mod", softmax(graph, changed("score_mod", scores), false));
  node.setResult(0, productByHeads(graph, graph.cast(weights, own), node.operand(2)));
}

//===- states --------------------------------------------------------------------------------===//

// A state [batch, heads of keys, size of a key, size of a value] is what queries are answered by: each position adds the
// product of its key and its value. `gated`: what was there decays before; `delta`: only what the state doesn't answer
// yet is added, as far as beta says.
void importLinearAttention(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  node.ignore({"chunk_size"}); // how many positions may be computed at once
  StringRef rule = node.text("update_rule", "gated_delta");
  bool isGated = rule.starts_with("gated"), isDelta = rule.ends_with("delta");
  if (rule != "linear" && !isGated && rule != "delta")
    throw Error(fmt::format("there is no update rule {}", quotedName(rule)));
  ElementType own = node.elementType(0);
  ElementType type = own == ElementType::F64 ? own : ElementType::F32;
  auto operand = [&](size_t number, StringRef heads) {
    return byHeads(node, graph.cast(node.operand(number), type), heads);
  };
  Value queries = operand(0, "q_num_heads"), keys = operand(1, "kv_num_heads"),
        values = operand(2, "kv_num_heads");
  Value state = node.hasOperand(3) ? graph.cast(node.operand(3), type)
                                   : graph.filled(0, graph.typeOf(type),
                                                  {graph.size(keys, 0), graph.size(keys, 1),
                                                   graph.size(keys, 3), graph.size(values, 3)});
  Value decay = isGated ? graph.unary(Unary::Exp, operand(4, "kv_num_heads")) : Value();
  Value share;
  if (isDelta) // [batch, positions, heads or 1] -> [batch, heads or 1, positions]
    share = graph.permute(graph.cast(node.operand(5), type), {0, 2, 1});
  Value count = graph.size(queries, 2), scale = scaleOf(node, queries);

  LoopWriter loop(graph);
  Value before = loop.carry([&] { return state; });
  auto now = [&](Value array) { return graph.part(array, 2, loop.counter()); };
  auto asRow = [&](Value vectors) { return graph.unsqueeze(vectors, {2}); };
  auto asColumn = [&](Value vectors) { return graph.unsqueeze(vectors, {3}); };
  auto product = [&](Value x, Value y) { return graph.binary(Binary::Mul, x, y); };
  Value kept = isGated ? product(before, asColumn(now(decay))) : before;
  Value added = asRow(now(values));
  if (isDelta) {
    Value missing = graph.binary(Binary::Sub, added, graph.matmul(asRow(now(keys)), kept));
    added = product(missing, graph.unsqueeze(now(share), {2, 3}));
  }
  Value after = graph.binary(Binary::Add, kept, product(asColumn(now(keys)), added));
  loop.setNext(before, after);
  Value answer = productByHeads(graph, product(asRow(now(queries)), scale), after);
  IterationCollector answers(graph, loop, count, Numbers{0, 0, 1, 0});
  answers.add(answer, loop.counter());
  Values results = loop.finishCounted(count);
  // [positions, batch, heads, 1, size] -> [batch, positions, heads * size]
  Value all = graph.permute(graph.squeeze(answers.collected(results, count), {3}), {1, 0, 2, 3});
  Value size = graph.scalar(Binary::Mul, graph.size(queries, 1), graph.size(values, 3));
  all = graph.view(all, {graph.size(queries, 0), count, size});
  node.setResult(0, graph.cast(all, own));
  node.setResult(1, graph.cast(results[LoopWriter::placeOf(before)], own));
}

// Each channel on its own, over the positions up to each one; those before the first are the state.
void importCausalConvolution(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  if (node.rank(0) != 3 || node.rank(1) != 3)
    throw Error(fmt::format("a signal of {} and weights of {} dimensions instead of 3",
                            node.rank(0), node.rank(1)));
  Value x = node.operand(0), weights = node.operand(1), one = graph.integer(1);
  Value before = graph.scalar(Binary::Sub, graph.size(weights, 2), one), length = graph.size(x, 2);
  Value past = node.hasOperand(3) ? node.operand(3)
                                  : graph.filled(0, GraphBuilder::elementOf(x),
                                                 {graph.size(x, 0), graph.size(x, 1), before});
  Value whole = graph.join({past, x}, 2);
  Value y = graph.convolve(whole, weights, graph.size(weights, 0),
                           {length, graph.size(weights, 2), one, one, one, one});
  if (node.hasOperand(2))
    y = graph.binary(Binary::Add, y, graph.startingAt(node.operand(2), 1, 3));
  StringRef activation = node.text("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = graph.binary(Binary::Mul, y, graph.unary(Unary::Sigmoid, y));
  else if (activation != "none")
    throw Error(fmt::format("there is no activation {}", quotedName(activation)));
  node.setResult(0, y);
  node.setResult(1, graph.slice(whole, 2, length, before));
}

//===- rotations -----------------------------------------------------------------------------===//

// Pairs of cells are turned by an angle: its cosine and sine stand in operands 1 and 2, at the positions that
// operand 3 gives or for each position in turn. Cells behind the rotated ones stay.
void importRotaryEmbedding(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = byHeads(node, node.operand(0), "num_heads");
  auto waves = [&](size_t number) {
    Value wave = node.operand(number);
    return graph.unsqueeze(node.hasOperand(3) ? graph.take(wave, node.operand(3), 0) : wave, {1});
  };
  Value cosine = waves(1), sine = waves(2), size = graph.size(x, 3);
  int64_t given = node.integer("rotary_embedding_dim", 0);
  Value turned = given > 0 ? graph.integer(given) : size;
  Value half = graph.scalar(Binary::IntDiv, turned, graph.integer(2));
  bool alternate = node.integer("interleaved", 0) != 0;
  Value zero = graph.integer(0);
  Value first = alternate ? graph.slice(x, 3, zero, half, 2) : graph.slice(x, 3, zero, half);
  Value second =
      alternate ? graph.slice(x, 3, graph.integer(1), half, 2) : graph.slice(x, 3, half, half);
  auto product = [&](Value left, Value right) { return graph.binary(Binary::Mul, left, right); };
  Value real = graph.binary(Binary::Sub, product(cosine, first), product(sine, second)),
        imaginary = graph.binary(Binary::Add, product(sine, first), product(cosine, second));
  Value together;
  if (alternate) {
    together = graph.join({graph.unsqueeze(real, {4}), graph.unsqueeze(imaginary, {4})}, 4);
    Values sizes = graph.sizes(x);
    sizes.back() = turned;
    together = graph.view(together, sizes);
  } else {
    together = graph.join({real, imaginary}, 3);
  }
  if (given > 0)
    together = graph.join(
        {together, graph.slice(x, 3, turned, graph.scalar(Binary::Sub, size, turned))}, 3);
  node.setResult(0, node.rank(0) == 3 ? withoutHeads(graph, together) : together);
}

constexpr ImportRule rules[] = {
    {"Attention", 23, importAttention},
    {"CausalConvWithState", 27, importCausalConvolution},
    {"LinearAttention", 27, importLinearAttention},
    {"RotaryEmbedding", 23, importRotaryEmbedding},
    {"ai.onnx.preview.FlexAttention", 1, importFlexAttention},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::attentionRules() { return rules; }
