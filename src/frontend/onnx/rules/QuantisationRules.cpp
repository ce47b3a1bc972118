// Numbers as small integers: (integer - zero point) * scale.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/NarrowCells.h"
#include "frontend/onnx/rules/Convolution.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// A scale or zero point, so that it goes with the operand: one for all, one for each place along the axis, or one for
// each block of cells along the axis.
Value besideOperand(NodeImporter &node, size_t number) {
  GraphBuilder &graph = node.graph();
  Value parameter = node.operand(number), x = node.operand(0);
  int64_t rank = node.rank(0), own = GraphBuilder::rankOf(parameter);
  if (own == 0)
    return parameter;
  if (own == 1 && node.knownSize(number, 0) == 1)
    return graph.view(parameter, {});
  int64_t axis = rank == 1 ? 0 : node.axis(node.integer("axis", 1), rank);
  if (own == 1)
    return graph.startingAt(parameter, axis, rank);
  int64_t block = node.integer("block_size", 0);
  if (own != rank || block < 1)
    throw Error(fmt::format("scales of {} dimensions and blocks of {} cells for an array of {}",
                            own, block, rank));
  // The last block may have fewer cells than others.
  Values sizes = graph.sizes(parameter), merged = sizes;
  sizes.insert(sizes.begin() + axis + 1, graph.integer(block));
  merged[axis] = graph.scalar(Binary::Mul, merged[axis], graph.integer(block));
  Value repeated = graph.broadcast(graph.unsqueeze(parameter, {axis + 1}), sizes);
  return graph.slice(graph.view(repeated, merged), axis, graph.integer(0), graph.size(x, axis));
}

// Rounded to even and saturated, as casts do it.
Value quantised(GraphBuilder &graph, Value x, Value scale, Value zeroPoint) {
  Value steps = graph.roundToEven(graph.binary(Binary::Div, x, scale));
  Value shifted =
      graph.binary(Binary::Add, steps, graph.cast(zeroPoint, GraphBuilder::elementOf(x)));
  return graph.cast(shifted, GraphBuilder::elementOf(zeroPoint));
}

// To a narrow type; `zeroPoint` may be null.
Value quantisedNarrowly(NodeImporter &node, Value x, Value scale, Value zeroPoint, DataType type) {
  GraphBuilder &graph = node.graph();
  Value steps = graph.binary(Binary::Div, x, scale);
  if (isNarrowInteger(type))
    steps = graph.roundToEven(steps);
  if (zeroPoint)
    steps = graph.binary(Binary::Add, steps, graph.cast(zeroPoint, GraphBuilder::elementOf(x)));
  if (isNarrowInteger(type)) {
    auto bound = [&](int64_t number) { return graph.real(static_cast<double>(number)); };
    steps = graph.binary(Binary::Max, steps, bound(leastNarrowInteger(type)));
    steps = graph.binary(Binary::Min, steps, bound(largestNarrowInteger(type)));
  }
  return narrowed(graph, steps, type, {.saturates = node.integer("saturate", 1) != 0});
}

// The type of the result is that of the zero point or, without one, what the node says.
void importQuantizeLinear(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  node.ignore({"axis", "block_size", "saturate"}); // of several scales, of narrow cells
  Value x = node.operand(0), scale = besideOperand(node, 1);
  std::optional<ElementType> precision =
      elementTypeOf(static_cast<DataType>(node.integer("precision", 0)));
  // Powers of 2 alone are nothing to compute in.
  if (!precision)
    precision = GraphBuilder::elementTypeOf(isNarrow(node.narrowType(1)) ? x : scale);
  x = graph.cast(x, *precision);
  scale = graph.cast(scale, *precision);
  bool hasZeroPoint = node.hasOperand(2);
  auto declared = static_cast<DataType>(node.integer("output_dtype", 0));
  DataType type = hasZeroPoint                      ? node.narrowType(2)
                  : declared == DataType::Undefined ? DataType::UInt8
                                                    : declared;
  if (isNarrow(type)) {
    Value zeroPoint = hasZeroPoint ? besideOperand(node, 2) : Value();
    Value cells = quantisedNarrowly(node, x, scale, zeroPoint, type);
    return node.setValue(0, ImportedValue::ofArray(cells, type));
  }
  std::optional<ElementType> element = elementTypeOf(type);
  if (!hasZeroPoint && !element)
    node.refuse("QuantizeLinear to " + nameOf(type));
  Value zeroPoint = hasZeroPoint ? besideOperand(node, 2) : graph.filled(0, graph.typeOf(*element));
  node.setResult(0, quantised(graph, x, scale, zeroPoint));
}

void importDequantizeLinear(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  node.ignore({"axis", "block_size"}); // of several scales
  Value scale = besideOperand(node, 1);
  std::optional<ElementType> declared =
      elementTypeOf(static_cast<DataType>(node.integer("output_dtype", 0)));
  mlir::Type element = declared ? graph.typeOf(*declared) : GraphBuilder::elementOf(scale);
  scale = graph.cast(scale, element);
  Value x = graph.cast(node.operand(0), element);
  if (node.hasOperand(2))
    x = graph.binary(Binary::Sub, x, graph.cast(besideOperand(node, 2), element));
  node.setResult(0, graph.binary(Binary::Mul, x, scale));
}

// The range from the least to the largest cell, and 0, in 255 steps.
void importDynamicQuantizeLinear(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  Numbers all = numbersFrom(0, node.rank(0));
  Value zero = graph.real(0);
  Value most =
      graph.binary(Binary::Max, graph.reduce(AggregateKind::Max, x, all, KeepDimensions::No), zero);
  Value least =
      graph.binary(Binary::Min, graph.reduce(AggregateKind::Min, x, all, KeepDimensions::No), zero);
  Value scale = graph.binary(Binary::Div, graph.binary(Binary::Sub, most, least), graph.real(255));
  Value place =
      graph.roundToEven(graph.binary(Binary::Sub, zero, graph.binary(Binary::Div, least, scale)));
  Value zeroPoint = graph.cast(place, ElementType::U8);
  node.setResult(0, quantised(graph, x, scale, zeroPoint));
  node.setResult(1, scale);
  node.setResult(2, zeroPoint);
}

// Integers of 32 bits, with the zero point taken off.
Value centred(NodeImporter &node, size_t number, size_t zeroPoint, bool byRows) {
  GraphBuilder &graph = node.graph();
  Value x = graph.cast(node.operand(number), ElementType::I32);
  if (!node.hasOperand(zeroPoint))
    return x;
  Value zero = graph.cast(node.operand(zeroPoint), ElementType::I32);
  if (byRows && GraphBuilder::rankOf(zero) == 1)
    zero = graph.unsqueeze(zero, {1});
  return graph.binary(Binary::Sub, x, zero);
}

void importMatMulInteger(NodeImporter &node) {
  node.setResult(0, node.graph().matmul(centred(node, 0, 2, true), centred(node, 1, 3, false)));
}

// The zero point of the weights may be one number for each filter.
Value centredWeights(NodeImporter &node, size_t number, size_t zeroPoint) {
  GraphBuilder &graph = node.graph();
  Value weights = graph.cast(node.operand(number), ElementType::I32);
  if (!node.hasOperand(zeroPoint))
    return weights;
  Value zero = graph.cast(node.operand(zeroPoint), ElementType::I32);
  if (GraphBuilder::rankOf(zero) == 1)
    zero = graph.startingAt(zero, 0, GraphBuilder::rankOf(weights));
  return graph.binary(Binary::Sub, weights, zero);
}

void importConvInteger(NodeImporter &node) {
  node.setResult(
      0, convolution(node, centred(node, 0, 2, false), centredWeights(node, 1, 3), Value()));
}

void importQLinearConv(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value bias = node.hasOperand(8) ? node.operand(8) : Value();
  Value sums = convolution(node, centred(node, 0, 2, false), centredWeights(node, 3, 5), bias);
  Value ofWeights = node.operand(4);
  if (GraphBuilder::rankOf(ofWeights) == 1)
    ofWeights = graph.startingAt(ofWeights, 1, node.rank(0));
  Value scale = graph.binary(Binary::Mul, ofWeights, node.operand(1));
  Value real = graph.binary(Binary::Mul, graph.cast(sums, ElementType::F32), scale);
  node.setResult(0, quantised(graph, real, node.operand(6), node.operand(7)));
}

void importQLinearMatMul(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value product = graph.cast(graph.matmul(centred(node, 0, 2, true), centred(node, 3, 5, false)),
                             ElementType::F32);
  Value scale = graph.binary(Binary::Mul, node.operand(1), node.operand(4));
  Value real = graph.binary(Binary::Mul, product, graph.cast(scale, ElementType::F32));
  node.setResult(
      0, quantised(graph, real, graph.cast(node.operand(6), ElementType::F32), node.operand(7)));
}

constexpr ImportRule rules[] = {
    {"ConvInteger", 10, importConvInteger},
    {"DequantizeLinear", 10, importDequantizeLinear},
    {"DynamicQuantizeLinear", 11, importDynamicQuantizeLinear},
    {"MatMulInteger", 10, importMatMulInteger},
    {"QLinearConv", 10, importQLinearConv},
    {"QLinearMatMul", 10, importQLinearMatMul},
    {"QuantizeLinear", 10, importQuantizeLinear},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::quantisationRules() { return rules; }
