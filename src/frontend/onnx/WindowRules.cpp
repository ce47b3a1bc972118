// Convolutions and pools: products and aggregates over windows of an image, whose first two dimensions are the
// number of the image and the channel.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>
#include <limits>

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

struct Windows {
  Value cells;   // [images, channels, windows …, places …]
  Values counts; // of windows
};

Windows windowsOf(GraphBuilder &graph, Value image, ArrayRef<Dimension> dimensions, Value outside,
                  bool roundsUp) {
  Windows windows;
  Values numbers;
  for (const Dimension &dimension : dimensions) {
    windows.counts.push_back(countWindows(graph, dimension, roundsUp));
    numbers.append({windows.counts.back(), dimension.places,
                    graph.scalar(Binary::Sub, graph.integer(1), dimension.before),
                    graph.integer(dimension.stride), graph.integer(dimension.dilation),
                    graph.integer(1)});
  }
  windows.cells = graph.windows(image, outside, numbers);
  return windows;
}

//===- convolutions --------------------------------------------------------------------------===//

// What is multiplied with the weights: for each group of channels a matrix with a row for each channel and
// place in a window, and a column for each window.
Value asColumns(GraphBuilder &graph, Value cells, ArrayRef<Value> counts, ArrayRef<Value> places,
                Value groups) {
  auto spatial = static_cast<int64_t>(counts.size());
  Numbers order = {0, 1};
  llvm::append_range(order, numbersFrom(2 + spatial, 2 + 2 * spatial));
  llvm::append_range(order, numbersFrom(2, 2 + spatial));
  Value channels = graph.scalar(Binary::IntDiv, graph.size(cells, 1), groups);
  Value rows = graph.scalar(Binary::Mul, channels, graph.product(places));
  Value images = graph.size(cells, 0);
  return graph.view(graph.permute(cells, order), {images, groups, rows, graph.product(counts)});
}

// [1, groups, channels of a group, …] x [images, groups, …, windows]
void setProduct(NodeImporter &node, Value weights, Value columns, ArrayRef<Value> counts) {
  GraphBuilder &graph = node.graph();
  Value product = graph.matmul(weights, columns);
  Values sizes = {graph.size(product, 0),
                  graph.scalar(Binary::Mul, graph.size(product, 1), graph.size(product, 2))};
  llvm::append_range(sizes, counts);
  Value result = graph.view(product, sizes);
  if (node.hasOperand(2))
    result = graph.binary(Binary::Add, result,
                          graph.startingAt(node.operand(2), 1, static_cast<int64_t>(sizes.size())));
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
  Values places = placesOfWeights(node);
  SmallVector<Dimension> dimensions = dimensionsOf(node, places);
  padForSame(node, dimensions);
  Value groups = graph.integer(node.integer("group", 1));
  Windows windows =
      windowsOf(graph, node.operand(0), dimensions, graph.real(0), /*roundsUp=*/false);
  Value columns = asColumns(graph, windows.cells, windows.counts, places, groups);
  Value filters = graph.scalar(Binary::IntDiv, graph.size(node.operand(1), 0), groups);
  Value weights =
      graph.view(node.operand(1), {graph.integer(1), groups, filters, graph.size(columns, 2)});
  setProduct(node, weights, columns, windows.counts);
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
  Values counts, numbers;
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    Value stride = graph.integer(dimension.stride);
    Value whole = graph.scalar(
        Binary::Add,
        graph.scalar(Binary::Mul, graph.scalar(Binary::Sub, dimension.size, graph.integer(1)),
                     stride),
        spanOf(graph, dimension));
    whole = graph.scalar(Binary::Add, whole, graph.integer(numberAt(more, i, 0)));
    if (isSame || !given.empty()) {
      Value count = given.empty() ? graph.scalar(Binary::Mul, dimension.size, stride)
                                  : graph.integer(given[i]);
      Value total =
          graph.scalar(Binary::Max, graph.scalar(Binary::Sub, whole, count), graph.integer(0));
      splitPadding(graph, total, mode == "SAME_LOWER", dimension);
      counts.push_back(count);
    } else {
      counts.push_back(graph.scalar(Binary::Sub, graph.scalar(Binary::Sub, whole, dimension.before),
                                    dimension.after));
    }
    numbers.append({counts.back(), dimension.places,
                    graph.scalar(Binary::Add, dimension.before, graph.integer(1)), graph.integer(1),
                    graph.integer(-dimension.dilation), stride});
  }
  Value groups = graph.integer(node.integer("group", 1));
  Value cells = graph.windows(node.operand(0), graph.real(0), numbers);
  Value columns = asColumns(graph, cells, counts, places, groups);
  Value filters = graph.size(node.operand(1), 1), area = graph.product(places),
        channels = graph.scalar(Binary::IntDiv, graph.size(node.operand(1), 0), groups);
  Value apart = graph.view(node.operand(1), {groups, channels, filters, area});
  Value weights = graph.view(graph.permute(apart, {0, 2, 1, 3}),
                             {graph.integer(1), groups, filters, graph.size(columns, 2)});
  setProduct(node, weights, columns, counts);
}

//===- pools ---------------------------------------------------------------------------------===//

struct Pool {
  SmallVector<Dimension> dimensions;
  bool roundsUp;
  Numbers places; // the dimensions of windows that are places in them
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
  Pool pool{dimensionsOf(node, places), node.integer("ceil_mode", 0) != 0,
            numbersFrom(2 + spatial, 2 + 2 * spatial)};
  padForSame(node, pool.dimensions);
  return pool;
}

void importMaxPool(NodeImporter &node) {
  if (node.wantsResult(1))
    node.refuse("MaxPool that gives places");
  GraphBuilder &graph = node.graph();
  Pool pool = poolOf(node);
  ElementType type = node.elementType(0);
  Value least = isFloat(type) ? graph.real(-std::numeric_limits<double>::infinity())
                              : graph.integer(leastInteger(type));
  Windows windows = windowsOf(graph, node.operand(0), pool.dimensions, least, pool.roundsUp);
  node.setResult(0,
                 graph.reduce(AggregateKind::Max, windows.cells, pool.places, KeepDimensions::No));
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
  Windows windows = windowsOf(graph, image, pool.dimensions, graph.real(0), pool.roundsUp);
  Value sums = graph.reduce(AggregateKind::Sum, windows.cells, pool.places, KeepDimensions::No);
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
  for (auto [dimension, count] : llvm::zip(pool.dimensions, windows.counts))
    numbers.append({count, dimension.places,
                    countsAll ? graph.integer(1)
                              : graph.scalar(Binary::Sub, graph.integer(1), dimension.before),
                    graph.integer(dimension.stride), graph.integer(dimension.dilation),
                    graph.integer(1)});
  Value ones =
      graph.windows(onesOf(graph, sizes, GraphBuilder::elementOf(image)), graph.real(0), numbers);
  Value counts = graph.reduce(AggregateKind::Sum, ones, pool.places, KeepDimensions::No);
  node.setResult(0, graph.binary(Binary::Div, sums, counts));
}

// (sum of |x|^p)^(1/p)
Value powerSum(NodeImporter &node, Value cells, ArrayRef<int64_t> dimensions, KeepDimensions keep) {
  GraphBuilder &graph = node.graph();
  auto p =
      static_cast<double>(node.version() < 2 ? int64_t(node.real("p", 2)) : node.integer("p", 2));
  Value powers = graph.binary(Binary::Pow, graph.unary(Unary::Abs, cells), graph.real(p));
  Value sum = graph.reduce(AggregateKind::Sum, powers, dimensions, keep);
  return graph.binary(Binary::Pow, sum, graph.real(1 / p));
}

void importLpPool(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Pool pool = poolOf(node);
  Windows windows =
      windowsOf(graph, node.operand(0), pool.dimensions, graph.real(0), pool.roundsUp);
  node.setResult(0, powerSum(node, windows.cells, pool.places, KeepDimensions::No));
}

void importGlobalLpPool(NodeImporter &node) {
  node.setResult(
      0, powerSum(node, node.operand(0), numbersFrom(2, node.rank(0)), KeepDimensions::Yes));
}

// x / (bias + alpha / size * sum of squares of neighbouring channels)^beta
void importLrn(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0), size = node.integer("size", 1);
  double alpha = node.real("alpha", 1e-4F), beta = node.real("beta", 0.75),
         bias = node.real("bias", 1);
  // Channels become the last dimension.
  Numbers there = {0}, back = {0, rank - 1};
  llvm::append_range(there, numbersFrom(2, rank));
  there.push_back(1);
  llvm::append_range(back, numbersFrom(1, rank - 1));
  Value squares = graph.permute(graph.binary(Binary::Mul, x, x), there);
  Value channels = graph.size(x, 1);
  Value windows = graph.windows(squares, graph.real(0),
                                {channels, graph.integer(size), graph.integer(1 - (size - 1) / 2),
                                 graph.integer(1), graph.integer(1), graph.integer(1)});
  Value sums =
      graph.permute(graph.reduce(AggregateKind::Sum, windows, {rank}, KeepDimensions::No), back);
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
