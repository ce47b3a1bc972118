// Aggregates of the windows of an image.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/rules/AlongDimension.h"
#include "frontend/onnx/rules/Windows.h"

#include "base/Error.h"

#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

struct Pool {
  SmallVector<ImageDimension> dimensions;
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
  Pool pool{dimensionsOf(node, sizesOfImage(node), places), {}};
  pool.windows =
      windowsOf(node.graph(), pool.dimensions,
                node.integer("ceil_mode", 0) != 0 ? RoundWindows::Up : RoundWindows::Down);
  return pool;
}

// Of the windows of each image and channel, in which the first of the largest cells is; numbers of cells of
// the whole image in row-major order or, of the places of one channel, in column-major order.
Value placesOfLargest(GraphBuilder &graph, Value image, const Pool &pool, bool isColumnMajor) {
  const Windows &windows = pool.windows;
  Values sizes = graph.sizes(image), own(sizes.begin() + 2, sizes.end());
  Value area = graph.product(own), columns = graph.product(windows.counts),
        window = graph.integer(1);
  for (const ImageDimension &dimension : pool.dimensions)
    window = graph.scalar(Binary::Mul, window, dimension.places);
  ElementType type = GraphBuilder::elementTypeOf(image);
  Value least = isFloat(type) ? graph.real(-std::numeric_limits<double>::infinity())
                              : graph.integer(leastInteger(type));
  Value flat = graph.view(graph.windows(image, least, windows.numbers),
                          {sizes[0], sizes[1], columns, window});
  Value largest = placeFromZero(graph, AggregateKind::FirstIndexMax, flat, 3, KeepDimensions::No);
  // The same windows over the numbers of the cells.
  mlir::Type whole = graph.builder().getI64Type();
  Value numbers = graph.places(area, whole);
  Values one = {graph.integer(1), graph.integer(1)};
  if (isColumnMajor) {
    llvm::append_range(one, llvm::reverse(own));
    Numbers order = {0, 1};
    for (auto i = static_cast<int64_t>(own.size()) + 1; i > 1; --i)
      order.push_back(i);
    numbers = graph.permute(graph.view(numbers, one), order);
  } else {
    llvm::append_range(one, own);
    numbers = graph.view(numbers, one);
  }
  Value inWindows = graph.windows(numbers, graph.integer(-1), windows.numbers);
  Value begins = graph.binary(Binary::Mul, graph.places(columns, whole), window);
  Value there = graph.take(graph.view(inWindows, {graph.scalar(Binary::Mul, columns, window)}),
                           graph.binary(Binary::Add, largest, begins), 0);
  Value channels = graph.scalar(Binary::Mul, sizes[0], sizes[1]);
  Value before = graph.binary(Binary::Mul, graph.places(channels, whole), area);
  Value all =
      graph.binary(Binary::Add, there, graph.view(before, {sizes[0], sizes[1], graph.integer(1)}));
  Values result = {sizes[0], sizes[1]};
  llvm::append_range(result, windows.counts);
  return graph.view(all, result);
}

void importMaxPool(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Pool pool = poolOf(node);
  bool byColumns = node.integer("storage_order", 0) != 0;
  node.setResult(0, graph.pool(node.operand(0), "max", pool.windows.numbers));
  if (node.wantsResult(1))
    node.setResult(1, placesOfLargest(graph, node.operand(0), pool, byColumns));
}

// Writes the cells to the places from which a pool took them; what it did not take is 0. Places are numbers of
// cells of an image of the size that the pool must have had; if another one is asked for, it is larger.
void importMaxUnpool(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Pool pool = poolOf(node);
  Value x = node.operand(0);
  Values sizes = {graph.size(x, 0), graph.size(x, 1)}, asked;
  for (const ImageDimension &dimension : pool.dimensions) {
    Value last = graph.scalar(Binary::Sub, dimension.size, graph.integer(1));
    Value reach =
        graph.scalar(Binary::Add, graph.scalar(Binary::Mul, last, graph.integer(dimension.stride)),
                     dimension.places);
    sizes.push_back(graph.scalar(Binary::Sub, graph.scalar(Binary::Sub, reach, dimension.before),
                                 dimension.after));
  }
  asked = sizes;
  if (node.hasOperand(2)) {
    std::optional<Values> given = node.sizesAt(2);
    if (!given)
      node.refuse("MaxUnpool to an unknown number of sizes");
    if (given->size() != sizes.size())
      throw Error(fmt::format("output_shape has {} sizes, the image {} dimensions", given->size(),
                              sizes.size()));
    asked = *given;
  }
  // Numbers of cells of the larger image.
  Value rest = graph.checkedIndices(node.operand(1), graph.product(sizes),
                                    GraphBuilder::CountFrom::Begin),
        places, stride = graph.integer(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    Value along = graph.binary(Binary::Mul, graph.binary(Binary::Mod, rest, sizes[i]), stride);
    places = places ? graph.binary(Binary::Add, places, along) : along;
    rest = graph.binary(Binary::IntDiv, rest, sizes[i]);
    stride = graph.scalar(Binary::Mul, stride, asked[i]);
  }
  mlir::Type element = GraphBuilder::elementOf(x);
  Value zeros = graph.filled(0, element, {graph.product(asked)});
  Value fromOne = graph.binary(Binary::Add, places, graph.integer(1));
  node.setResult(0, graph.view(graph.native("scatter", {zeros, x, fromOne}, 1, element), asked));
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
  Value sums = graph.pool(image, "sum", pool.windows.numbers);
  // What was added counts only if the node says so, and never what lies behind it.
  bool countsAll = node.integer("count_include_pad", 0) != 0;
  Values sizes;
  for (const ImageDimension &dimension : pool.dimensions) {
    Value size = dimension.size;
    if (countsAll)
      size = graph.scalar(Binary::Add, graph.scalar(Binary::Add, size, dimension.before),
                          dimension.after);
    sizes.push_back(size);
  }
  Values numbers;
  for (auto [dimension, count] : llvm::zip(pool.dimensions, pool.windows.counts))
    addNumbers(graph, numbers, count, dimension, countsAll ? graph.integer(0) : dimension.before);
  Value counts = graph.pool(onesOf(graph, sizes, GraphBuilder::elementOf(image)), "sum", numbers);
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
                   return node.graph().pool(powers, "sum", pool.windows.numbers);
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
  Value sums = graph.pool(graph.binary(Binary::Mul, x, x), "sum", numbers);
  Value scaled = graph.binary(Binary::Mul, sums, graph.real(alpha / static_cast<double>(size)));
  Value base = graph.binary(Binary::Add, scaled, graph.real(bias));
  node.setResult(0,
                 graph.binary(Binary::Div, x, graph.binary(Binary::Pow, base, graph.real(beta))));
}

constexpr ImportRule rules[] = {
    {"AveragePool", 1, importAveragePool},
    {"GlobalLpPool", 1, importGlobalLpPool},
    {"LRN", 1, importLrn},
    {"LpPool", 1, importLpPool},
    {"MaxPool", 1, importMaxPool},
    {"MaxUnpool", 9, importMaxUnpool},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::poolRules() { return rules; }
