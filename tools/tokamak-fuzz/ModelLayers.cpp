// Operators of networks: products, windows of images, normalisation, small integers, recurrence, graphs in nodes.
#include "tokamak-fuzz/ModelNodes.h"

#include "frontend/onnx/testing/ModelWriter.h"

#include <algorithm>

namespace tokamak::fuzz {

using onnx::DataType;
using onnx::testing::intAttribute;

static DataType anyFloat(Random &random) {
  return random.choose(
      {DataType::Float, DataType::Float, DataType::Double, DataType::Float16, DataType::BFloat16});
}

//===- products ----------------------------------------------------------------------------------===//

static void addMatMul(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isFloatType, 1, 4);
  int64_t depth = x.sizes.back(), columns = random.choose({1, 2, 5, 16});
  Sizes sizes(x.sizes.begin(), x.sizes.end() - 1), right = {depth};
  if (random.chance(0.8)) {
    right.push_back(columns);
    sizes.push_back(columns);
    // Matrices for each batch, or one for all.
    if (x.rank() > 2 && random.chance(0.5))
      right.insert(right.begin(), random.chance(0.5) ? 1 : x.sizes[x.rank() - 3]);
  }
  Array y = graph.fresh(right, x.type);
  graph.add("MatMul", {x.name, y.name}, {}, sizes, x.type);
}

static void addGemm(ModelGraph &graph) {
  Random &random = graph.random;
  int64_t rows = random.choose({1, 2, 5, 17}), depth = random.choose({1, 3, 8, 33}),
          columns = random.choose({1, 2, 4, 16}), left = random.upTo(2), right = random.upTo(2);
  DataType type = anyFloat(random);
  Array x = graph.fresh(left ? Sizes{depth, rows} : Sizes{rows, depth}, type),
        y = graph.fresh(right ? Sizes{columns, depth} : Sizes{depth, columns}, type);
  Names operands = {x.name, y.name};
  if (random.chance(0.7))
    operands.push_back(
        graph
            .fresh(random.choose({Sizes{columns}, Sizes{rows, 1}, Sizes{rows, columns}, Sizes{}}),
                   type)
            .name);
  graph.add("Gemm", operands,
            {intAttribute("transA", left), intAttribute("transB", right),
             realAttribute("alpha", 0.5F), realAttribute("beta", random.choose({1.0F, 0.25F}))},
            {rows, columns}, type);
}

static void addAttention(ModelGraph &graph) {
  Random &random = graph.random;
  int64_t batch = random.between(1, 2), shared = random.between(1, 2),
          heads = shared * random.between(1, 2), queries = random.choose({1, 3, 8}),
          keys = random.choose({1, 4, 9}), depth = random.choose({1, 4, 8});
  DataType type = random.choose({DataType::Float, DataType::Double, DataType::Float16});
  Names operands = {graph.fresh({batch, heads, queries, depth}, type).name,
                    graph.fresh({batch, shared, keys, depth}, type).name,
                    graph.fresh({batch, shared, keys, depth}, type).name};
  if (random.chance(0.5))
    operands.push_back(
        graph.fresh({queries, keys}, random.chance(0.5) ? DataType::Bool : type).name);
  graph.add("Attention", operands, {intAttribute("is_causal", random.upTo(2))},
            {batch, heads, queries, depth}, type);
}

static void addEinsum(ModelGraph &graph) {
  Random &random = graph.random;
  int64_t b = random.between(1, 3), i = random.choose({1, 3, 8}), j = random.choose({1, 2, 5}),
          k = random.choose({1, 4, 7});
  DataType type = anyFloat(random);
  struct Equation {
    const char *text;
    Sizes left, right, result;
  };
  Equation chosen = random.choose<Equation>({{"bij,bjk->bik", {b, i, j}, {b, j, k}, {b, i, k}},
                                             {"ij,kj->ki", {i, j}, {k, j}, {k, i}},
                                             {"bij,bij->b", {b, i, j}, {b, i, j}, {b}},
                                             {"bij,jk->kbi", {b, i, j}, {j, k}, {k, b, i}},
                                             {"i,j->ij", {i}, {j}, {i, j}}});
  graph.add("Einsum", {graph.fresh(chosen.left, type).name, graph.fresh(chosen.right, type).name},
            {textAttribute("equation", chosen.text)}, chosen.result, type);
}

void addProduct(ModelGraph &graph) {
  switch (graph.random.upTo(5)) {
  case 0:
    return addGemm(graph);
  case 1:
    return addAttention(graph);
  case 2:
    return addEinsum(graph);
  default:
    return addMatMul(graph);
  }
}

//===- images ------------------------------------------------------------------------------------===//

namespace {

// Windows along the dimensions of an image; counts are those of the windows.
struct WindowNumbers {
  Sizes kernel, strides, dilations, before, after, counts;
  bool fits = true;
};

WindowNumbers anyWindows(Random &random, const Sizes &image) {
  WindowNumbers numbers;
  for (int64_t size : image) {
    int64_t kernel = random.between(1, 3), stride = random.between(1, 3),
            dilation = random.choose({1, 1, 2}), before = random.upTo(kernel),
            after = random.upTo(kernel);
    int64_t room = size + before + after - dilation * (kernel - 1) - 1;
    numbers.fits &= room >= 0 && size > 0;
    numbers.kernel.push_back(kernel);
    numbers.strides.push_back(stride);
    numbers.dilations.push_back(dilation);
    numbers.before.push_back(before);
    numbers.after.push_back(after);
    numbers.counts.push_back(room / stride + 1);
  }
  return numbers;
}

Attributes attributesOf(const WindowNumbers &numbers) {
  Sizes pads = numbers.before;
  pads.insert(pads.end(), numbers.after.begin(), numbers.after.end());
  return {listAttribute("kernel_shape", numbers.kernel), listAttribute("strides", numbers.strides),
          listAttribute("dilations", numbers.dilations), listAttribute("pads", pads)};
}

Sizes behind(Sizes front, const Sizes &back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Sizes anyImage(Random &random) {
  Sizes image;
  for (int64_t i = random.choose({1, 2, 2, 2, 3}); i > 0; --i)
    image.push_back(random.between(1, image.size() < 2 ? 9 : 4));
  if (image.size() <= 2 && random.chance(0.2))
    image.back() = random.between(129, 200); // longer than what is a part of plans
  return image;
}

void addConvolution(ModelGraph &graph) {
  Random &random = graph.random;
  Sizes image = anyImage(random);
  WindowNumbers numbers = anyWindows(random, image);
  if (!numbers.fits)
    return;
  int64_t groups = random.choose({1, 1, 2, 3}), images = random.between(1, 2),
          channels = groups * random.between(1, 4), filters = groups * random.between(1, 4);
  if (random.chance(0.3)) // one filter for each channel
    channels = filters = groups = random.between(2, 5);
  DataType type = anyFloat(random);
  Attributes attributes = attributesOf(numbers);
  attributes.push_back(intAttribute("group", groups));
  Names operands = {graph.fresh(behind({images, channels}, image), type).name};
  if (random.chance(0.75)) {
    operands.push_back(
        graph.fresh(behind({filters, channels / groups}, numbers.kernel), type).name);
    if (random.chance(0.6))
      operands.push_back(graph.fresh({filters}, type).name);
    graph.add("Conv", operands, attributes, behind({images, filters}, numbers.counts), type);
    return;
  }
  operands.push_back(graph.fresh(behind({channels, filters / groups}, numbers.kernel), type).name);
  Sizes sizes;
  for (size_t i = 0; i < image.size(); ++i)
    sizes.push_back((image[i] - 1) * numbers.strides[i] +
                    (numbers.kernel[i] - 1) * numbers.dilations[i] + 1 - numbers.before[i] -
                    numbers.after[i]);
  if (*std::min_element(sizes.begin(), sizes.end()) > 0)
    graph.add("ConvTranspose", operands, attributes, behind({images, filters}, sizes), type);
}

void addPool(ModelGraph &graph) {
  Random &random = graph.random;
  Sizes image = anyImage(random);
  WindowNumbers numbers = anyWindows(random, image);
  if (!numbers.fits)
    return;
  std::string opType = random.choose({"MaxPool", "AveragePool", "LpPool"});
  DataType type = anyFloat(random);
  int64_t images = random.between(1, 2), channels = random.between(1, 3);
  Attributes attributes = attributesOf(numbers);
  if (opType == "AveragePool")
    attributes.push_back(intAttribute("count_include_pad", random.upTo(2)));
  std::string x = graph.fresh(behind({images, channels}, image), type).name;
  if (random.chance(0.3)) {
    attributes.push_back(intAttribute("ceil_mode", 1));
    return graph.addLast(opType, {x}, attributes, {type});
  }
  graph.add(opType, {x}, attributes, behind({images, channels}, numbers.counts), type);
}

void addResize(ModelGraph &graph) {
  Random &random = graph.random;
  Sizes image = anyImage(random), sizes = {random.between(1, 2), random.between(1, 2)},
        after = sizes;
  DataType type = anyFloat(random);
  for (int64_t size : image)
    after.push_back(random.between(1, 2 * size));
  Array x = graph.fresh(behind(sizes, image), type);
  std::string mode = random.choose({"nearest", "linear", "cubic"});
  if (image.size() == 3 && mode == "cubic")
    mode = "linear";
  Attributes attributes = {
      textAttribute("mode", mode),
      textAttribute("coordinate_transformation_mode",
                    random.choose({"half_pixel", "asymmetric", "align_corners",
                                   "pytorch_half_pixel", "half_pixel_symmetric"}))};
  if (mode == "nearest")
    attributes.push_back(
        textAttribute("nearest_mode",
                      random.choose({"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})));
  graph.add("Resize", {x.name, "", "", graph.list(after)}, attributes, after, type);
}

} // namespace

void addImage(ModelGraph &graph) {
  Random &random = graph.random;
  switch (random.upTo(6)) {
  case 0:
    return addResize(graph);
  case 1: {
    Sizes image = anyImage(random), sizes = {random.between(1, 2), random.between(1, 3)};
    Array x = graph.fresh(behind(sizes, image), anyFloat(random));
    graph.add(random.choose({"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}), {x.name}, {},
              behind(sizes, Sizes(image.size(), 1)), x.type);
    return;
  }
  case 2:
  case 3:
    return addPool(graph);
  default:
    return addConvolution(graph);
  }
}

//===- normalisation -----------------------------------------------------------------------------===//

void addNormalisation(ModelGraph &graph) {
  Random &random = graph.random;
  DataType type = random.choose({DataType::Float, DataType::Double, DataType::Float16});
  int64_t channels = random.choose({2, 4, 6});
  Sizes sizes = behind({random.between(1, 3), channels}, anyImage(random));
  Array x = graph.choose(
      [&](const Array &array) {
        return array.type == type && array.rank() > 2 && array.sizes[1] == channels &&
               array.cells() > 0;
      },
      sizes, type);
  auto vector = [&](int64_t size, CellRange range = {-1, 2}) {
    return graph.weight({size}, type, range).name;
  };
  switch (random.upTo(5)) {
  case 0:
    graph.add(
        "BatchNormalization",
        {x.name, vector(channels), vector(channels), vector(channels), vector(channels, {0.5, 2})},
        {}, x.sizes, type);
    return;
  case 1:
    graph.add("InstanceNormalization", {x.name, vector(channels), vector(channels)}, {}, x.sizes,
              type);
    return;
  case 2:
    graph.add("GroupNormalization", {x.name, vector(channels), vector(channels)},
              {intAttribute("num_groups", 2)}, x.sizes, type);
    return;
  case 3:
    graph.add("LRN", {x.name}, {intAttribute("size", random.between(1, 4))}, x.sizes, type);
    return;
  default: {
    std::string opType = random.choose({"LayerNormalization", "RMSNormalization"});
    graph.add(opType, {x.name, vector(x.sizes.back())}, {intAttribute("axis", -1)}, x.sizes, type);
  }
  }
}

//===- small integers ----------------------------------------------------------------------------===//

void addQuantisation(ModelGraph &graph) {
  Random &random = graph.random;
  DataType whole = random.choose({DataType::UInt8, DataType::Int8});
  if (random.chance(0.2)) {
    Array x = graph.fresh(graph.sizesOfRank(2), whole, {-10, 10});
    Array y = graph.fresh({x.sizes[1], random.between(1, 5)}, whole, {-10, 10});
    graph.add("MatMulInteger", {x.name, y.name, graph.number(3, whole)}, {},
              {x.sizes[0], y.sizes[1]}, DataType::Int32);
    return;
  }
  bool isByAxis = random.chance(0.5);
  Array x = graph.any([](DataType type) { return type == DataType::Float; }, 1, 4);
  int64_t axis = random.upTo(x.rank());
  Sizes sizes = isByAxis ? Sizes{x.sizes[axis]} : Sizes{};
  std::string scale = graph.weight(sizes, DataType::Float, {0.02, 0.5}).name,
              zero = graph.weight(sizes, whole, {0, 5}).name;
  Array small = graph.add("QuantizeLinear", {x.name, scale, zero}, {intAttribute("axis", axis)},
                          x.sizes, whole);
  if (random.chance(0.7))
    graph.add("DequantizeLinear", {small.name, scale, zero}, {intAttribute("axis", axis)}, x.sizes,
              DataType::Float);
}

//===- recurrence and graphs in nodes ------------------------------------------------------------===//

void addRecurrence(ModelGraph &graph) {
  Random &random = graph.random;
  struct Kind {
    const char *opType;
    int64_t gates;
  };
  Kind kind = random.choose<Kind>({{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}});
  std::string direction = random.choose({"forward", "reverse", "bidirectional"});
  int64_t directions = direction == "bidirectional" ? 2 : 1, hidden = random.between(1, 5),
          steps = random.between(1, 6), batch = random.between(1, 3), width = random.between(1, 5);
  DataType type = random.choose({DataType::Float, DataType::Double});
  CellRange range{-0.6, 0.6};
  int64_t all = kind.gates * hidden;
  Names operands = {graph.fresh({steps, batch, width}, type).name,
                    graph.weight({directions, all, width}, type, range).name,
                    graph.weight({directions, all, hidden}, type, range).name};
  if (random.chance(0.6))
    operands.push_back(graph.weight({directions, 2 * all}, type, range).name);
  Attributes attributes = {intAttribute("hidden_size", hidden),
                           textAttribute("direction", direction)};
  if (kind.gates == 3)
    attributes.push_back(intAttribute("linear_before_reset", random.upTo(2)));
  graph.add(kind.opType, operands, attributes, {steps, directions, batch, hidden}, type);
}

// An If whose branches read values around it, or a Loop that carries one.
void addControlFlow(ModelGraph &graph) {
  using namespace onnx::testing;
  Random &random = graph.random;
  Array x = graph.any(isFloatType);
  std::string type = tensorType(x.type);
  auto inner = [&](const NodeParts &part, const std::vector<Message> &inputs,
                   const std::vector<Message> &outputs, const std::vector<Message> &others = {}) {
    GraphParts parts;
    parts.nodes = others;
    parts.nodes.push_back(onnx::testing::node(part));
    parts.inputs = inputs;
    parts.outputs = outputs;
    return onnx::testing::graph(parts);
  };
  if (random.chance(0.5)) {
    std::string condition = graph.fresh({}, DataType::Bool, {0, 2}).name;
    auto branch = [&](const char *name, const char *opType) {
      std::string value = condition + name;
      return graphAttribute(name, inner({opType, {x.name}, {value}}, {}, {valueInfo(value, type)}));
    };
    graph.add("If", {condition},
              {branch("then_branch", random.choose({"Neg", "Abs", "Exp"})),
               branch("else_branch", random.choose({"Tanh", "Floor", "Identity"}))},
              x.sizes, x.type);
    return;
  }
  std::string count = graph.number(static_cast<double>(random.upTo(4)), DataType::Int64);
  std::string result = count + "_result";
  std::string goesOn = result + "_goes_on", still = result + "_still", carried = result + "_before",
              number = result + "_number";
  Message body = inner({random.choose({"Mul", "Add", "Max"}), {carried, x.name}, {result}},
                       {valueInfo(number, DataType::Int64, {}),
                        valueInfo(goesOn, DataType::Bool, {}), valueInfo(carried, type)},
                       {valueInfo(still, DataType::Bool, {}), valueInfo(result, type)},
                       {onnx::testing::node({"Identity", {goesOn}, {still}})});
  std::string begins = random.chance(0.5) ? graph.number(1, DataType::Bool) : "";
  graph.add("Loop", {count, begins, x.name}, {graphAttribute("body", body)}, x.sizes, x.type);
}

} // namespace tokamak::fuzz
