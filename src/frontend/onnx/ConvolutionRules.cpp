// Products of weights with the windows of an image.
#include "frontend/onnx/Convolution.h"
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/Windows.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

Value withBias(GraphBuilder &graph, Value convolved, Value bias) {
  return bias ? graph.binary(Binary::Add, convolved,
                             graph.startingAt(bias, 1, GraphBuilder::rankOf(convolved)))
              : convolved;
}

Values placesOfWeights(GraphBuilder &graph, int64_t rank, Value weights) {
  Values places = graph.sizes(weights);
  if (places.size() != static_cast<size_t>(rank) || places.size() < 3)
    throw Error(fmt::format("images of {} and weights of {} dimensions", rank, places.size()));
  places.erase(places.begin(), places.begin() + 2);
  return places;
}

Value biasOf(NodeImporter &node) { return node.hasOperand(2) ? node.operand(2) : Value(); }

void importConv(NodeImporter &node) {
  node.setResult(0, convolution(node, node.operand(0), node.operand(1), biasOf(node)));
}

// Each cell of the image is spread by the stride: a window looks back over the places that reach its own.
void importConvTranspose(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Values places = placesOfWeights(graph, node.rank(0), node.operand(1));
  SmallVector<ImageDimension> dimensions = dimensionsOf(node, sizesOfImage(node), places);
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
  // [channels, filters of a group, …] becomes [filters, channels of a group, …].
  Value groups = graph.integer(node.integer("group", 1));
  Value filters = graph.size(node.operand(1), 1), area = graph.product(places),
        channels = graph.scalar(Binary::IntDiv, graph.size(node.operand(1), 0), groups);
  Value apart = graph.view(node.operand(1), {groups, channels, filters, area});
  Values sizes = {graph.scalar(Binary::Mul, groups, filters), channels};
  llvm::append_range(sizes, places);
  Value weights = graph.view(graph.permute(apart, {0, 2, 1, 3}), sizes);
  node.setResult(
      0, withBias(graph, graph.convolve(node.operand(0), weights, groups, numbers), biasOf(node)));
}

// The sum of all windows [images, channels * places, windows] at their places in an image.
void importCol2Im(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<Values> sizes = node.sizesAt(1), places = node.sizesAt(2);
  if (!sizes || !places || sizes->size() != places->size() || sizes->empty() || node.rank(0) != 3)
    node.refuse("Col2Im of an image of an unknown number of dimensions");
  Value x = node.operand(0), area = graph.product(*sizes), block = graph.product(*places);
  Value images = graph.size(x, 0);
  Value channels = graph.scalar(Binary::IntDiv, graph.size(x, 1), block);
  // Which cell of the image stands at each place of each window; behind the last one is one more, outside.
  Values image = {graph.integer(1), graph.integer(1)};
  llvm::append_range(image, *sizes);
  Value numbers = graph.view(graph.places(area, graph.builder().getI64Type()), image);
  Windows windows = windowsOf(graph, dimensionsOf(node, *sizes, *places), RoundWindows::Down);
  Value count = graph.product(windows.counts);
  Value cells = graph.permute(
      graph.view(graph.windows(numbers, area, windows.numbers), {count, block}), {1, 0});
  Value parts = graph.permute(graph.view(x, {images, channels, block, count}), {2, 3, 0, 1});
  mlir::Type element = GraphBuilder::elementOf(x);
  Value zeros = graph.filled(0, element,
                             {graph.scalar(Binary::Add, area, graph.integer(1)), images, channels});
  Value add = graph.builder().create<tok::ConstantOp>(graph.location(), StringRef("add"));
  Value sums = graph.native("scatter_reduce",
                            {zeros, parts, graph.binary(Binary::Add, cells, graph.integer(1)), add},
                            3, element);
  Value inside = graph.permute(graph.slice(sums, 0, graph.integer(0), area), {1, 2, 0});
  Values result = {images, channels};
  llvm::append_range(result, *sizes);
  node.setResult(0, graph.view(inside, result));
}

constexpr ImportRule rules[] = {
    {"Col2Im", 18, importCol2Im},
    {"Conv", 1, importConv},
    {"ConvTranspose", 1, importConvTranspose},
};

} // namespace

Value onnx::convolution(NodeImporter &node, Value image, Value weights, Value bias) {
  GraphBuilder &graph = node.graph();
  Values places = placesOfWeights(graph, GraphBuilder::rankOf(image), weights);
  SmallVector<ImageDimension> dimensions = dimensionsOf(node, sizesOfImage(node), places);
  Value groups = graph.integer(node.integer("group", 1));
  Windows windows = windowsOf(graph, dimensions, RoundWindows::Down);
  return withBias(graph, graph.convolve(image, weights, groups, windows.numbers), bias);
}

llvm::ArrayRef<ImportRule> onnx::convolutionRules() { return rules; }
