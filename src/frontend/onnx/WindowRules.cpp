// Convolutions and pools: products and aggregates over windows of an image, whose first two dimensions are the
// number of the image and the channel.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- where windows are ---------------------------------------------------------------------===//

// Of one dimension of the image; the attributes that convolutions and pools share.
struct Dimension {
  Value size, places; // of the image; of a window
  int64_t stride = 1, dilation = 1;
  Value before, after; // how much is added at both ends
};

int64_t numberAt(ArrayRef<int64_t> numbers, size_t place, int64_t otherwise) {
  return place < numbers.size() ? numbers[place] : otherwise;
}

// How many cells of the image a window spans.
Value spanOf(GraphBuilder &graph, const Dimension &dimension) {
  Value gaps = graph.scalar(Binary::Sub, dimension.places, graph.integer(1));
  return graph.scalar(Binary::Add,
                      graph.scalar(Binary::Mul, gaps, graph.integer(dimension.dilation)),
                      graph.integer(1));
}

Value roundedUp(GraphBuilder &graph, Value number, int64_t divisor) {
  return graph.scalar(Binary::IntDiv, graph.scalar(Binary::Add, number, graph.integer(divisor - 1)),
                      graph.integer(divisor));
}

// Half of the sum, rounded down, at one end, the rest at the other one.
void splitPadding(GraphBuilder &graph, Value total, bool moreBefore, Dimension &dimension) {
  Value half = graph.scalar(Binary::IntDiv, total, graph.integer(2)),
        rest = graph.scalar(Binary::Sub, total, half);
  dimension.before = moreBefore ? rest : half;
  dimension.after = moreBefore ? half : rest;
}

SmallVector<Dimension> dimensionsOf(NodeImporter &node, ArrayRef<Value> places) {
  GraphBuilder &graph = node.graph();
  Numbers strides = node.integers("strides"), dilations = node.integers("dilations"),
          pads = node.integers("pads");
  SmallVector<Dimension> dimensions;
  for (auto [i, count] : llvm::enumerate(places)) {
    Dimension dimension{graph.size(node.operand(0), static_cast<int64_t>(i) + 2), count,
                        numberAt(strides, i, 1), numberAt(dilations, i, 1)};
    if (dimension.stride < 1 || dimension.dilation < 1)
      throw Error("a stride or a dilation is less than 1");
    dimension.before = graph.integer(numberAt(pads, i, 0));
    dimension.after = graph.integer(numberAt(pads, i + places.size(), 0));
    dimensions.push_back(dimension);
  }
  return dimensions;
}

// "SAME": as many windows as the stride fits into the image.
void padForSame(NodeImporter &node, SmallVector<Dimension> &dimensions) {
  GraphBuilder &graph = node.graph();
  StringRef mode = node.text("auto_pad", "NOTSET");
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return;
  for (Dimension &dimension : dimensions) {
    Value windows = roundedUp(graph, dimension.size, dimension.stride);
    Value reach =
        graph.scalar(Binary::Add,
                     graph.scalar(Binary::Mul, graph.scalar(Binary::Sub, windows, graph.integer(1)),
                                  graph.integer(dimension.stride)),
                     spanOf(graph, dimension));
    Value total = graph.scalar(Binary::Max, graph.scalar(Binary::Sub, reach, dimension.size),
                               graph.integer(0));
    splitPadding(graph, total, mode == "SAME_LOWER", dimension);
  }
}

Value countWindows(GraphBuilder &graph, const Dimension &dimension, bool roundsUp) {
  Value padded = graph.scalar(Binary::Add, dimension.size, dimension.before);
  Value room = graph.scalar(Binary::Sub, graph.scalar(Binary::Add, padded, dimension.after),
                            spanOf(graph, dimension));
  Value stride = graph.integer(dimension.stride);
  if (!roundsUp)
    return graph.scalar(Binary::Add, graph.scalar(Binary::IntDiv, room, stride), graph.integer(1));
  // The last window begins inside of the image or of what is added before it.
  Value all = graph.scalar(Binary::Add, roundedUp(graph, room, dimension.stride), graph.integer(1));
  return graph.scalar(Binary::Min, all, roundedUp(graph, padded, dimension.stride));
}

// The numbers of the natives of windows.
struct Windows {
  Values counts; // of windows
  Values numbers;
};

// `before` tells how far the first window begins in front of the array.
void addNumbers(GraphBuilder &graph, Values &numbers, Value count, const Dimension &dimension,
                Value before) {
  numbers.append({count, dimension.places, graph.scalar(Binary::Sub, graph.integer(1), before),
                  graph.integer(dimension.stride), graph.integer(dimension.dilation),
                  graph.integer(1)});
}

Windows windowsOf(GraphBuilder &graph, ArrayRef<Dimension> dimensions, bool roundsUp) {
  Windows windows;
  for (const Dimension &dimension : dimensions) {
    windows.counts.push_back(countWindows(graph, dimension, roundsUp));
    addNumbers(graph, windows.numbers, windows.counts.back(), dimension, dimension.before);
  }
  return windows;
}

//===- convolutions --------------------------------------------------------------------------===//

void setConvolved(NodeImporter &node, Value weights, Value groups, ArrayRef<Value> numbers) {
  GraphBuilder &graph = node.graph();
  Value result = graph.convolve(node.operand(0), weights, groups, numbers);
  if (node.hasOperand(2))
    result = graph.binary(Binary::Add, result,
                          graph.startingAt(node.operand(2), 1, GraphBuilder::rankOf(result)));
  node.setResult(0, result);
}

Values placesOfWeights(NodeImporter &node) {
  Values places = node.graph().sizes(node.operand(1));
  if (places.size() != static_cast<size_t>(node.rank(0)) || places.size() < 3)
    throw Error(
        fmt::format("images of {} and weights of {} dimensions", node.rank(0), places.size()));
  places.erase(places.begin(), places.begin() + 2);
  return places;
}

void importConv(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  SmallVector<Dimension> dimensions = dimensionsOf(node, placesOfWeights(node));
  padForSame(node, dimensions);
  Windows windows = windowsOf(graph, dimensions, /*roundsUp=*/false);
  setConvolved(node, node.operand(1), graph.integer(node.integer("group", 1)), windows.numbers);
}

// Each cell of the image is spread by the stride: a window looks back over the places that reach its own.
void importConvTranspose(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Values places = placesOfWeights(node);
  SmallVector<Dimension> dimensions = dimensionsOf(node, places);
  Numbers more = node.integers("output_padding"), given = node.integers("output_shape");
  if (given.size() == places.size() + 2)
    given.erase(given.begin(), given.begin() + 2);
  StringRef mode = node.text("auto_pad", "NOTSET");
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  Values numbers;
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    Value stride = graph.integer(dimension.stride), count;
    Value whole = graph.scalar(
        Binary::Add,
        graph.scalar(Binary::Mul, graph.scalar(Binary::Sub, dimension.size, graph.integer(1)),
                     stride),
        spanOf(graph, dimension));
    whole = graph.scalar(Binary::Add, whole, graph.integer(numberAt(more, i, 0)));
    if (isSame || !given.empty()) {
      count = given.empty() ? graph.scalar(Binary::Mul, dimension.size, stride)
                            : graph.integer(given[i]);
      Value total =
          graph.scalar(Binary::Max, graph.scalar(Binary::Sub, whole, count), graph.integer(0));
      splitPadding(graph, total, mode == "SAME_LOWER", dimension);
    } else {
      count = graph.scalar(Binary::Sub, graph.scalar(Binary::Sub, whole, dimension.before),
                           dimension.after);
    }
    numbers.append({count, dimension.places,
                    graph.scalar(Binary::Add, dimension.before, graph.integer(1)), graph.integer(1),
                    graph.integer(-dimension.dilation), stride});
  }
  // [channels, filters of a group, …] becomes [filters, channels of a group, …].
  Value groups = graph.integer(node.integer("group", 1));
  Value filters = graph.size(node.operand(1), 1), area = graph.product(places),
        channels = graph.scalar(Binary::IntDiv, graph.size(node.operand(1), 0), groups);
  Value apart = graph.view(node.operand(1), {groups, channels, filters, area});
  Values sizes = {graph.scalar(Binary::Mul, groups, filters), channels};
  llvm::append_range(sizes, places);
  setConvolved(node, graph.view(graph.permute(apart, {0, 2, 1, 3}), sizes), groups, numbers);
}

//===- pools ---------------------------------------------------------------------------------===//

struct Pool {
  SmallVector<Dimension> dimensions;
  Windows windows;
};

Pool poolOf(NodeImporter &node) {
  Numbers kernel = node.integers("kernel_shape");
  int64_t spatial = node.rank(0) - 2;
  if (static_cast<int64_t>(kernel.size()) != spatial || spatial < 1)
    throw Error(fmt::format("kernel_shape has {} sizes, the image {} dimensions", kernel.size(),
                            node.rank(0)));
  Values places;
  for (int64_t size : kernel)
    places.push_back(node.graph().integer(size));
  Pool pool{dimensionsOf(node, places), {}};
  padForSame(node, pool.dimensions);
  pool.windows = windowsOf(node.graph(), pool.dimensions, node.integer("ceil_mode", 0) != 0);
  return pool;
}

// Pools are of floats of 32 bits and more, or of integers.
Value pooled(GraphBuilder &graph, Value array, StringRef kind, ArrayRef<Value> numbers) {
  ElementType type = GraphBuilder::elementTypeOf(array);
  if (isFloat(type) && byteSize(type) < 4)
    return graph.cast(graph.pool(graph.cast(array, ElementType::F32), kind, numbers),
                      GraphBuilder::elementOf(array));
  return graph.pool(array, kind, numbers);
}

void importMaxPool(NodeImporter &node) {
  if (node.wantsResult(1))
    node.refuse("MaxPool that gives places");
  Pool pool = poolOf(node);
  node.setResult(0, pooled(node.graph(), node.operand(0), "max", pool.windows.numbers));
}

// An image of this size whose cells are all 1.
Value onesOf(GraphBuilder &graph, ArrayRef<Value> sizes, mlir::Type element) {
  Values all = {graph.integer(1), graph.integer(1)};
  llvm::append_range(all, sizes);
  return graph.broadcast(graph.filled(1, element), all);
}

void importAveragePool(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Pool pool = poolOf(node);
  Value image = node.operand(0);
  Value sums = pooled(graph, image, "sum", pool.windows.numbers);
  // What was added counts only if the node says so, and never what lies behind it.
  bool countsAll = node.integer("count_include_pad", 0) != 0;
  Values sizes;
  for (const Dimension &dimension : pool.dimensions) {
    Value size = dimension.size;
    if (countsAll)
      size = graph.scalar(Binary::Add, graph.scalar(Binary::Add, size, dimension.before),
                          dimension.after);
    sizes.push_back(size);
  }
  Values numbers;
  for (auto [dimension, count] : llvm::zip(pool.dimensions, pool.windows.counts))
    addNumbers(graph, numbers, count, dimension, countsAll ? graph.integer(0) : dimension.before);
  Value counts =
      pooled(graph, onesOf(graph, sizes, GraphBuilder::elementOf(image)), "sum", numbers);
  node.setResult(0, graph.binary(Binary::Div, sums, counts));
}

// (sum of |x|^p)^(1/p), where `sumOf` adds the powers up.
Value powerSum(NodeImporter &node, llvm::function_ref<Value(Value powers)> sumOf) {
  GraphBuilder &graph = node.graph();
  auto p =
      static_cast<double>(node.version() < 2 ? int64_t(node.real("p", 2)) : node.integer("p", 2));
  Value powers = graph.binary(Binary::Pow, graph.unary(Unary::Abs, node.operand(0)), graph.real(p));
  return graph.binary(Binary::Pow, sumOf(powers), graph.real(1 / p));
}

void importLpPool(NodeImporter &node) {
  Pool pool = poolOf(node);
  node.setResult(0, powerSum(node, [&](Value powers) {
                   return pooled(node.graph(), powers, "sum", pool.windows.numbers);
                 }));
}

void importGlobalLpPool(NodeImporter &node) {
  node.setResult(0, powerSum(node, [&](Value powers) {
                   return node.graph().reduce(AggregateKind::Sum, powers,
                                              numbersFrom(2, node.rank(0)), KeepDimensions::Yes);
                 }));
}

// x / (bias + alpha / size * sum of squares of neighbouring channels)^beta
void importLrn(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0), size = node.integer("size", 1);
  double alpha = node.real("alpha", 1e-4F), beta = node.real("beta", 0.75),
         bias = node.real("bias", 1);
  Value one = graph.integer(1);
  Values numbers = {
      graph.size(x, 1), graph.integer(size), graph.integer(1 - (size - 1) / 2), one, one, one};
  for (int64_t i = 2; i < rank; ++i)
    numbers.append({graph.size(x, i), one, one, one, one, one});
  Value sums = pooled(graph, graph.binary(Binary::Mul, x, x), "sum", numbers);
  Value scaled = graph.binary(Binary::Mul, sums, graph.real(alpha / static_cast<double>(size)));
  Value base = graph.binary(Binary::Add, scaled, graph.real(bias));
  node.setResult(0,
                 graph.binary(Binary::Div, x, graph.binary(Binary::Pow, base, graph.real(beta))));
}

//===- more cells at the ends ----------------------------------------------------------------===//

struct Padding {
  Values before, after; // by dimension
};

Padding paddingOf(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0);
  Padding padding{Values(rank, graph.integer(0)), Values(rank, graph.integer(0))};
  Numbers axes = numbersFrom(0, rank);
  Values numbers;
  if (node.version() < 11) {
    for (int64_t number : node.integers(node.version() < 2 ? "paddings" : "pads"))
      numbers.push_back(graph.integer(number));
  } else {
    std::optional<Values> cells = node.cells(1);
    if (!cells)
      node.refuse("Pad by an unknown number of cells");
    numbers = *cells;
    if (node.hasOperand(3))
      axes = node.axes(node.constants(3, "axes"), rank);
  }
  if (numbers.size() != 2 * axes.size())
    throw Error(fmt::format("{} numbers for {} dimensions", numbers.size(), axes.size()));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    padding.before[axis] = numbers[i];
    padding.after[axis] = numbers[i + axes.size()];
  }
  return padding;
}

Value paddedSize(GraphBuilder &graph, Value x, const Padding &padding, int64_t dimension) {
  return graph.scalar(
      Binary::Add, graph.size(x, dimension),
      graph.scalar(Binary::Add, padding.before[dimension], padding.after[dimension]));
}

// The place of the array that stands at each place of the result.
Value mirroredPlaces(GraphBuilder &graph, StringRef mode, Value places, Value size) {
  auto remainder = [&](Value x, Value divisor) {
    Value rest = graph.binary(Binary::Mod, x, divisor);
    return graph.binary(Binary::Mod, graph.binary(Binary::Add, rest, divisor), divisor);
  };
  Value last = graph.scalar(Binary::Sub, size, graph.integer(1));
  if (mode == "edge")
    return graph.binary(Binary::Max, graph.binary(Binary::Min, places, last), graph.integer(0));
  if (mode == "wrap")
    return remainder(places, size);
  Value period = graph.scalar(Binary::Max, graph.scalar(Binary::Mul, last, graph.integer(2)),
                              graph.integer(1));
  Value rest = remainder(places, period);
  return graph.binary(Binary::Min, rest, graph.binary(Binary::Sub, period, rest));
}

Value numberOutside(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  bool isOfFloats = isFloat(node.elementType(0));
  if (node.version() < 11)
    return graph.real(node.real("value", 0));
  if (!node.hasOperand(2))
    return isOfFloats ? graph.real(0) : graph.integer(0);
  Value cell = graph.view(node.operand(2), {graph.integer(1), graph.integer(1)});
  mlir::Type type =
      isOfFloats ? mlir::Type(graph.builder().getF64Type()) : graph.builder().getI64Type();
  return graph.builder().create<tok::CastOp>(graph.location(), type, cell);
}

void importPad(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0);
  Padding padding = paddingOf(node);
  StringRef mode = node.text("mode", "constant");
  if (mode != "constant") {
    for (int64_t i = 0; i < rank; ++i) {
      if (constantInteger(padding.before[i]) == 0 && constantInteger(padding.after[i]) == 0)
        continue;
      Value places = graph.places(paddedSize(graph, x, padding, i), graph.builder().getI64Type());
      Value shifted = graph.binary(Binary::Sub, places, padding.before[i]);
      x = graph.take(x, mirroredPlaces(graph, mode, shifted, graph.size(x, i)), i);
    }
    return node.setResult(0, x);
  }
  // Windows of one cell; of few dimensions at a time, since each of them becomes two.
  Value outside = numberOutside(node);
  constexpr int64_t mostAtATime = 4;
  if (rank > mostAtATime)
    node.refuse(fmt::format("Pad of {} dimensions", rank));
  Values numbers;
  for (int64_t i = 0; i < rank; ++i)
    numbers.append({paddedSize(graph, x, padding, i), graph.integer(1),
                    graph.scalar(Binary::Sub, graph.integer(1), padding.before[i]),
                    graph.integer(1), graph.integer(1), graph.integer(1)});
  if (rank == 0)
    return node.setResult(0, x);
  node.setResult(0, graph.squeeze(graph.windows(x, outside, numbers), numbersFrom(rank, 2 * rank)));
}

constexpr ImportRule rules[] = {
    {"AveragePool", 1, importAveragePool},
    {"Conv", 1, importConv},
    {"ConvTranspose", 1, importConvTranspose},
    {"GlobalLpPool", 1, importGlobalLpPool},
    {"LRN", 1, importLrn},
    {"LpPool", 1, importLpPool},
    {"MaxPool", 1, importMaxPool},
    {"Pad", 1, importPad},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::windowRules() { return rules; }
