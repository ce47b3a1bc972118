// More cells at the ends of dimensions.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

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
    std::optional<Values> cells = node.sizesAt(1);
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
  return node.scalarAt(2);
}

void importPad(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0);
  Padding padding = paddingOf(node);
  StringRef mode = node.text("mode", "constant");
  if (node.version() < 11)
    node.ignore({"value"}); // of other modes
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

// The middle of each dimension, or zeros around it.
void importCenterCropPad(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0);
  std::optional<Values> asked = node.sizesAt(1);
  if (!asked)
    node.refuse("CenterCropPad to an unknown number of sizes");
  Numbers axes = node.axes(node.integers("axes", numbersFrom(0, rank)), rank);
  if (axes.size() != asked->size())
    throw Error(fmt::format("{} sizes for {} dimensions", asked->size(), axes.size()));
  for (auto [axis, size] : llvm::zip(axes, *asked)) {
    // One dimension at a time, as the last one.
    Numbers order;
    for (int64_t i = 0; i < rank; ++i)
      if (i != axis)
        order.push_back(i);
    order.push_back(axis);
    Value difference = graph.scalar(Binary::Sub, graph.size(x, axis), size), one = graph.integer(1);
    Value first =
        graph.scalar(Binary::Add, graph.scalar(Binary::IntDiv, difference, graph.integer(2)), one);
    Value windows =
        graph.windows(graph.permute(x, order), graph.real(0), {size, one, first, one, one, one});
    x = graph.permuteBack(graph.squeeze(windows, {rank}), order);
  }
  node.setResult(0, x);
}

constexpr ImportRule rules[] = {
    {"CenterCropPad", 18, importCenterCropPad},
    {"Pad", 1, importPad},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::padRules() { return rules; }
