#include "frontend/onnx/rules/ImageReader.h"

using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

ImageReader::ImageReader(GraphBuilder &graph, Value image)
    : graph_(graph), sizes_(graph.sizes(image)) {
  Numbers order = {0};
  llvm::append_range(order, numbersFrom(2, GraphBuilder::rankOf(image)));
  order.push_back(1);
  Values flat = {graph.scalar(Binary::Mul, sizes_[0], area()), sizes_[1]};
  rows_ = graph.view(graph.permute(image, order), flat);
}

Value ImageReader::at(Value image, llvm::ArrayRef<Value> places) {
  Value row = graph_.binary(Binary::Mul, image, area());
  Value stride = graph_.integer(1);
  for (int64_t i = dimensions() - 1; i >= 0; --i) {
    Value whole = graph_.cast(places[i], ElementType::I64);
    row = graph_.binary(Binary::Add, row, graph_.binary(Binary::Mul, whole, stride));
    stride = graph_.scalar(Binary::Mul, stride, size(i));
  }
  return graph_.take(rows_, row, 0);
}
