// Cells at places that other arrays name one by one, read and written.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- writing -------------------------------------------------------------------------------===//

// Writes updates to the parts of [parts, …] that `places`, from 0, number; combined with what is there if the
// node asks for it.
Value scattered(NodeImporter &node, Value parts, Value updates, Value places) {
  GraphBuilder &graph = node.graph();
  int64_t rank = GraphBuilder::rankOf(parts);
  mlir::Type element = GraphBuilder::elementOf(parts);
  Value fromOne = graph.binary(Binary::Add, places, graph.integer(1));
  graph.checkSameCells({parts, updates});
  StringRef reduction = node.text("reduction", "none");
  if (reduction == "none")
    return graph.native("scatter", {parts, updates, fromOne}, rank, element);
  if (reduction != "add" && reduction != "mul" && reduction != "min" && reduction != "max")
    throw Error(fmt::format("there is no reduction '{}'", reduction.str()));
  Value name = graph.builder().create<tok::ConstantOp>(graph.location(), reduction);
  return graph.native("scatter_reduce", {parts, updates, fromOne, name}, rank, element);
}

void importScatterElements(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t dimension = node.axis(node.integer("axis", 0), node.rank(0));
  if (node.rank(1) != node.rank(0) || node.rank(2) != node.rank(0))
    throw Error(fmt::format("data of {}, indices of {} and updates of {} dimensions", node.rank(0),
                            node.rank(1), node.rank(2)));
  Values sizes = graph.sizes(x);
  Value cells = graph.view(x, {graph.product(sizes)});
  Value along = graph.checkedIndices(node.operand(1), sizes[dimension]);
  Value places = graph.placesOfElements(x, along, dimension);
  node.setResult(0, graph.view(scattered(node, cells, node.operand(2), places), sizes));
}

// Writes a part of a cache along the axis, for each batch from the place on that operand 2 gives.
void importTensorScatter(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0), axis = node.axis(node.integer("axis", -2), rank);
  if (axis == 0 || node.rank(1) != rank)
    throw Error("a cache and what is written to it have batches first, and as many dimensions");
  StringRef mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    throw Error(fmt::format("there is no mode '{}'", mode.str()));
  Numbers order = {0, axis};
  for (int64_t i = 1; i < rank; ++i)
    if (i != axis)
      order.push_back(i);
  Value cache = graph.permute(node.operand(0), order), more = graph.permute(node.operand(1), order);
  graph.checkSameCells({cache, more});
  mlir::Type whole = graph.builder().getI64Type();
  Values sizes = graph.sizes(cache);
  Value place = graph.unsqueeze(graph.places(graph.size(more, 1), whole), {0});
  if (node.hasOperand(2))
    place =
        graph.binary(Binary::Add, place, graph.unsqueeze(graph.cast(node.operand(2), whole), {1}));
  place = mode == "circular"
              ? graph.binary(Binary::Mod, place, sizes[1])
              : graph.checkedIndices(place, sizes[1], GraphBuilder::CountFrom::Begin);
  Value begin = graph.binary(Binary::Mul, graph.places(sizes[0], whole), sizes[1]);
  Value fromOne = graph.binary(
      Binary::Add, graph.binary(Binary::Add, place, graph.unsqueeze(begin, {1})), graph.integer(1));
  Values parts = {graph.scalar(Binary::Mul, sizes[0], sizes[1])};
  parts.append(sizes.begin() + 2, sizes.end());
  Value written = graph.native("scatter", {graph.view(cache, parts), more, fromOne}, rank - 1,
                               GraphBuilder::elementOf(cache));
  node.setResult(0, graph.permuteBack(graph.view(written, sizes), order));
}

//===- tuples of places ----------------------------------------------------------------------===//

// What the last dimension of operand 1 addresses: behind `first` dimensions of operand 0 so many others. All of
// these are counted as one.
struct Addressed {
  Value parts;  // [parts, …]: what one tuple addresses, for all of them
  Value places; // from 0, in the dimensions of the indices without the last one
};

Addressed addressed(NodeImporter &node, int64_t first, int64_t count) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), indices = graph.cast(node.operand(1), ElementType::I64);
  int64_t rank = node.rank(0), last = node.rank(1) - 1;
  if (last < first || first < 0 || count < 0 || first + count > rank)
    throw Error(fmt::format("indices of {} dimensions for tuples of {} places behind the first {}, "
                            "in an array of {} dimensions",
                            last + 1, count, first, rank));
  // A wrong number of places is an error of the view.
  Values sizes = graph.sizes(x), tuples = graph.sizes(indices);
  tuples.back() = graph.integer(count);
  indices = graph.view(indices, tuples);
  tuples.pop_back();
  mlir::Type whole = graph.builder().getI64Type();
  Value places, stride = graph.integer(1);
  for (int64_t i = count - 1; i >= 0; --i) {
    Value size = sizes[first + i];
    Value along = graph.binary(
        Binary::Mul, graph.checkedIndices(graph.part(indices, last, graph.integer(i)), size),
        stride);
    places = places ? graph.binary(Binary::Add, places, along) : along;
    stride = graph.scalar(Binary::Mul, stride, size);
  }
  if (!places)
    places = graph.filled(0, whole, tuples);
  if (first > 0) {
    Values leading(tuples.begin(), tuples.begin() + first);
    Value batches = graph.binary(Binary::Mul, graph.places(graph.product(leading), whole), stride);
    places =
        graph.binary(Binary::Add, places, graph.startingAt(graph.view(batches, leading), 0, last));
  }
  Values parts = {graph.product(ArrayRef<Value>(sizes).take_front(first + count))};
  llvm::append_range(parts, ArrayRef<Value>(sizes).drop_front(first + count));
  return {graph.view(x, parts), places};
}

void importGatherNd(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t last = node.rank(1) - 1;
  if (last < 0)
    throw Error("indices without dimensions");
  std::optional<int64_t> count = node.knownSize(1, last);
  if (!count)
    node.refuse("GatherND by an unknown number of places");
  Addressed part = addressed(node, node.integer("batch_dims", 0), *count);
  node.setResult(0, graph.take(part.parts, part.places, 0));
}

void importScatterNd(NodeImporter &node) {
  // The updates have the dimensions of the indices without the last one, and those of a part.
  int64_t count = node.rank(0) + node.rank(1) - 1 - node.rank(2);
  Addressed part = addressed(node, 0, count);
  Value written = scattered(node, part.parts, node.operand(2), part.places);
  node.setResult(0, node.graph().view(written, node.graph().sizes(node.operand(0))));
}

constexpr ImportRule rules[] = {
    {"GatherND", 11, importGatherNd},
    {"Scatter", 9, importScatterElements},
    {"ScatterElements", 11, importScatterElements},
    {"ScatterND", 11, importScatterNd},
    {"TensorScatter", 24, importTensorScatter},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::scatterRules() { return rules; }
