// Products of weights with the windows of an image.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/rules/Convolution.h"
#include "frontend/onnx/rules/ImageReader.h"
#include "frontend/onnx/rules/Windows.h"

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

// The node may say them, too.
Values placesOfWeights(NodeImporter &node, int64_t rank, Value weights) {
  Values places = node.graph().sizes(weights);
  if (places.size() != static_cast<size_t>(rank) || places.size() < 3)
    throw Error(fmt::format("images of {} and weights of {} dimensions", rank, places.size()));
  places.erase(places.begin(), places.begin() + 2);
  Numbers said = node.integers("kernel_shape");
  if (!said.empty() && said.size() != places.size())
    throw Error(fmt::format("kernel_shape has {} sizes, the image {} dimensions", said.size(),
                            places.size()));
  for (auto [i, size] : llvm::enumerate(said))
    if (std::optional<int64_t> known = node.graph().knownSize(weights, i + 2);
        known && *known != size)
      throw Error(fmt::format("dimension {} of the weights is {}, but kernel_shape says {}", i + 2,
                              *known, size));
  return places;
}

Value biasOf(NodeImporter &node) { return node.hasOperand(2) ? node.operand(2) : Value(); }

void importConv(NodeImporter &node) {
  node.setResult(0, convolution(node, node.operand(0), node.operand(1), biasOf(node)));
}

// Whether the windows that cells are spread to lie side by side and are the whole result.
bool areTiles(GraphBuilder &graph, ArrayRef<ImageDimension> dimensions) {
  constexpr size_t mostDimensions = 2; // each is two of what is permuted
  return dimensions.size() <= mostDimensions &&
         llvm::all_of(dimensions, [&](const ImageDimension &dimension) {
           return graph.knownInteger(dimension.places) == dimension.stride &&
                  dimension.dilation == 1 && graph.knownInteger(dimension.before) == 0 &&
                  graph.knownInteger(dimension.after) == 0;
         });
}

// Each cell becomes a tile for each filter: the product of the weights with the channels of all cells.
Value tiled(GraphBuilder &graph, Value image, Value weights, ArrayRef<ImageDimension> dimensions) {
  Values sizes, places, apart = {graph.size(image, 0), graph.size(weights, 1)}, result = apart;
  Numbers order = {0, 1};
  auto count = static_cast<int64_t>(dimensions.size());
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    sizes.push_back(dimension.size);
    places.push_back(dimension.places);
    result.push_back(graph.scalar(Binary::Mul, dimension.size, dimension.places));
    auto number = static_cast<int64_t>(i);
    order.append({2 + count + number, 2 + number});
  }
  apart.append(places);
  apart.append(sizes);
  Value channels = graph.size(weights, 0),
        area = graph.scalar(Binary::Mul, graph.size(weights, 1), graph.product(places));
  Value product =
      graph.matmul(graph.permute(graph.view(weights, {channels, area}), {1, 0}),
                   graph.view(image, {graph.size(image, 0), channels, graph.product(sizes)}));
  return graph.view(graph.permute(graph.view(product, apart), order), result);
}

// Each cell of the image is spread by the stride: a window looks back over the places that reach its own.
void importConvTranspose(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Values places = placesOfWeights(node, node.rank(0), node.operand(1));
  SmallVector<ImageDimension> dimensions = dimensionsOf(node, sizesOfImage(node), places);
  Numbers more = node.integers("output_padding"), given = node.integers("output_shape");
  if (given.size() == places.size() + 2)
    given.erase(given.begin(), given.begin() + 2);
  StringRef mode = node.text("auto_pad", "NOTSET");
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER",
       hasOneGroup = node.integer("group", 1) == 1;
  if (hasOneGroup && !isSame && given.empty() &&
      llvm::all_of(more, [](int64_t n) { return n == 0; }) && areTiles(graph, dimensions))
    return node.setResult(
        0,
        withBias(graph, tiled(graph, node.operand(0), node.operand(1), dimensions), biasOf(node)));
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

// The cell between those of an image at places that are no whole numbers; outside of the image are zeros.
Value betweenCells(GraphBuilder &graph, ImageReader &reader, Value images, ArrayRef<Value> places) {
  Value sum;
  // All combinations of the cell below and the one above along each dimension.
  for (size_t corner = 0; corner < size_t{1} << places.size(); ++corner) {
    Values inside;
    Value weight, isInside;
    for (auto [i, place] : llvm::enumerate(places)) {
      Value at = graph.unary(Unary::Floor, place);
      if ((corner >> i & 1) != 0)
        at = graph.binary(Binary::Add, at, graph.real(1));
      Value distance = graph.unary(Unary::Abs, graph.binary(Binary::Sub, place, at));
      Value share = graph.binary(Binary::Sub, graph.real(1), distance);
      Value last = graph.scalar(Binary::Sub, graph.inDoubles(reader.size(static_cast<int64_t>(i))),
                                graph.real(1));
      inside.push_back(
          graph.binary(Binary::Max, graph.binary(Binary::Min, at, last), graph.real(0)));
      Value is = graph.binary(Binary::Eq, at, inside.back());
      weight = weight ? graph.binary(Binary::Mul, weight, share) : share;
      isInside = isInside ? graph.binary(Binary::And, isInside, is) : is;
    }
    Value zero = graph.filled(0, graph.builder().getF64Type());
    weight = graph.cast(graph.select(isInside, weight, zero), reader.element());
    Value cells = graph.binary(Binary::Mul, reader.at(images, inside),
                               graph.unsqueeze(weight, {GraphBuilder::rankOf(weight)}));
    sum = sum ? graph.binary(Binary::Add, sum, cells) : cells;
  }
  return sum;
}

// Each place of each window is moved by an offset of its own; channels share offsets by groups.
void importDeformConv(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0), count = rank - 2;
  constexpr int64_t mostDimensions = 5; // of an image: each one doubles what is read
  if (rank > mostDimensions || node.rank(2) != rank)
    throw Error(fmt::format("an image of {} and offsets of {} dimensions", rank, node.rank(2)));
  if (node.integer("group", 1) < 1 || node.integer("offset_group", 1) < 1)
    throw Error("a number of groups is less than 1");
  Value x = node.operand(0), weights = node.operand(1);
  Values places = placesOfWeights(node, rank, weights), sizes = sizesOfImage(node);
  SmallVector<ImageDimension> dimensions = dimensionsOf(node, sizes, places);
  Values counts = windowsOf(graph, dimensions, RoundWindows::Down).counts;
  Value area = graph.product(places), images = graph.size(x, 0), channels = graph.size(x, 1),
        groups = graph.integer(node.integer("group", 1)),
        parts = graph.integer(node.integer("offset_group", 1)), filters = graph.size(weights, 0);
  auto shared = [&](Value all, Value by) { return graph.scalar(Binary::IntDiv, all, by); };
  Values split = {graph.scalar(Binary::Mul, images, parts), shared(channels, parts)};
  auto behind = [&](ArrayRef<Value> front, ArrayRef<Value> back) {
    Values all(front);
    llvm::append_range(all, back);
    return all;
  };
  ImageReader reader(graph, graph.view(x, behind(split, sizes)));
  // [images * groups of offsets, places of a window, windows …], here and below
  Value offsets = graph.cast(
      graph.view(node.operand(2), behind({split[0], area, graph.integer(count)}, counts)),
      ElementType::F64);
  mlir::Type whole = graph.builder().getI64Type(), wide = graph.builder().getF64Type();
  Values moved(count);
  Value stride = graph.integer(1);
  for (int64_t i = count - 1; i >= 0; --i) {
    const ImageDimension &dimension = dimensions[i];
    Value own = graph.binary(
        Binary::Mod, graph.binary(Binary::IntDiv, graph.places(area, whole), stride), places[i]);
    stride = graph.scalar(Binary::Mul, stride, places[i]);
    Value inWindow = graph.binary(Binary::Mul, own, graph.integer(dimension.dilation));
    Value first = graph.binary(Binary::Sub,
                               graph.binary(Binary::Mul, graph.places(counts[i], wide),
                                            graph.real(static_cast<double>(dimension.stride))),
                               graph.inDoubles(dimension.before));
    Value fixed = graph.binary(Binary::Add, graph.startingAt(graph.cast(inWindow, wide), 1, rank),
                               graph.startingAt(first, 2 + i, rank));
    moved[i] = graph.binary(Binary::Add, graph.part(offsets, 2, graph.integer(i)), fixed);
  }
  Value numbers = graph.startingAt(graph.places(split[0], whole), 0, rank);
  Value cells = betweenCells(graph, reader, numbers, moved);
  if (node.hasOperand(4)) {
    Value mask = graph.view(node.operand(4), behind({split[0], area}, counts));
    cells = graph.binary(Binary::Mul, cells, graph.unsqueeze(mask, {rank}));
  }
  // The product of filters with windows, by groups of channels.
  Value windows = graph.product(counts);
  cells =
      graph.permute(graph.view(cells, {images, parts, area, windows, split[1]}), {0, 1, 4, 2, 3});
  Value depth = graph.scalar(Binary::Mul, shared(channels, groups), area);
  Value product = graph.matmul(graph.view(weights, {groups, shared(filters, groups), depth}),
                               graph.view(cells, {images, groups, depth, windows}));
  Value bias = node.hasOperand(3) ? node.operand(3) : Value();
  node.setResult(0, withBias(graph, graph.view(product, behind({images, filters}, counts)), bias));
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
    {"DeformConv", 19, importDeformConv},
};

} // namespace

Value onnx::convolution(NodeImporter &node, Value image, Value weights, Value bias) {
  GraphBuilder &graph = node.graph();
  Values places = placesOfWeights(node, GraphBuilder::rankOf(image), weights);
  SmallVector<ImageDimension> dimensions = dimensionsOf(node, sizesOfImage(node), places);
  Value groups = graph.integer(node.integer("group", 1));
  Windows windows = windowsOf(graph, dimensions, RoundWindows::Down);
  return withBias(graph, graph.convolve(image, weights, groups, windows.numbers), bias);
}

llvm::ArrayRef<ImportRule> onnx::convolutionRules() { return rules; }
