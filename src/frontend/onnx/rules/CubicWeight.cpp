#include "frontend/onnx/rules/CubicWeight.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

Value onnx::cubicWeight(GraphBuilder &graph, Value distance, double a) {
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value sum = graph.binary(Binary::Add, graph.binary(Binary::Mul, distance, graph.real(c3)),
                             graph.real(c2));
    sum = graph.binary(Binary::Add, graph.binary(Binary::Mul, sum, distance), graph.real(c1));
    return graph.binary(Binary::Add, graph.binary(Binary::Mul, sum, distance), graph.real(c0));
  };
  Value isNear = graph.binary(Binary::Le, distance, graph.real(1));
  return graph.select(isNear, polynomial(a + 2, -(a + 3), 0, 1),
                      polynomial(a, -5 * a, 8 * a, -4 * a));
}
