// Where the windows of convolutions and pools are in an image, whose first two dimensions are its number and
// its channel.
//
//   llvm::SmallVector<ImageDimension> dimensions = dimensionsOf(node, sizesOfImage(node), places);
//   Windows windows = windowsOf(graph, dimensions, RoundWindows::Down);
//   mlir::Value cells = graph.windows(image, graph.real(0), windows.numbers); // [images, channels, windows …, places …]
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_WINDOWS_H
#define TOKAMAK_FRONTEND_ONNX_RULES_WINDOWS_H

#include "frontend/onnx/NodeImporter.h"

namespace tokamak::onnx {

// Of one dimension of the image; the attributes that convolutions and pools share.
struct ImageDimension {
  mlir::Value size, places; // of the image; of a window
  int64_t stride = 1, dilation = 1;
  mlir::Value before, after; // how much is added at both ends
};

// The number at this place of an attribute that may be shorter.
int64_t numberAt(llvm::ArrayRef<int64_t> numbers, size_t place, int64_t otherwise);

// Of operand 0.
Values sizesOfImage(NodeImporter &node);
// Of an image of these sizes, by the node's attributes; `places` are the sizes of a window. Throws Error for
// strides and dilations below 1.
llvm::SmallVector<ImageDimension> dimensionsOf(NodeImporter &node,
                                               llvm::ArrayRef<mlir::Value> sizes,
                                               llvm::ArrayRef<mlir::Value> places);
// How many cells of the image a window spans.
mlir::Value spanOf(GraphBuilder &graph, const ImageDimension &dimension);
// Adds a half of the sum, rounded down, at one end, the rest at the other one.
void splitPadding(GraphBuilder &graph, mlir::Value total, bool moreBefore,
                  ImageDimension &dimension);

enum class RoundWindows : uint8_t { Down, Up };

struct Windows {
  Values counts;  // of windows
  Values numbers; // what the natives of windows take
};
Windows windowsOf(GraphBuilder &graph, llvm::ArrayRef<ImageDimension> dimensions,
                  RoundWindows round);
// Adds the six numbers of one dimension; the first window begins `before` cells in front of the array.
void addNumbers(GraphBuilder &graph, Values &numbers, mlir::Value count,
                const ImageDimension &dimension, mlir::Value before);

} // namespace tokamak::onnx
#endif
