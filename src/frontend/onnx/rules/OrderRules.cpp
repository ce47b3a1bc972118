// The order of cells and rows, and those that are chosen by their values.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// The dimensions with this one at another place among the others.
Numbers movedTo(int64_t place, int64_t dimension, int64_t rank) {
  Numbers order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dimension)
      order.push_back(i);
  order.insert(order.begin() + place, dimension);
  return order;
}

// From 0, along the last dimension.
Value topPlaces(GraphBuilder &graph, Value x, Value count, bool decreasing) {
  Value isDecreasing = graph.builder().create<tok::ConstantOp>(graph.location(), decreasing);
  Value fromOne = graph.native("top_places", {x, count, isDecreasing}, GraphBuilder::rankOf(x),
                               graph.builder().getI64Type());
  return graph.binary(Binary::Sub, fromOne, graph.integer(1));
}

// Cells come in order, whether the node asks for that or not.
void importTopK(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  node.ignore({"sorted"}); // results always are
  int64_t rank = node.rank(0), dimension = node.axis(node.integer("axis", -1), rank);
  Value count = node.version() < 10 ? graph.integer(node.integer("k", 1)) : node.scalarAt(1);
  Numbers order = movedTo(rank - 1, dimension, rank);
  Value x = graph.permute(node.operand(0), order);
  Value places = topPlaces(graph, x, count, node.integer("largest", 1) != 0);
  node.setResult(0, graph.permuteBack(graph.takeElements(x, places, rank - 1), order));
  node.setResult(1, graph.permuteBack(places, order));
}

// Places along the last dimension; of a vector, in a row.
void importArrayFeatureExtractor(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value indices = node.operand(1);
  Value x = graph.withRank(node.operand(0), 2);
  Value flat = graph.view(indices, {graph.product(graph.sizes(indices))});
  node.setResult(0, graph.take(x, flat, GraphBuilder::rankOf(x) - 1));
}

//===- cells that are not 0 ------------------------------------------------------------------===//

Value nonzeroPlaces(GraphBuilder &graph, Value x) {
  Value fromOne = graph.native("nonzero_places", {x}, 1, graph.builder().getI64Type());
  return graph.binary(Binary::Sub, fromOne, graph.integer(1));
}

void importNonZero(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  Values sizes = graph.sizes(x), places;
  Value rest = nonzeroPlaces(graph, x);
  for (Value size : llvm::reverse(sizes)) {
    places.push_back(graph.unsqueeze(graph.binary(Binary::Mod, rest, size), {0}));
    rest = graph.binary(Binary::IntDiv, rest, size);
  }
  if (places.empty())
    node.refuse("NonZero of an array without dimensions");
  std::reverse(places.begin(), places.end());
  node.setResult(0, graph.join(places, 0));
}

void importCompress(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), places = nonzeroPlaces(graph, node.operand(1));
  if (!node.has("axis"))
    return node.setResult(0, graph.take(graph.view(x, {graph.product(graph.sizes(x))}), places, 0));
  node.setResult(0, graph.take(x, places, node.axis(node.integer("axis", 0), node.rank(0))));
}

//===- different cells and parts -------------------------------------------------------------===//

// Parts along the axis, or cells without one: each is a row of a matrix.
void importUnique(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  mlir::Type whole = graph.builder().getI64Type();
  int64_t dimension = 0;
  if (node.has("axis"))
    dimension = node.axis(node.integer("axis", 0), node.rank(0));
  else
    x = graph.view(x, {graph.product(graph.sizes(x))});
  Value moved = graph.permute(x, movedTo(0, dimension, GraphBuilder::rankOf(x)));
  Values sizes = graph.sizes(moved);
  Value rows = sizes.front(), columns = graph.product(ArrayRef<Value>(sizes).drop_front());
  Value ranks =
      graph.view(graph.native("row_ranks", {graph.view(moved, {rows, columns})}, 2, whole), {rows});
  Value largest = graph.scalarOf(
      graph.reduce(AggregateKind::Max, ranks, numbersFrom(0, 1), KeepDimensions::No));
  Value count = graph.scalar(Binary::Max, largest, graph.integer(0));
  auto combined = [&](Value start, Value updates, StringRef reduction) {
    Value name = graph.builder().create<tok::ConstantOp>(graph.location(), reduction);
    return graph.native("scatter_reduce", {start, updates, ranks, name}, 1, whole);
  };
  Value counts = combined(graph.filled(0, whole, {count}), graph.filled(1, whole, {rows}), "add");
  Value beyond = graph.binary(Binary::Add, graph.filled(0, whole, {count}), rows);
  Value first = combined(beyond, graph.places(rows, whole), "min");
  Value inverse = graph.binary(Binary::Sub, ranks, graph.integer(1));
  if (node.integer("sorted", 1) == 0) {
    Value order = topPlaces(graph, first, count, /*decreasing=*/false);
    // The order of a permutation undoes it.
    inverse = graph.take(topPlaces(graph, order, count, /*decreasing=*/false), inverse, 0);
    first = graph.take(first, order, 0);
    counts = graph.take(counts, order, 0);
  }
  node.setResult(0, graph.take(x, first, dimension));
  node.setResult(1, first);
  node.setResult(2, inverse);
  node.setResult(3, counts);
}

//===- sequences -----------------------------------------------------------------------------===//

// Along the time axis, the first cells of each batch in the other direction: as many as operand 1 says.
void importReverseSequence(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0), batchAxis = node.axis(node.integer("batch_axis", 1), rank),
          timeAxis = node.axis(node.integer("time_axis", 0), rank);
  if (batchAxis == timeAxis)
    throw Error("the batch axis is the time axis");
  Numbers order = {batchAxis, timeAxis};
  for (int64_t i = 0; i < rank; ++i)
    if (i != batchAxis && i != timeAxis)
      order.push_back(i);
  Value x = graph.permute(node.operand(0), order);
  Values sizes = graph.sizes(x);
  Value batches = sizes[0], times = sizes[1];
  mlir::Type whole = graph.builder().getI64Type();
  Value time = graph.unsqueeze(graph.places(times, whole), {0});
  Value mostTimes = graph.scalar(Binary::Add, times, graph.integer(1));
  Value lengths = graph.checkedIndices(node.operand(1), mostTimes, GraphBuilder::CountFrom::Begin);
  Value length = graph.unsqueeze(lengths, {1});
  Value last = graph.binary(Binary::Sub, length, graph.integer(1));
  Value from = graph.select(graph.binary(Binary::Lt, time, length),
                            graph.binary(Binary::Sub, last, time), time);
  Value begin = graph.binary(Binary::Mul, graph.places(batches, whole), times);
  Value places = graph.binary(Binary::Add, from, graph.unsqueeze(begin, {1}));
  Values parts = {graph.scalar(Binary::Mul, batches, times)};
  parts.append(sizes.begin() + 2, sizes.end());
  node.setResult(0, graph.permuteBack(graph.take(graph.view(x, parts), places, 0), order));
}

// Of the domain `tokamak`: where cells go in a sorted vector, before cells that equal them or, if `right` is 1, behind them.
void importSearchSorted(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  if (node.rank(0) != 1)
    throw Error("cells go into an array with one dimension");
  Value x = node.operand(1);
  Value isBehind =
      graph.builder().create<tok::ConstantOp>(graph.location(), node.integer("right", 0) != 0);
  Value fromOne = graph.native("sorted_places", {x, node.operand(0), isBehind},
                               GraphBuilder::rankOf(x), graph.builder().getI64Type());
  node.setResult(0, graph.binary(Binary::Sub, fromOne, graph.integer(1)));
}

constexpr ImportRule rules[] = {
    {"Compress", 9, importCompress},
    {"NonZero", 9, importNonZero},
    {"ReverseSequence", 10, importReverseSequence},
    {"TopK", 1, importTopK},
    {"Unique", 11, importUnique},
    {"ai.onnx.ml.ArrayFeatureExtractor", 1, importArrayFeatureExtractor},
    {"tokamak.SearchSorted", 1, importSearchSorted},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::orderRules() { return rules; }
