#include "frontend/onnx/rules/Windows.h"

#include "base/Error.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

int64_t onnx::numberAt(ArrayRef<int64_t> numbers, size_t place, int64_t otherwise) {
  return place < numbers.size() ? numbers[place] : otherwise;
}

Value onnx::spanOf(GraphBuilder &graph, const ImageDimension &dimension) {
  Value gaps = graph.scalar(Binary::Sub, dimension.places, graph.integer(1));
  return graph.scalar(Binary::Add,
                      graph.scalar(Binary::Mul, gaps, graph.integer(dimension.dilation)),
                      graph.integer(1));
}

static Value roundedUp(GraphBuilder &graph, Value number, int64_t divisor) {
  return graph.scalar(Binary::IntDiv, graph.scalar(Binary::Add, number, graph.integer(divisor - 1)),
                      graph.integer(divisor));
}

void onnx::splitPadding(GraphBuilder &graph, Value total, bool moreBefore,
                        ImageDimension &dimension) {
  Value half = graph.scalar(Binary::IntDiv, total, graph.integer(2)),
        rest = graph.scalar(Binary::Sub, total, half);
  dimension.before = moreBefore ? rest : half;
  dimension.after = moreBefore ? half : rest;
}

// "SAME": as many windows as the stride fits into the image.
static void padForSame(NodeImporter &node, SmallVector<ImageDimension> &dimensions) {
  GraphBuilder &graph = node.graph();
  StringRef mode = node.text("auto_pad", "NOTSET");
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return;
  for (ImageDimension &dimension : dimensions) {
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

Values onnx::sizesOfImage(NodeImporter &node) {
  Values sizes = node.graph().sizes(node.operand(0));
  return Values(sizes.begin() + std::min<size_t>(2, sizes.size()), sizes.end());
}

SmallVector<ImageDimension> onnx::dimensionsOf(NodeImporter &node, ArrayRef<Value> sizes,
                                               ArrayRef<Value> places) {
  GraphBuilder &graph = node.graph();
  Numbers strides = node.integers("strides"), dilations = node.integers("dilations"),
          pads = node.integers("pads");
  SmallVector<ImageDimension> dimensions;
  for (auto [i, count] : llvm::enumerate(places)) {
    ImageDimension dimension{sizes[i], count, numberAt(strides, i, 1), numberAt(dilations, i, 1),
                             {},       {}};
    if (dimension.stride < 1 || dimension.dilation < 1)
      throw Error("a stride or a dilation is less than 1");
    dimension.before = graph.integer(numberAt(pads, i, 0));
    dimension.after = graph.integer(numberAt(pads, i + places.size(), 0));
    dimensions.push_back(dimension);
  }
  padForSame(node, dimensions);
  return dimensions;
}

static Value countWindows(GraphBuilder &graph, const ImageDimension &dimension,
                          RoundWindows round) {
  Value padded = graph.scalar(Binary::Add, dimension.size, dimension.before);
  Value room = graph.scalar(Binary::Sub, graph.scalar(Binary::Add, padded, dimension.after),
                            spanOf(graph, dimension));
  Value stride = graph.integer(dimension.stride);
  if (round == RoundWindows::Down)
    return graph.scalar(Binary::Add, graph.scalar(Binary::IntDiv, room, stride), graph.integer(1));
  // The last window begins inside of the image or of what is added before it.
  Value all = graph.scalar(Binary::Add, roundedUp(graph, room, dimension.stride), graph.integer(1));
  return graph.scalar(Binary::Min, all, roundedUp(graph, padded, dimension.stride));
}

void onnx::addNumbers(GraphBuilder &graph, Values &numbers, Value count,
                      const ImageDimension &dimension, Value before) {
  numbers.append({count, dimension.places, graph.scalar(Binary::Sub, graph.integer(1), before),
                  graph.integer(dimension.stride), graph.integer(dimension.dilation),
                  graph.integer(1)});
}

Windows onnx::windowsOf(GraphBuilder &graph, ArrayRef<ImageDimension> dimensions,
                        RoundWindows round) {
  Windows windows;
  for (const ImageDimension &dimension : dimensions) {
    windows.counts.push_back(countWindows(graph, dimension, round));
    addNumbers(graph, windows.numbers, windows.counts.back(), dimension, dimension.before);
  }
  return windows;
}
