// Images of another size: each dimension is resized on its own, by places of the old one for each place of
// the new one.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/rules/CubicWeight.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

struct Dimension {
  int64_t number;
  Value before, after;             // sizes
  Value scale;                     // a double
  double roiBegin = 0, roiEnd = 1; // of tf_crop_and_resize
};

// What the node asks for. Names are those of the standard.
struct Resize {
  StringRef mode, transformation, rounding;
  double cubic = -0.75;
  bool excludesOutside = false, antialiases = false;
  double outside = 0; // of tf_crop_and_resize
  SmallVector<Dimension> dimensions;
};

// For each place of the result the place of the operand, as doubles.
Value originalPlaces(GraphBuilder &graph, const Resize &resize, const Dimension &dimension) {
  Value places = graph.places(dimension.after, graph.builder().getF64Type());
  Value before = graph.inDoubles(dimension.before), after = graph.inDoubles(dimension.after);
  StringRef mode = resize.transformation;
  auto halves = [&] {
    Value centres = graph.binary(Binary::Add, places, graph.real(0.5));
    return graph.binary(Binary::Sub, graph.binary(Binary::Div, centres, dimension.scale),
                        graph.real(0.5));
  };
  // From corner to corner; the standard's own functions do not round the size that a scale gives. With one
  // place only, that is 0 whatever it is multiplied with.
  constexpr double least = 1e-9;
  Value whole = graph.scalar(Binary::Mul, before, dimension.scale);
  Value last = graph.scalar(Binary::Sub, before, graph.real(1)),
        steps = graph.scalar(Binary::Max, graph.scalar(Binary::Sub, whole, graph.real(1)),
                             graph.real(least));
  if (mode == "asymmetric")
    return graph.binary(Binary::Div, places, dimension.scale);
  if (mode == "align_corners")
    return graph.binary(Binary::Mul, places, graph.scalar(Binary::Div, last, steps));
  if (mode == "half_pixel")
    return halves();
  if (mode == "tf_half_pixel_for_nn")
    return graph.binary(Binary::Div, graph.binary(Binary::Add, places, graph.real(0.5)),
                        dimension.scale);
  if (mode == "pytorch_half_pixel") {
    Value several =
        graph.scalar(Binary::Min, graph.scalar(Binary::Sub, after, graph.real(1)), graph.real(1));
    return graph.binary(Binary::Mul, halves(), several);
  }
  if (mode == "half_pixel_symmetric") {
    Value adjusted =
        graph.scalar(Binary::Sub, graph.real(1), graph.scalar(Binary::Div, after, whole));
    Value offset =
        graph.scalar(Binary::Mul, graph.scalar(Binary::Div, before, graph.real(2)), adjusted);
    return graph.binary(Binary::Add, halves(), offset);
  }
  if (mode == "tf_crop_and_resize") {
    double span = dimension.roiEnd - dimension.roiBegin;
    Value step =
        graph.scalar(Binary::Div, graph.scalar(Binary::Mul, last, graph.real(span)), steps);
    Value first = graph.scalar(Binary::Mul, last, graph.real(dimension.roiBegin));
    return graph.binary(Binary::Add, graph.binary(Binary::Mul, places, step), first);
  }
  throw Error(fmt::format("there is no coordinate transformation '{}'", mode.str()));
}

Value clamped(GraphBuilder &graph, Value places, const Dimension &dimension) {
  Value last = graph.scalar(Binary::Sub, graph.inDoubles(dimension.before), graph.real(1));
  return graph.binary(Binary::Max, graph.binary(Binary::Min, places, last), graph.real(0));
}

Value takeAt(GraphBuilder &graph, Value x, Value places, const Dimension &dimension) {
  Value inside = clamped(graph, places, dimension);
  return graph.take(x, graph.cast(inside, ElementType::I64), dimension.number);
}

Value nearest(GraphBuilder &graph, const Resize &resize, Value x, Value places,
              const Dimension &dimension) {
  Value rounded;
  if (resize.rounding == "round_prefer_floor")
    rounded = graph.unary(Unary::Ceil, graph.binary(Binary::Sub, places, graph.real(0.5)));
  else if (resize.rounding == "round_prefer_ceil")
    rounded = graph.unary(Unary::Floor, graph.binary(Binary::Add, places, graph.real(0.5)));
  else
    rounded = graph.unary(resize.rounding == "ceil" ? Unary::Ceil : Unary::Floor, places);
  return takeAt(graph, x, rounded, dimension);
}

// A vector along the dimension, in the type of the cells.
Value along(GraphBuilder &graph, Value vector, Value x, const Dimension &dimension) {
  return graph.startingAt(graph.cast(vector, GraphBuilder::elementOf(x)), dimension.number,
                          GraphBuilder::rankOf(x));
}

// The neighbours' cells by weights: two for linear, four for cubic.
Value interpolated(GraphBuilder &graph, const Resize &resize, Value x, Value places,
                   const Dimension &dimension) {
  Value floor = graph.unary(Unary::Floor, places);
  bool isCubic = resize.mode == "cubic";
  SmallVector<std::pair<Value, Value>> taps; // places and weights
  for (int64_t offset = isCubic ? -1 : 0; offset <= (isCubic ? 2 : 1); ++offset) {
    Value place = graph.binary(Binary::Add, floor, graph.real(static_cast<double>(offset)));
    Value distance = graph.unary(Unary::Abs, graph.binary(Binary::Sub, places, place));
    Value weight = isCubic ? cubicWeight(graph, distance, resize.cubic)
                           : graph.binary(Binary::Sub, graph.real(1), distance);
    if (resize.excludesOutside) {
      Value isInside = graph.binary(Binary::Eq, place, clamped(graph, place, dimension));
      weight = graph.select(isInside, weight, graph.filled(0, graph.builder().getF64Type()));
    }
    taps.emplace_back(place, weight);
  }
  Value total;
  for (auto [place, weight] : taps)
    total = total ? graph.binary(Binary::Add, total, weight) : weight;
  Value sum;
  for (auto [place, weight] : taps) {
    Value share = resize.excludesOutside ? graph.binary(Binary::Div, weight, total) : weight;
    Value part = graph.binary(Binary::Mul, takeAt(graph, x, place, dimension),
                              along(graph, share, x, dimension));
    sum = sum ? graph.binary(Binary::Add, sum, part) : part;
  }
  return sum;
}

// The same with filters that get wider as the image gets smaller: how many cells they reach over depends on the scale, so
// that the weights are a matrix [places, cells], with cells on both sides of the image that are those at its ends.
Value filtered(GraphBuilder &graph, const Resize &resize, Value x, Value places,
               const Dimension &dimension) {
  bool isCubic = resize.mode == "cubic";
  Value scale = graph.scalar(Binary::Min, dimension.scale, graph.real(1));
  Value reach = graph.inIntegers(
      graph.scalar(Unary::Ceil, graph.scalar(Binary::Div, graph.real(isCubic ? 2 : 1), scale)));
  Value margin = graph.scalar(Binary::Add, reach, graph.integer(1));
  Value count = graph.scalar(Binary::Add, dimension.before,
                             graph.scalar(Binary::Mul, margin, graph.integer(2)));
  Value cells = graph.binary(Binary::Sub, graph.places(count, graph.builder().getF64Type()),
                             graph.inDoubles(margin));
  Value distances = graph.unary(Unary::Abs, graph.binary(Binary::Sub, graph.unsqueeze(cells, {0}),
                                                         graph.unsqueeze(places, {1})));
  distances = graph.binary(Binary::Mul, distances, scale);
  Value weights =
      isCubic
          ? cubicWeight(graph, graph.binary(Binary::Min, distances, graph.real(2)), resize.cubic)
          : graph.binary(Binary::Max, graph.binary(Binary::Sub, graph.real(1), distances),
                         graph.real(0));
  if (resize.excludesOutside) {
    Value isInside = graph.binary(Binary::Eq, cells, clamped(graph, cells, dimension));
    weights = graph.select(graph.unsqueeze(isInside, {0}), weights,
                           graph.filled(0, graph.builder().getF64Type()));
  }
  weights = graph.binary(Binary::Div, weights,
                         graph.reduce(AggregateKind::Sum, weights, {1}, KeepDimensions::Yes));
  weights = graph.permute(graph.cast(weights, GraphBuilder::elementOf(x)), {1, 0});
  int64_t rank = GraphBuilder::rankOf(x);
  Numbers order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dimension.number)
      order.push_back(i);
  order.push_back(dimension.number);
  Value rows = graph.permute(takeAt(graph, x, cells, dimension), order);
  bool isVector = rank == 1;
  Value product = graph.matmul(isVector ? graph.unsqueeze(rows, {0}) : rows, weights);
  return graph.permuteBack(isVector ? graph.squeeze(product, {0}) : product, order);
}

Value resized(NodeImporter &node, const Resize &resize) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  if (resize.mode != "nearest" && resize.mode != "linear" && resize.mode != "cubic")
    throw Error(fmt::format("there is no mode '{}'", resize.mode.str()));
  for (const Dimension &dimension : resize.dimensions) {
    Value places = originalPlaces(graph, resize, dimension);
    x = resize.mode == "nearest" ? nearest(graph, resize, x, places, dimension)
        : resize.antialiases     ? filtered(graph, resize, x, places, dimension)
                                 : interpolated(graph, resize, x, places, dimension);
    if (resize.transformation != "tf_crop_and_resize")
      continue;
    Value isInside = graph.binary(Binary::Eq, places, clamped(graph, places, dimension));
    Value outside = graph.filled(resize.outside, GraphBuilder::elementOf(x));
    x = graph.select(graph.cast(along(graph, graph.cast(isInside, ElementType::F64), x, dimension),
                                ElementType::Bool),
                     x, outside);
  }
  return x;
}

Dimension byScale(GraphBuilder &graph, Value x, int64_t number, double scale) {
  Dimension dimension{number, graph.size(x, number), {}, graph.real(scale)};
  Value whole = graph.scalar(Binary::Mul, graph.inDoubles(dimension.before), dimension.scale);
  dimension.after = graph.builder().createOrFold<tok::CastOp>(graph.location(),
                                                              graph.builder().getI64Type(), whole);
  return dimension;
}

Dimension bySize(GraphBuilder &graph, Value x, int64_t number, Value size) {
  Dimension dimension{number, graph.size(x, number), size, {}};
  dimension.scale =
      graph.scalar(Binary::Div, graph.inDoubles(size), graph.inDoubles(dimension.before));
  return dimension;
}

// One scale for all dimensions: with it none becomes larger, or smaller, than its size.
void keepRatio(GraphBuilder &graph, Resize &resize, StringRef policy) {
  if (policy == "stretch")
    return;
  if (policy != "not_larger" && policy != "not_smaller")
    throw Error(fmt::format("there is no policy '{}'", policy.str()));
  Value scale;
  for (const Dimension &dimension : resize.dimensions)
    scale = scale ? graph.scalar(policy == "not_larger" ? Binary::Min : Binary::Max, scale,
                                 dimension.scale)
                  : dimension.scale;
  for (Dimension &dimension : resize.dimensions) {
    Value whole = graph.scalar(Binary::Mul, graph.inDoubles(dimension.before), scale);
    dimension.scale = scale;
    dimension.after = graph.inIntegers(
        graph.scalar(Unary::Floor, graph.scalar(Binary::Add, whole, graph.real(0.5))));
  }
}

void importResize(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Resize resize{.mode = node.text("mode", "nearest"),
                .transformation = node.text("coordinate_transformation_mode", "half_pixel"),
                .rounding = node.text("nearest_mode", "round_prefer_floor"),
                .cubic = node.real("cubic_coeff_a", -0.75),
                .excludesOutside = node.integer("exclude_outside", 0) != 0,
                .antialiases = node.integer("antialias", 0) != 0,
                .outside = node.real("extrapolation_value", 0),
                .dimensions = {}};
  Numbers axes = numbersFrom(0, node.rank(0));
  if (node.has("axes"))
    axes = node.axes(node.integers("axes"), node.rank(0));
  bool hasSizes = node.hasOperand(3);
  std::optional<Values> sizes = hasSizes ? node.sizesAt(3) : std::nullopt;
  SmallVector<double> scales = hasSizes ? SmallVector<double>() : node.realConstants(2, "scales");
  SmallVector<double> regions;
  if (resize.transformation == "tf_crop_and_resize")
    regions = node.realConstants(1, "regions");
  if (hasSizes && !sizes)
    node.refuse("Resize to an unknown number of sizes");
  if ((hasSizes ? sizes->size() : scales.size()) != axes.size())
    throw Error("there are not as many sizes or scales as dimensions");
  for (auto [i, axis] : llvm::enumerate(axes)) {
    bool isKept = !hasSizes && scales[i] == 1 && regions.empty();
    if (isKept)
      continue;
    Dimension dimension = hasSizes ? bySize(graph, node.operand(0), axis, (*sizes)[i])
                                   : byScale(graph, node.operand(0), axis, scales[i]);
    if (regions.size() == 2 * axes.size()) {
      dimension.roiBegin = regions[i];
      dimension.roiEnd = regions[i + axes.size()];
    }
    resize.dimensions.push_back(dimension);
  }
  if (hasSizes)
    keepRatio(graph, resize, node.text("keep_aspect_ratio_policy", "stretch"));
  node.setResult(0, resized(node, resize));
}

// Resize of version 10, and its predecessor.
void importUpsample(NodeImporter &node) {
  bool isAttribute = node.has("scales");
  SmallVector<double> scales = isAttribute ? node.reals("scales") : node.realConstants(1, "scales");
  if (static_cast<int64_t>(scales.size()) != node.rank(0))
    throw Error("there are not as many scales as dimensions");
  Resize resize{.mode = node.text("mode", "nearest"),
                .transformation = "asymmetric",
                .rounding = "floor",
                .dimensions = {}};
  for (auto [i, scale] : llvm::enumerate(scales))
    if (scale != 1)
      resize.dimensions.push_back(
          byScale(node.graph(), node.operand(0), static_cast<int64_t>(i), scale));
  node.setResult(0, resized(node, resize));
}

constexpr ImportRule rules[] = {
    {"Resize", 10, importUpsample},
    {"Resize", 11, importResize},
    {"Upsample", 7, importUpsample},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::resizeRules() { return rules; }
