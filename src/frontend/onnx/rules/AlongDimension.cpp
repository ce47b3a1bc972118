#include "frontend/onnx/rules/AlongDimension.h"

#include "frontend/onnx/ImportRules.h"

using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

Value onnx::reversed(GraphBuilder &graph, Value array, int64_t dimension) {
  Value size = graph.size(array, dimension);
  return graph.slice(array, dimension, graph.scalar(Binary::Sub, size, graph.integer(1)), size, -1);
}

Value onnx::placeFromZero(GraphBuilder &graph, AggregateKind kind, Value array, int64_t dimension,
                          KeepDimensions keep) {
  return graph.binary(Binary::Sub, graph.reduce(kind, array, {dimension}, keep), graph.integer(1));
}

Value onnx::softmax(GraphBuilder &graph, Value x, int64_t dimension) {
  Value largest = graph.reduce(AggregateKind::Max, x, {dimension}, KeepDimensions::Yes);
  Value grown = graph.unary(Unary::Exp, graph.binary(Binary::Sub, x, largest));
  Value sum = graph.reduce(AggregateKind::Sum, grown, {dimension}, KeepDimensions::Yes);
  return graph.binary(Binary::Div, grown, sum);
}
