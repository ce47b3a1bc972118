// Reads cells of an image [images, channels, …], with all channels at once, at places that other arrays give.
//
//   ImageReader reader(graph, image);
//   mlir::Value cells = reader.at(numbers, {rows, columns});     // [places …, channels]
//
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_IMAGEREADER_H
#define TOKAMAK_FRONTEND_ONNX_RULES_IMAGEREADER_H

#include "frontend/onnx/GraphBuilder.h"

namespace tokamak::onnx {

class ImageReader {
public:
  // The image has three dimensions or more.
  ImageReader(GraphBuilder &graph, mlir::Value image);

  // Those behind the channels, and their sizes.
  int64_t dimensions() const { return static_cast<int64_t>(sizes_.size()) - 2; }
  mlir::Value size(int64_t dimension) const { return sizes_[dimension + 2]; }
  mlir::Type element() const { return GraphBuilder::elementOf(rows_); }

  // [places …, channels] of integers: the number of the image and a place along each dimension, all inside.
  mlir::Value at(mlir::Value image, llvm::ArrayRef<mlir::Value> places);

private:
  mlir::Value area() { return graph_.product(llvm::ArrayRef<mlir::Value>(sizes_).drop_front(2)); }

  GraphBuilder &graph_;
  Values sizes_;
  mlir::Value rows_; // [images * places, channels]
};

} // namespace tokamak::onnx
#endif
