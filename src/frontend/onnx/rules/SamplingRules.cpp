// Images at places that are no whole numbers, which other arrays give: grids and regions.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/rules/CubicWeight.h"
#include "frontend/onnx/rules/ImageReader.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

Value clampedTo(GraphBuilder &graph, Value places, Value low, Value high) {
  return graph.binary(Binary::Max, graph.binary(Binary::Min, places, high), low);
}

// With a dimension for channels behind.
Value forChannels(GraphBuilder &graph, Value weights, mlir::Type element) {
  return graph.unsqueeze(graph.cast(weights, element), {GraphBuilder::rankOf(weights)});
}

// [images, places …, channels] -> [images, channels, places …]
Value channelsFirst(GraphBuilder &graph, Value array) {
  int64_t rank = GraphBuilder::rankOf(array);
  Numbers order = {0, rank - 1};
  llvm::append_range(order, numbersFrom(1, rank - 1));
  return graph.permute(array, order);
}

//===- grids ---------------------------------------------------------------------------------===//

// What a node asks for. Names are those of the standard.
struct Grid {
  StringRef mode, padding;
  bool alignsCorners;
};

struct Tap {
  Value place, weight; // along one dimension, as doubles; the weight is null if it is 1
};

// Places of cells outside are mirrored at the border: at the centres of the outermost cells or at their ends.
Value mirrored(GraphBuilder &graph, const Grid &grid, Value places, Value size) {
  Value length = graph.inDoubles(size);
  double low = grid.alignsCorners ? 0 : -0.5;
  Value range = grid.alignsCorners ? graph.scalar(Binary::Sub, length, graph.real(1)) : length;
  Value period =
      graph.scalar(Binary::Max, graph.scalar(Binary::Mul, range, graph.real(2)), graph.real(1));
  Value from = graph.binary(Binary::Sub, places, graph.real(low));
  Value turns = graph.unary(Unary::Floor, graph.binary(Binary::Div, from, period));
  Value rest = graph.binary(Binary::Sub, from, graph.binary(Binary::Mul, turns, period));
  Value back = graph.binary(Binary::Min, rest, graph.binary(Binary::Sub, period, rest));
  return graph.binary(Binary::Add, back, graph.real(low));
}

// The cells along one dimension that a place of the grid (-1 to 1 over the image) is computed from.
SmallVector<Tap> tapsOf(GraphBuilder &graph, const Grid &grid, Value coordinates, Value size) {
  Value length = graph.inDoubles(size), last = graph.scalar(Binary::Sub, length, graph.real(1));
  Value above = graph.binary(Binary::Add, coordinates, graph.real(1));
  Value places =
      grid.alignsCorners
          ? graph.binary(Binary::Mul, above, graph.scalar(Binary::Div, last, graph.real(2)))
          : graph.binary(
                Binary::Div,
                graph.binary(Binary::Sub, graph.binary(Binary::Mul, above, length), graph.real(1)),
                graph.real(2));
  auto inside = [&](Value at) {
    if (grid.padding == "reflection")
      at = mirrored(graph, grid, at, size);
    return grid.padding == "zeros" ? at : clampedTo(graph, at, graph.real(0), last);
  };
  if (grid.mode == "nearest")
    return {{inside(graph.roundToEven(places)), Value()}};
  bool isCubic = grid.mode == "cubic";
  if (!isCubic)
    places = inside(places);
  Value floor = graph.unary(Unary::Floor, places);
  SmallVector<Tap> taps;
  for (int64_t offset = isCubic ? -1 : 0; offset <= (isCubic ? 2 : 1); ++offset) {
    Value place = graph.binary(Binary::Add, floor, graph.real(static_cast<double>(offset)));
    Value distance = graph.unary(Unary::Abs, graph.binary(Binary::Sub, places, place));
    Value weight = isCubic ? cubicWeight(graph, distance, -0.75)
                           : graph.binary(Binary::Sub, graph.real(1), distance);
    taps.push_back({inside(place), weight});
  }
  return taps;
}

void importGridSample(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Grid grid{node.text("mode", "linear"), node.text("padding_mode", "zeros"),
            node.integer("align_corners", 0) != 0};
  // Names before version 20.
  if (grid.mode == "bilinear" || grid.mode == "bicubic")
    grid.mode = grid.mode.drop_front(2);
  if (grid.mode != "nearest" && grid.mode != "linear" && grid.mode != "cubic")
    throw Error(fmt::format("there is no mode '{}'", grid.mode.str()));
  if (grid.padding != "zeros" && grid.padding != "border" && grid.padding != "reflection")
    throw Error(fmt::format("there is no padding mode '{}'", grid.padding.str()));
  int64_t rank = node.rank(0);
  if (rank < 3 || node.rank(1) != rank)
    throw Error(fmt::format("an image of {} and a grid of {} dimensions", rank, node.rank(1)));
  constexpr int64_t mostDimensions = 5; // of an image: taps of each one multiply
  if (rank > mostDimensions)
    node.refuse(fmt::format("GridSample of {} dimensions", rank));
  ImageReader reader(graph, node.operand(0));
  Value coordinates = graph.cast(node.operand(1), ElementType::F64);
  SmallVector<SmallVector<Tap>> taps;
  for (int64_t i = 0; i < reader.dimensions(); ++i) {
    // The last dimension of the image comes first.
    Value own = graph.part(coordinates, rank - 1, graph.integer(reader.dimensions() - 1 - i));
    taps.push_back(tapsOf(graph, grid, own, reader.size(i)));
  }
  mlir::Type whole = graph.builder().getI64Type();
  Value images = graph.startingAt(graph.places(graph.size(coordinates, 0), whole), 0, rank - 1);
  // All combinations of one tap of each dimension.
  size_t count = 1;
  for (const auto &own : taps)
    count *= own.size();
  Value sum;
  for (size_t number = 0; number < count; ++number) {
    Values places;
    Value weight, isInside;
    size_t rest = number;
    for (int64_t i = 0; i < reader.dimensions(); ++i) {
      const Tap &tap = taps[i][rest % taps[i].size()];
      rest /= taps[i].size();
      Value last = graph.scalar(Binary::Sub, graph.inDoubles(reader.size(i)), graph.real(1));
      Value place = clampedTo(graph, tap.place, graph.real(0), last);
      places.push_back(place);
      if (tap.weight)
        weight = weight ? graph.binary(Binary::Mul, weight, tap.weight) : tap.weight;
      if (grid.padding != "zeros")
        continue;
      Value is = graph.binary(Binary::Eq, place, tap.place);
      isInside = isInside ? graph.binary(Binary::And, isInside, is) : is;
    }
    Value cells = reader.at(images, places);
    mlir::Type element = reader.element();
    if (weight)
      cells = graph.binary(Binary::Mul, cells, forChannels(graph, weight, element));
    if (isInside)
      cells = graph.select(graph.unsqueeze(isInside, {rank - 1}), cells, graph.filled(0, element));
    sum = sum ? graph.binary(Binary::Add, sum, cells) : cells;
  }
  node.setResult(0, channelsFirst(graph, sum));
}

// A grid of places in an image of the asked size, turned and moved by a matrix for each image.
void importAffineGrid(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<Values> asked = node.sizesAt(1);
  if (!asked || node.rank(0) != 3 || asked->size() < 3)
    node.refuse("AffineGrid for an unknown number of sizes");
  auto dimensions = static_cast<int64_t>(asked->size()) - 2;
  Values sizes(asked->begin() + 2, asked->end());
  bool alignsCorners = node.integer("align_corners", 0) != 0;
  mlir::Type wide = graph.builder().getF64Type();
  Values all = sizes, columns;
  all.push_back(graph.integer(1));
  // The last dimension of the image comes first; the last column is 1.
  for (int64_t i = dimensions - 1; i >= 0; --i) {
    Value size = graph.inDoubles(sizes[i]), places = graph.places(sizes[i], wide), along;
    if (alignsCorners) {
      Value last =
          graph.scalar(Binary::Max, graph.scalar(Binary::Sub, size, graph.real(1)), graph.real(1));
      along = graph.binary(Binary::Mul, places, graph.scalar(Binary::Div, graph.real(2), last));
    } else {
      Value centres = graph.binary(Binary::Add, places, graph.real(0.5));
      along = graph.binary(Binary::Mul, centres, graph.scalar(Binary::Div, graph.real(2), size));
    }
    along = graph.binary(Binary::Sub, along, graph.real(1));
    columns.push_back(graph.broadcast(graph.startingAt(along, i, dimensions + 1), all));
  }
  columns.push_back(graph.filled(1, wide, all));
  Value points = graph.view(graph.join(columns, dimensions),
                            {graph.product(sizes), graph.integer(dimensions + 1)});
  Value matrices = graph.permute(graph.cast(node.operand(0), wide), {0, 2, 1});
  Value moved = graph.matmul(points, matrices);
  Values result = {(*asked)[0]};
  llvm::append_range(result, sizes);
  result.push_back(graph.integer(dimensions));
  node.setResult(0,
                 graph.cast(graph.view(moved, result), GraphBuilder::elementOf(node.operand(0))));
}

//===- regions -------------------------------------------------------------------------------===//

// Along one dimension of the image: [regions, bins, samples] of doubles.
struct Samples {
  Value low, high;             // the cells around each sample
  Value lowWeight, highWeight; // 0 for samples outside of the image and those that a region has not
  Value count;                 // of samples in each bin, [regions]
};

Samples samplesOf(GraphBuilder &graph, NodeImporter &node, Value begin, Value end, Value size,
                  int64_t bins) {
  bool isHalf = node.version() >= 16 &&
                node.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  double scale = node.real("spatial_scale", 1);
  auto placed = [&](Value corner) {
    Value scaled = graph.binary(Binary::Mul, corner, graph.real(scale));
    return isHalf ? graph.binary(Binary::Sub, scaled, graph.real(0.5)) : scaled;
  };
  Value first = placed(begin), span = graph.binary(Binary::Sub, placed(end), first);
  if (!isHalf)
    span = graph.binary(Binary::Max, span, graph.real(1));
  mlir::Type wide = graph.builder().getF64Type();
  Value bin = graph.binary(Binary::Div, span, graph.real(static_cast<double>(bins)));
  int64_t ratio = node.integer("sampling_ratio", 0);
  Value regions = graph.size(begin, 0), most = graph.integer(ratio), counts;
  if (ratio > 0) {
    counts = graph.filled(static_cast<double>(ratio), wide, {regions});
  } else {
    counts = graph.binary(Binary::Max, graph.unary(Unary::Ceil, bin), graph.real(0));
    most = graph.scalar(Binary::Max, graph.integer(0),
                        graph.inIntegers(graph.scalarOf(graph.reduce(
                            AggregateKind::Max, counts, numbersFrom(0, 1), KeepDimensions::No))));
  }
  auto along = [&](Value vector, int64_t dimension) {
    return graph.withRank(graph.startingAt(vector, dimension, 3), 3);
  };
  Value samples = along(graph.places(most, wide), 2);
  Value share = graph.binary(Binary::Div, graph.binary(Binary::Add, samples, graph.real(0.5)),
                             graph.binary(Binary::Max, along(counts, 0), graph.real(1)));
  Value steps = graph.binary(Binary::Add, along(graph.places(graph.integer(bins), wide), 1), share);
  Value place =
      graph.binary(Binary::Add, along(first, 0), graph.binary(Binary::Mul, steps, along(bin, 0)));
  Value length = graph.inDoubles(size), last = graph.scalar(Binary::Sub, length, graph.real(1));
  Value isInside = graph.binary(Binary::And, graph.binary(Binary::Ge, place, graph.real(-1)),
                                graph.binary(Binary::Le, place, length));
  isInside =
      graph.binary(Binary::And, isInside, graph.binary(Binary::Lt, samples, along(counts, 0)));
  Value inside = clampedTo(graph, place, graph.real(0), last);
  Samples result;
  result.low = graph.unary(Unary::Floor, inside);
  result.high =
      graph.binary(Binary::Min, graph.binary(Binary::Add, result.low, graph.real(1)), last);
  Value zero = graph.filled(0, wide), part = graph.binary(Binary::Sub, inside, result.low);
  result.lowWeight = graph.select(isInside, graph.binary(Binary::Sub, graph.real(1), part), zero);
  result.highWeight = graph.select(isInside, part, zero);
  result.count = counts;
  return result;
}

void importRoiAlign(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  if (node.rank(0) != 4 || node.rank(1) != 2 || node.rank(2) != 1)
    throw Error("images of 4, regions of 2 and their images of 1 dimensions are expected");
  StringRef mode = node.text("mode", "avg");
  if (mode != "avg" && mode != "max")
    throw Error(fmt::format("there is no mode '{}'", mode.str()));
  ImageReader reader(graph, node.operand(0));
  Value regions = graph.cast(node.operand(1), ElementType::F64);
  auto corner = [&](int64_t number) { return graph.part(regions, 1, graph.integer(number)); };
  Samples ys = samplesOf(graph, node, corner(1), corner(3), reader.size(0),
                         node.integer("output_height", 1)),
          xs = samplesOf(graph, node, corner(0), corner(2), reader.size(1),
                         node.integer("output_width", 1));
  // [regions, bins of y, bins of x, samples of y, samples of x]
  auto ofRows = [&](Value array) { return graph.unsqueeze(array, {2, 4}); };
  auto ofColumns = [&](Value array) { return graph.unsqueeze(array, {1, 3}); };
  Value checked = graph.checkedIndices(node.operand(2), graph.size(node.operand(0), 0),
                                       GraphBuilder::CountFrom::Begin);
  Value images = graph.startingAt(checked, 0, 5);
  mlir::Type element = reader.element();
  bool isMax = mode == "max";
  Value total;
  for (bool isLow : {true, false})
    for (bool isLeft : {true, false}) {
      Value cells = reader.at(
          images, {ofRows(isLow ? ys.low : ys.high), ofColumns(isLeft ? xs.low : xs.high)});
      Value weight = graph.binary(Binary::Mul, ofRows(isLow ? ys.lowWeight : ys.highWeight),
                                  ofColumns(isLeft ? xs.lowWeight : xs.highWeight));
      Value part = graph.binary(Binary::Mul, cells, forChannels(graph, weight, element));
      total = total ? graph.binary(isMax ? Binary::Max : Binary::Add, total, part) : part;
    }
  Value bins = graph.reduce(isMax ? AggregateKind::Max : AggregateKind::Sum, total, {3, 4},
                            KeepDimensions::No);
  if (!isMax) {
    Value count =
        graph.binary(Binary::Max, graph.binary(Binary::Mul, ys.count, xs.count), graph.real(1));
    bins = graph.binary(Binary::Div, bins, graph.startingAt(graph.cast(count, element), 0, 4));
  }
  node.setResult(0, channelsFirst(graph, bins));
}

//===- boxes ---------------------------------------------------------------------------------===//

// Without a limit that is given nothing is chosen.
void importNonMaxSuppression(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  if (node.rank(0) != 3 || node.rank(1) != 3)
    throw Error("boxes and scores of 3 dimensions are expected");
  auto realAt = [&](size_t number, double otherwise) {
    return node.hasOperand(number) ? graph.inDoubles(node.scalarAt(number)) : graph.real(otherwise);
  };
  Value most = node.hasOperand(2) ? node.scalarAt(2) : graph.integer(0);
  Value areCentred = graph.builder().create<tok::ConstantOp>(
      graph.location(), node.integer("center_point_box", 0) != 0);
  Value wide[] = {graph.cast(node.operand(0), ElementType::F64),
                  graph.cast(node.operand(1), ElementType::F64)};
  Value fromOne = graph.native("separate_boxes",
                               {wide[0], wide[1], most, realAt(3, 0),
                                realAt(4, -std::numeric_limits<double>::infinity()), areCentred},
                               2, graph.builder().getI64Type());
  node.setResult(0, graph.binary(Binary::Sub, fromOne, graph.integer(1)));
}

constexpr ImportRule rules[] = {
    {"AffineGrid", 20, importAffineGrid},
    {"GridSample", 16, importGridSample},
    {"NonMaxSuppression", 10, importNonMaxSuppression},
    {"RoiAlign", 10, importRoiAlign},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::samplingRules() { return rules; }
