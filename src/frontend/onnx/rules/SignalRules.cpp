// Fourier transforms, which are products with cosines and sines, and what goes with them.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"
#include "frontend/onnx/file/DataType.h"

#include <fmt/format.h>
#include <numbers>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- windows -------------------------------------------------------------------------------===//

mlir::Type typeOfResult(NodeImporter &node) {
  auto type = static_cast<DataType>(node.integer("output_datatype", 1));
  std::optional<ElementType> element = elementTypeOf(type);
  if (!element)
    node.refuse(nameOf(type) + " cells");
  return node.graph().typeOf(*element);
}

// first - second cos(2 pi k / n) + third cos(4 pi k / n): n is the size, or one less where the window is
// symmetric.
void setWindow(NodeImporter &node, double first, double second, double third) {
  GraphBuilder &graph = node.graph();
  Value size = graph.inIntegers(node.scalarAt(0));
  bool isPeriodic = node.integer("periodic", 1) != 0;
  Value period = graph.scalar(Binary::Sub, size, graph.integer(isPeriodic ? 0 : 1));
  Value step = graph.scalar(Binary::Div, graph.real(2 * std::numbers::pi),
                            graph.inDoubles(graph.scalar(Binary::Max, period, graph.integer(1))));
  Value angles = graph.binary(Binary::Mul, graph.places(size, graph.builder().getF64Type()), step);
  auto wave = [&](double factor, double frequency) {
    Value cosine =
        graph.unary(Unary::Cos, graph.binary(Binary::Mul, angles, graph.real(frequency)));
    return graph.binary(Binary::Mul, cosine, graph.real(factor));
  };
  Value window = graph.binary(Binary::Add, wave(-second, 1), graph.real(first));
  if (third != 0)
    window = graph.binary(Binary::Add, window, wave(third, 2));
  node.setResult(0, graph.cast(window, typeOfResult(node)));
}

void importHannWindow(NodeImporter &node) { setWindow(node, 0.5, 0.5, 0); }
void importHammingWindow(NodeImporter &node) { setWindow(node, 25.0 / 46, 21.0 / 46, 0); }
void importBlackmanWindow(NodeImporter &node) { setWindow(node, 0.42, 0.5, 0.08); }

//===- transforms ----------------------------------------------------------------------------===//

struct Complex {
  Value real, imaginary; // null where all numbers are real
};

// The last dimension holds the two parts of a number, or the real one only.
Complex complexOf(NodeImporter &node, Value x) {
  GraphBuilder &graph = node.graph();
  int64_t last = GraphBuilder::rankOf(x) - 1;
  std::optional<int64_t> parts = graph.knownSize(x, last);
  if (!parts || *parts < 1 || *parts > 2)
    node.refuse("a transform of numbers of which it is not known whether they are complex");
  if (*parts == 1)
    return {graph.squeeze(x, {last}), Value()};
  return {graph.part(x, last, graph.integer(0)), graph.part(x, last, graph.integer(1))};
}

struct Transform {
  Value length; // of the signal, which is cut or filled up with zeros
  bool isInverse = false, isOneSided = false;
};

// Frequencies up to half of the length stand for those above it, too, which are their conjugates: each counts twice but
// for 0 and the half of an even length. Their transform back is real.
void countBothSides(GraphBuilder &graph, Complex &x, Value length) {
  int64_t last = GraphBuilder::rankOf(x.real) - 1;
  Value places = graph.places(graph.size(x.real, last), graph.builder().getI64Type());
  Value twice = graph.binary(Binary::Mul, places, graph.integer(2));
  Value isOnce = graph.binary(Binary::Or, graph.binary(Binary::Eq, places, graph.integer(0)),
                              graph.binary(Binary::Eq, twice, length));
  mlir::Type element = GraphBuilder::elementOf(x.real);
  Value weights = graph.select(isOnce, graph.filled(1, element), graph.filled(2, element));
  for (Value *part : {&x.real, &x.imaginary})
    if (*part)
      *part = graph.binary(Binary::Mul, *part, weights);
}

// Along the last dimension. Angles are taken from the remainder of (place times frequency) by the length, so that
// they stay exact.
Complex transformed(GraphBuilder &graph, const Complex &x, const Transform &transform) {
  int64_t last = GraphBuilder::rankOf(x.real) - 1;
  mlir::Type whole = graph.builder().getI64Type(), element = GraphBuilder::elementOf(x.real);
  Value half = graph.scalar(Binary::IntDiv, transform.length, graph.integer(2));
  Value count =
      transform.isOneSided ? graph.scalar(Binary::Add, half, graph.integer(1)) : transform.length;
  Value size = graph.scalar(Binary::Min, graph.size(x.real, last), transform.length);
  Value places = graph.unsqueeze(graph.places(size, whole), {1}),
        frequencies = graph.unsqueeze(graph.places(count, whole), {0});
  Value turns = graph.binary(Binary::Mod, graph.binary(Binary::Mul, places, frequencies),
                             graph.scalar(Binary::Max, transform.length, graph.integer(1)));
  Value step = graph.scalar(Binary::Div, graph.real(2 * std::numbers::pi),
                            graph.inDoubles(transform.length));
  Value angles = graph.binary(Binary::Mul, graph.cast(turns, ElementType::F64), step);
  auto matrix = [&](Unary wave) {
    Value cells = graph.unary(wave, angles);
    if (transform.isInverse)
      cells = graph.binary(Binary::Div, cells, graph.inDoubles(transform.length));
    return graph.cast(cells, element);
  };
  Value cosines = matrix(Unary::Cos), sines = matrix(Unary::Sin);
  auto product = [&](Value signal, Value waves) {
    Value cut = graph.slice(signal, last, graph.integer(0), size);
    bool isVector = last == 0;
    Value rows = isVector ? graph.unsqueeze(cut, {0}) : cut;
    Value result = graph.matmul(rows, waves);
    return isVector ? graph.squeeze(result, {0}) : result;
  };
  // (a + i b)(cos - i sin), or + i sin for the inverse
  Value real = product(x.real, cosines), imaginary = product(x.real, sines);
  if (!transform.isInverse)
    imaginary = graph.unary(Unary::Neg, imaginary);
  if (x.imaginary) {
    Value turned = product(x.imaginary, sines);
    real = graph.binary(transform.isInverse ? Binary::Sub : Binary::Add, real, turned);
    imaginary = graph.binary(Binary::Add, imaginary, product(x.imaginary, cosines));
  }
  return {real, imaginary};
}

Value together(GraphBuilder &graph, const Complex &x) {
  int64_t rank = GraphBuilder::rankOf(x.real);
  return graph.join({graph.unsqueeze(x.real, {rank}), graph.unsqueeze(x.imaginary, {rank})}, rank);
}

// The axis was an attribute before version 20.
void importDft(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0);
  if (rank < 2)
    throw Error("a signal has two dimensions at least");
  int64_t number = node.integer("axis", 1);
  if (node.version() >= 20) {
    number = -2;
    if (node.hasOperand(2)) {
      Numbers axes = node.constants(2, "axes");
      if (axes.size() != 1)
        throw Error("one axis is expected");
      number = axes.front();
    }
  }
  int64_t axis = node.axis(number, rank);
  if (axis == rank - 1)
    throw Error("the axis is that of the parts of a complex number");
  Value x = node.operand(0);
  Transform transform{{}, node.integer("inverse", 0) != 0, node.integer("onesided", 0) != 0};
  bool isBack = transform.isInverse && transform.isOneSided;
  Value one = graph.integer(1), given = graph.size(x, axis);
  if (isBack)
    given = graph.scalar(Binary::Mul, graph.scalar(Binary::Sub, given, one), graph.integer(2));
  transform.length = node.hasOperand(1) ? node.scalarAt(1) : given;
  transform.isOneSided &= !isBack;
  Complex parts = complexOf(node, x);
  Numbers order;
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != axis)
      order.push_back(i);
  order.push_back(axis);
  for (Value *part : {&parts.real, &parts.imaginary})
    if (*part)
      *part = graph.permute(*part, order);
  if (isBack) {
    Value half = graph.scalar(Binary::IntDiv, transform.length, graph.integer(2));
    Value most = graph.scalar(Binary::Min, graph.size(parts.real, rank - 2),
                              graph.scalar(Binary::Add, half, one));
    for (Value *part : {&parts.real, &parts.imaginary})
      if (*part)
        *part = graph.slice(*part, rank - 2, graph.integer(0), most);
    countBothSides(graph, parts, transform.length);
    Value real = transformed(graph, parts, transform).real;
    return node.setResult(0, graph.unsqueeze(graph.permuteBack(real, order), {rank - 1}));
  }
  Complex result = transformed(graph, parts, transform);
  for (Value *part : {&result.real, &result.imaginary})
    *part = graph.permuteBack(*part, order);
  node.setResult(0, together(graph, result));
}

// Overlapping frames of [signals, places, parts] become [signals, frames, frequencies, parts].
void importStft(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  if (node.rank(0) == 2)
    x = graph.unsqueeze(x, {2});
  if (GraphBuilder::rankOf(x) != 3)
    throw Error(fmt::format("a signal of {} dimensions", node.rank(0)));
  Value step = node.scalarAt(1), window = node.hasOperand(2) ? node.operand(2) : Value();
  if (!window && !node.hasOperand(3))
    throw Error("neither a window nor the length of frames is given");
  Value length = node.hasOperand(3) ? node.scalarAt(3) : graph.size(window, 0);
  Value rest = graph.scalar(Binary::Sub, graph.size(x, 1), length);
  Value frames =
      graph.scalar(Binary::Add, graph.scalar(Binary::IntDiv, rest, step), graph.integer(1));
  Complex parts = complexOf(node, x);
  for (Value *part : {&parts.real, &parts.imaginary}) {
    if (!*part)
      continue;
    *part =
        graph.windows(*part, graph.real(0),
                      {frames, length, graph.integer(1), step, graph.integer(1), graph.integer(1)});
    if (window)
      *part = graph.binary(Binary::Mul, *part, window);
  }
  Transform transform{length, false, node.integer("onesided", 1) != 0};
  node.setResult(0, together(graph, transformed(graph, parts, transform)));
}

//===- the mel scale -------------------------------------------------------------------------===//

// Triangles over the frequencies of a transform: their corners are equally far apart on the scale
// 2595 log10(1 + f / 700).
void importMelWeightMatrix(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  mlir::Type wide = graph.builder().getF64Type();
  Value bins = graph.inIntegers(node.scalarAt(0)), length = graph.inIntegers(node.scalarAt(1)),
        rate = graph.inDoubles(node.scalarAt(2));
  auto inMels = [&](size_t operand) {
    Value x = graph.scalar(Binary::Div, graph.inDoubles(node.scalarAt(operand)), graph.real(700));
    Value grown = graph.scalar(Unary::Log, graph.scalar(Binary::Add, x, graph.real(1)));
    return graph.scalar(Binary::Mul, grown, graph.real(2595 / std::numbers::ln10));
  };
  Value low = inMels(3), high = inMels(4);
  Value corners = graph.scalar(Binary::Add, bins, graph.integer(2));
  Value step =
      graph.scalar(Binary::Div, graph.scalar(Binary::Sub, high, low), graph.inDoubles(corners));
  Value mels =
      graph.binary(Binary::Add, graph.binary(Binary::Mul, graph.places(corners, wide), step), low);
  Value hertz = graph.binary(
      Binary::Mul,
      graph.binary(Binary::Sub,
                   graph.unary(Unary::Exp, graph.binary(Binary::Mul, mels,
                                                        graph.real(std::numbers::ln10 / 2595))),
                   graph.real(1)),
      graph.real(700));
  Value scale = graph.inDoubles(graph.scalar(Binary::Add, length, graph.integer(1)));
  Value points = graph.unary(
      Unary::Floor, graph.binary(Binary::Div, graph.binary(Binary::Mul, hertz, scale), rate));
  auto cornersFrom = [&](int64_t first) {
    return graph.slice(points, 0, graph.integer(first), bins);
  };
  Value lower = cornersFrom(0), centre = cornersFrom(1), upper = cornersFrom(2);
  Value count = graph.scalar(Binary::Add, graph.scalar(Binary::IntDiv, length, graph.integer(2)),
                             graph.integer(1));
  Value place = graph.unsqueeze(graph.places(count, wide), {1});
  Value zero = graph.filled(0, wide), rise = graph.binary(Binary::Sub, centre, lower),
        fall = graph.binary(Binary::Sub, upper, centre);
  auto between = [&](Value from, Binary least, Value to, Binary most) {
    return graph.binary(Binary::And, graph.binary(least, place, from),
                        graph.binary(most, place, to));
  };
  // A side without width has no slope: the centre is 1 anyway.
  Value least = graph.real(1);
  Value rising = graph.binary(Binary::Div, graph.binary(Binary::Sub, place, lower),
                              graph.binary(Binary::Max, rise, least));
  Value falling = graph.binary(Binary::Div, graph.binary(Binary::Sub, upper, place),
                               graph.binary(Binary::Max, fall, least));
  Value weights = graph.select(between(lower, Binary::Ge, centre, Binary::Lt), rising, zero);
  weights = graph.select(between(centre, Binary::Gt, upper, Binary::Lt), falling, weights);
  weights = graph.select(graph.binary(Binary::Eq, place, centre), graph.filled(1, wide), weights);
  node.setResult(0, graph.cast(weights, typeOfResult(node)));
}

constexpr ImportRule rules[] = {
    {"BlackmanWindow", 17, importBlackmanWindow},   {"DFT", 17, importDft},
    {"HammingWindow", 17, importHammingWindow},     {"HannWindow", 17, importHannWindow},
    {"MelWeightMatrix", 17, importMelWeightMatrix}, {"STFT", 17, importStft},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::signalRules() { return rules; }
