// Operators over cells, along dimensions, and of cells at other places.
#include "tokamak-fuzz/ModelNodes.h"

#include "frontend/onnx/testing/ModelWriter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tokamak::fuzz {

using onnx::DataType;
using onnx::testing::intAttribute;

//===- cells -------------------------------------------------------------------------------------===//

// Sizes that go with these by broadcasting.
static Sizes partOf(Random &random, Sizes sizes) {
  for (int64_t &size : sizes)
    if (random.chance(0.25))
      size = 1;
  if (!sizes.empty() && random.chance(0.3))
    sizes.erase(sizes.begin(), sizes.begin() + random.upTo(static_cast<int64_t>(sizes.size())));
  return sizes;
}

// Another operand of the same type: one that there is, or one that is repeated.
static Array beside(ModelGraph &graph, const Array &x, CellRange range = {-2, 3}) {
  if (graph.random.chance(0.4))
    return graph.choose(
        [&](const Array &array) { return array.type == x.type && array.sizes == x.sizes; }, x.sizes,
        x.type);
  return graph.fresh(partOf(graph.random, x.sizes), x.type, range);
}

static void addUnary(ModelGraph &graph) {
  Random &random = graph.random;
  static const std::vector<std::string> ofFloats = {
      "Exp",         "Log",       "Sqrt",       "Erf",
      "Sigmoid",     "Tanh",      "Softplus",   "Softsign",
      "Elu",         "Selu",      "Celu",       "LeakyRelu",
      "HardSigmoid", "HardSwish", "Mish",       "Gelu",
      "Ceil",        "Floor",     "Round",      "Sin",
      "Cos",         "Tan",       "Asin",       "Acos",
      "Atan",        "Sinh",      "Cosh",       "Asinh",
      "Acosh",       "Atanh",     "Reciprocal", "ThresholdedRelu",
      "Shrink",      "Identity"};
  static const std::vector<std::string> ofNumbers = {"Abs", "Neg", "Sign", "Relu", "Identity"};
  switch (random.upTo(6)) {
  case 0: {
    Array x = graph.any(isNumber);
    bool isSigned = x.type != DataType::UInt8 && x.type != DataType::UInt16 &&
                    x.type != DataType::UInt32 && x.type != DataType::UInt64;
    graph.add(isSigned ? random.choose(ofNumbers) : "Abs", {x.name}, {}, x.sizes, x.type);
    return;
  }
  case 1: {
    Array x = graph.any(isFloatType);
    graph.add(random.choose({"IsNaN", "IsInf"}), {x.name}, {}, x.sizes, DataType::Bool);
    return;
  }
  case 2: {
    Array x = random.chance(0.5) ? graph.any(isTruth) : graph.any(isIntegerType);
    graph.add(x.type == DataType::Bool ? "Not" : "BitwiseNot", {x.name}, {}, x.sizes, x.type);
    return;
  }
  default: {
    Array x = graph.any(isFloatType);
    graph.add(random.choose(ofFloats), {x.name}, {}, x.sizes, x.type);
  }
  }
}

static void addBinary(ModelGraph &graph) {
  Random &random = graph.random;
  switch (random.upTo(8)) {
  case 0: {
    Array x = graph.any(isNumber);
    graph.add(random.choose({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}),
              {x.name, beside(graph, x).name}, {}, x.sizes, DataType::Bool);
    return;
  }
  case 1: {
    Array x = graph.any(isTruth);
    graph.add(random.choose({"And", "Or", "Xor", "Equal"}), {x.name, beside(graph, x).name}, {},
              x.sizes, x.type);
    return;
  }
  case 2: {
    Array x = graph.any(isIntegerType);
    graph.add(random.choose({"BitwiseAnd", "BitwiseOr", "BitwiseXor"}),
              {x.name, beside(graph, x).name}, {}, x.sizes, x.type);
    return;
  }
  case 3: {
    Array x = graph.any(isFloatType);
    std::string slope = graph.weight(partOf(random, x.sizes), x.type, {-1, 1}).name;
    graph.add("PRelu", {x.name, slope}, {}, x.sizes, x.type);
    return;
  }
  case 4: {
    Array x = graph.any(isNumber);
    std::string divisor = graph.weight(partOf(random, x.sizes), x.type, {1, 5}).name;
    if (random.chance(0.5))
      graph.add("Div", {x.name, divisor}, {}, x.sizes, x.type);
    else
      graph.add("Mod", {x.name, divisor}, {intAttribute("fmod", isFloatType(x.type))}, x.sizes,
                x.type);
    return;
  }
  default: {
    Array x = graph.any(isNumber);
    std::string opType = random.choose({"Add", "Sub", "Mul", "Min", "Max", "Sum", "Pow"});
    if (opType == "Pow" && !isFloatType(x.type))
      opType = "Mul";
    Names operands = {x.name, beside(graph, x).name};
    if (opType == "Sum" && random.chance(0.5))
      operands.push_back(beside(graph, x).name);
    graph.add(opType, operands, {}, x.sizes, x.type);
  }
  }
}

void addCells(ModelGraph &graph) {
  Random &random = graph.random;
  switch (random.upTo(8)) {
  case 0: {
    Array x = graph.any(isAny);
    DataType type = anyDataType(random);
    graph.add("Cast", {x.name}, {intAttribute("to", static_cast<int64_t>(type))}, x.sizes, type);
    return;
  }
  case 1: {
    Array x = graph.any(isAny);
    std::string condition = graph
                                .choose(
                                    [&](const Array &array) {
                                      return array.type == DataType::Bool && array.sizes == x.sizes;
                                    },
                                    partOf(random, x.sizes), DataType::Bool)
                                .name;
    graph.add("Where", {condition, x.name, beside(graph, x).name}, {}, x.sizes, x.type);
    return;
  }
  case 2: {
    Array x = graph.any(isNumber);
    std::string least = random.chance(0.7) ? graph.number(0, x.type) : "";
    graph.add("Clip", {x.name, least, graph.number(2, x.type)}, {}, x.sizes, x.type);
    return;
  }
  case 3:
  case 4:
    return addUnary(graph);
  default:
    return addBinary(graph);
  }
}

//===- along dimensions --------------------------------------------------------------------------===//

static int64_t anyAxis(Random &random, int64_t rank) { return random.between(-rank, rank - 1); }

static void addReduce(ModelGraph &graph) {
  Random &random = graph.random;
  std::string opType =
      random.choose({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                     "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"});
  bool needsFloats = opType == "ReduceMean" || opType == "ReduceL2" || opType == "ReduceLogSum" ||
                     opType == "ReduceLogSumExp";
  Array x = graph.any(needsFloats ? isFloatType : isNumber);
  bool keeps = random.chance(0.5);
  std::vector<bool> isReduced(x.sizes.size());
  Sizes axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (random.chance(0.5)) {
      isReduced[i] = true;
      axes.push_back(random.chance(0.5) ? i : i - x.rank());
    }
  bool ofAll = axes.empty();
  Sizes sizes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!isReduced[i] && !ofAll)
      sizes.push_back(x.sizes[i]);
    else if (keeps)
      sizes.push_back(1);
  }
  Names operands = {x.name};
  if (!ofAll)
    operands.push_back(graph.list(axes));
  graph.add(opType, operands, {intAttribute("keepdims", keeps)}, sizes, x.type);
}

void addReduction(ModelGraph &graph) {
  Random &random = graph.random;
  switch (random.upTo(6)) {
  case 0: {
    Array x = graph.any(isNumber, 1);
    if (x.cells() == 0)
      return;
    int64_t axis = anyAxis(random, x.rank());
    Sizes sizes = x.sizes;
    sizes[axis < 0 ? axis + x.rank() : axis] = 1;
    graph.add(random.choose({"ArgMax", "ArgMin"}), {x.name},
              {intAttribute("axis", axis), intAttribute("select_last_index", random.upTo(2))},
              sizes, DataType::Int64);
    return;
  }
  case 1: {
    Array x = graph.any(isFloatType, 1);
    graph.add(random.choose({"Softmax", "LogSoftmax", "Hardmax"}), {x.name},
              {intAttribute("axis", anyAxis(random, x.rank()))}, x.sizes, x.type);
    return;
  }
  case 2: {
    Array x = graph.any(isNumber, 1);
    std::string axis =
        graph.number(static_cast<double>(anyAxis(random, x.rank())), DataType::Int64);
    graph.add("CumSum", {x.name, axis},
              {intAttribute("exclusive", random.upTo(2)), intAttribute("reverse", random.upTo(2))},
              x.sizes, x.type);
    return;
  }
  case 3: {
    Array x = graph.any(isFloatType, 1);
    graph.add(
        "LpNormalization", {x.name},
        {intAttribute("axis", anyAxis(random, x.rank())), intAttribute("p", random.between(1, 2))},
        x.sizes, x.type);
    return;
  }
  default:
    return addReduce(graph);
  }
}

//===- the same cells ----------------------------------------------------------------------------===//

static void addReshape(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isAny, 1);
  Sizes sizes;
  int64_t left = x.cells();
  if (left == 0)
    return;
  for (int64_t divisor : {2, 3, 4})
    if (left % divisor == 0 && random.chance(0.6)) {
      sizes.push_back(divisor);
      left /= divisor;
    }
  sizes.push_back(left);
  Sizes asked = sizes;
  if (random.chance(0.4))
    asked[random.upTo(static_cast<int64_t>(asked.size()))] = -1;
  graph.add("Reshape", {x.name, graph.list(asked)}, {}, sizes, x.type);
}

static void addSlice(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isAny, 1);
  Sizes starts, ends, axes, steps, sizes = x.sizes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (random.chance(0.4))
      continue;
    int64_t size = x.sizes[i], step = random.choose({1, 1, 1, 2, 3, -1, -1, -2});
    int64_t begin = random.between(-1, size), end = random.between(0, size + 1);
    // As the standard clamps them.
    int64_t from = begin < 0 ? begin + size : begin;
    int64_t count = 0;
    if (step > 0) {
      from = std::clamp<int64_t>(from, 0, size);
      count = std::max<int64_t>(0, (std::min(end, size) - from + step - 1) / step);
    } else {
      from = std::min(std::max<int64_t>(from, 0), size - 1);
      bool toFirst = random.chance(0.5);
      int64_t last = toFirst ? -1 : std::min(end, size - 1);
      count = size == 0 ? 0 : std::max<int64_t>(0, (from - last - step - 1) / -step);
      end = toFirst ? -size - 1 : end;
    }
    starts.push_back(begin);
    ends.push_back(end);
    axes.push_back(random.chance(0.5) ? i : i - x.rank());
    steps.push_back(step);
    sizes[i] = count;
  }
  if (!axes.empty())
    graph.add("Slice",
              {x.name, graph.list(starts), graph.list(ends), graph.list(axes), graph.list(steps)},
              {}, sizes, x.type);
}

static void addPad(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isFloatType, 1, 4);
  std::string mode = random.choose({"constant", "constant", "edge", "reflect", "wrap"});
  if (mode != "constant" && *std::min_element(x.sizes.begin(), x.sizes.end()) < 3)
    mode = "constant";
  Sizes pads(2 * x.sizes.size()), sizes = x.sizes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    pads[i] = random.upTo(3);
    pads[i + x.rank()] = random.upTo(3);
    sizes[i] += pads[i] + pads[i + x.rank()];
  }
  Names operands = {x.name, graph.list(pads)};
  if (mode == "constant" && random.chance(0.5))
    operands.push_back(graph.number(1.5, x.type));
  graph.add("Pad", operands, {textAttribute("mode", mode)}, sizes, x.type);
}

static void addConcat(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isAny, 1);
  int64_t axis = random.upTo(x.rank());
  Sizes other = x.sizes, sizes = x.sizes;
  other[axis] = random.choose({0, 1, 2, 3});
  Array more = graph.fresh(other, x.type);
  sizes[axis] += other[axis];
  Names operands = {x.name, more.name};
  if (random.chance(0.5))
    std::swap(operands[0], operands[1]);
  if (random.chance(0.3)) {
    operands.push_back(x.name);
    sizes[axis] += x.sizes[axis];
  }
  graph.add("Concat", operands, {intAttribute("axis", random.chance(0.5) ? axis : axis - x.rank())},
            sizes, x.type);
}

static void addExpansion(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isAny, 0, 4);
  if (random.chance(0.5) && x.rank() > 0) {
    Sizes repeats, sizes = x.sizes;
    for (int64_t &size : sizes) {
      repeats.push_back(random.choose({1, 1, 2, 3}));
      size *= repeats.back();
    }
    if (x.cells() < 500)
      graph.add("Tile", {x.name, graph.list(repeats)}, {}, sizes, x.type);
    return;
  }
  Sizes sizes = x.sizes;
  for (int64_t &size : sizes)
    if (size == 1 && random.chance(0.5))
      size = random.between(1, 4);
  if (random.chance(0.5))
    sizes.insert(sizes.begin(), random.between(1, 3));
  graph.add("Expand", {x.name, graph.list(sizes)}, {}, sizes, x.type);
}

static void addDimensions(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isAny, 1, 4);
  int64_t rank = x.rank();
  switch (random.upTo(3)) {
  case 0: {
    int64_t axis = random.upTo(rank + 1);
    Sizes sizes = x.sizes;
    sizes.insert(sizes.begin() + axis, 1);
    std::string axes = graph.list({random.chance(0.5) ? axis : axis - rank - 1});
    graph.add("Unsqueeze", {x.name, axes}, {}, sizes, x.type);
    return;
  }
  case 1: {
    auto one = std::find(x.sizes.begin(), x.sizes.end(), 1);
    if (one == x.sizes.end())
      return;
    std::string axes = graph.list({one - x.sizes.begin()});
    x.sizes.erase(one);
    graph.add("Squeeze", {x.name, axes}, {}, x.sizes, x.type);
    return;
  }
  default: {
    int64_t axis = random.upTo(rank + 1), rows = 1, columns = 1;
    for (int64_t i = 0; i < rank; ++i)
      (i < axis ? rows : columns) *= x.sizes[i];
    graph.add("Flatten", {x.name}, {intAttribute("axis", axis)}, {rows, columns}, x.type);
  }
  }
}

void addRearrangement(ModelGraph &graph) {
  Random &random = graph.random;
  switch (random.upTo(10)) {
  case 0:
    return addReshape(graph);
  case 1:
    return addSlice(graph);
  case 2:
    return addPad(graph);
  case 3:
    return addConcat(graph);
  case 4:
    return addExpansion(graph);
  case 5:
    return addDimensions(graph);
  case 6: {
    Array x = graph.any(isAny, 2);
    Sizes upTo = {random.between(-2, 2)};
    std::string k = graph.number(static_cast<double>(upTo[0]), DataType::Int64);
    graph.add("Trilu", {x.name, k}, {intAttribute("upper", random.upTo(2))}, x.sizes, x.type);
    return;
  }
  case 7: {
    Array x = graph.any(isAny, 1);
    int64_t axis = random.upTo(x.rank()), size = x.sizes[axis], first = random.between(0, size);
    graph.addLast("Split", {x.name, graph.list({first, size - first})},
                  {intAttribute("axis", axis)}, {x.type, x.type});
    return;
  }
  case 8: {
    bool isDepth = random.chance(0.5);
    int64_t block = 2;
    Sizes sizes = isDepth ? Sizes{random.between(1, 2), 4 * random.between(1, 2), 3, 2}
                          : Sizes{random.between(1, 2), 3, 4, 2 * random.between(1, 3)};
    Array x = graph.fresh(sizes, anyDataType(random));
    Sizes after = isDepth ? Sizes{sizes[0], sizes[1] / 4, sizes[2] * 2, sizes[3] * 2}
                          : Sizes{sizes[0], sizes[1] * 4, sizes[2] / 2, sizes[3] / 2};
    Attributes attributes = {intAttribute("blocksize", block)};
    if (isDepth)
      attributes.push_back(textAttribute("mode", random.choose({"DCR", "CRD"})));
    graph.add(isDepth ? "DepthToSpace" : "SpaceToDepth", {x.name}, attributes, after, x.type);
    return;
  }
  default: {
    Array x = graph.any(isAny, 2);
    Sizes order(x.sizes.size()), sizes;
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.upTo(static_cast<int64_t>(i))]);
    for (int64_t from : order)
      sizes.push_back(x.sizes[from]);
    graph.add("Transpose", {x.name}, {listAttribute("perm", order)}, sizes, x.type);
  }
  }
}

//===- places ------------------------------------------------------------------------------------===//

void addSelection(ModelGraph &graph) {
  Random &random = graph.random;
  Array x = graph.any(isNumber, 1, 4);
  if (x.cells() == 0)
    return;
  int64_t axis = random.upTo(x.rank()), size = x.sizes[axis];
  CellRange places{static_cast<double>(-size), static_cast<double>(size)};
  Attributes along = {intAttribute("axis", random.chance(0.5) ? axis : axis - x.rank())};
  switch (random.upTo(9)) {
  case 0: {
    Array indices = graph.fresh(graph.sizesOfRank(random.upTo(2)), DataType::Int64, places);
    Sizes sizes = x.sizes;
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, indices.sizes.begin(), indices.sizes.end());
    if (indices.cells() * (x.cells() / size) < 4096)
      graph.add("Gather", {x.name, indices.name}, along, sizes, x.type);
    return;
  }
  case 1: {
    Sizes sizes = x.sizes;
    sizes[axis] = random.between(1, 4);
    Array indices = graph.fresh(sizes, DataType::Int64, places);
    graph.add("GatherElements", {x.name, indices.name}, along, sizes, x.type);
    return;
  }
  case 2: {
    Sizes sizes = x.sizes;
    sizes[axis] = 1; // no place twice
    Array indices = graph.fresh(sizes, DataType::Int64, places);
    Array updates = graph.fresh(sizes, x.type);
    along.push_back(textAttribute("reduction", random.choose({"none", "add", "max", "min"})));
    graph.add("ScatterElements", {x.name, indices.name, updates.name}, along, x.sizes, x.type);
    return;
  }
  case 3: {
    Array indices = graph.fresh({random.between(1, 4), 1}, DataType::Int64,
                                {0, static_cast<double>(x.sizes[0])});
    Sizes sizes = x.sizes;
    sizes[0] = indices.sizes[0];
    if (random.chance(0.5)) {
      graph.add("GatherND", {x.name, indices.name}, {}, sizes, x.type);
      return;
    }
    Array updates = graph.fresh(sizes, x.type);
    graph.add("ScatterND", {x.name, indices.name, updates.name},
              {textAttribute("reduction", random.choose({"add", "max", "min"}))}, x.sizes, x.type);
    return;
  }
  case 4: {
    int64_t count = random.between(1, size);
    along.push_back(intAttribute("largest", random.upTo(2)));
    graph.addLast("TopK", {x.name, graph.list({count})}, along, {x.type, DataType::Int64});
    return;
  }
  case 5:
    return graph.addLast("NonZero", {x.name}, {}, {DataType::Int64});
  case 6: {
    Array indices = graph.fresh(graph.sizesOfRank(1), DataType::Int64, {-4, 4});
    std::string values = graph.fresh({2}, x.type).name;
    Sizes sizes = {indices.sizes[0], 4};
    graph.add("OneHot", {indices.name, graph.number(4, DataType::Int64), values}, {}, sizes,
              x.type);
    return;
  }
  case 7:
    // The reference compares each cell with all others.
    if (x.cells() <= 200)
      graph.addLast("Unique", {x.name}, {intAttribute("sorted", 1)},
                    {x.type, DataType::Int64, DataType::Int64, DataType::Int64});
    return;
  default: {
    std::string kept = graph.fresh({size}, DataType::Bool, {0, 2}).name;
    return graph.addLast("Compress", {x.name, kept}, along, {x.type});
  }
  }
}

void addNode(ModelGraph &graph) {
  using Adder = void (*)(ModelGraph &);
  static constexpr Adder adders[] = {
      addCells,         addCells,         addCells,      addCells,
      addReduction,     addReduction,     addSelection,  addRearrangement,
      addRearrangement, addRearrangement, addProduct,    addImage,
      addNormalisation, addQuantisation,  addRecurrence, addControlFlow};
  adders[graph.random.upTo(std::size(adders))](graph);
}

} // namespace tokamak::fuzz
