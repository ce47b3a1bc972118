// Operators that compute each cell of their result from one cell of each operand.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- one operand ---------------------------------------------------------------------------===//

template <Unary op> void importUnary(NodeImporter &node) {
  Value y = node.graph().unary(op, node.operand(0));
  node.setResult(0, node.graph().cast(y, GraphBuilder::elementOf(node.operand(0))));
}

// Tests give booleans.
template <Unary op> void importTest(NodeImporter &node) {
  node.setResult(0, node.graph().cast(node.graph().unary(op, node.operand(0)), ElementType::Bool));
}

// Of sizes, sizes.
void importNeg(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<Values> cells = node.wholeCells(0);
  if (!cells)
    return importUnary<Unary::Neg>(node);
  for (Value &cell : *cells)
    cell = graph.scalar(Binary::Sub, graph.integer(0), cell);
  node.setCells(0, *cells, node.isScalar(0));
}

void importIdentity(NodeImporter &node) {
  node.setValue(0, node.hasOperand(0) ? node.value(0) : ImportedValue::absent());
}

// A formula of one operand, in its element type.
using Formula = Value (*)(NodeImporter &node, GraphBuilder &graph, Value x);
template <Formula formula> void importFormula(NodeImporter &node) {
  node.setResult(0, formula(node, node.graph(), node.operand(0)));
}

Value one(GraphBuilder &graph) { return graph.real(1); }

// Squares of much larger numbers overflow, and 1 beside a square is below half a unit in its last place.
Value largeArgument(GraphBuilder &graph, Value x) {
  return graph.real(GraphBuilder::elementTypeOf(x) == ElementType::F16 ? 100 : 1e15);
}

Value isPositive(GraphBuilder &graph, Value x) {
  return graph.binary(Binary::Gt, x, graph.real(0));
}

Value reciprocal(NodeImporter &, GraphBuilder &graph, Value x) {
  return graph.binary(Binary::Div, one(graph), x);
}

Value relu(NodeImporter &, GraphBuilder &graph, Value x) {
  bool isOfFloats = isFloat(GraphBuilder::elementTypeOf(x));
  return graph.binary(Binary::Max, x, isOfFloats ? graph.real(0) : graph.integer(0));
}

// scale * (exp(x) - 1)
Value exponentialBelow(GraphBuilder &graph, Value x, double scale) {
  Value grown = graph.binary(Binary::Sub, graph.unary(Unary::Exp, x), one(graph));
  return graph.binary(Binary::Mul, grown, graph.real(scale));
}

Value elu(NodeImporter &node, GraphBuilder &graph, Value x) {
  return graph.select(isPositive(graph, x), x, exponentialBelow(graph, x, node.real("alpha", 1)));
}

Value selu(NodeImporter &node, GraphBuilder &graph, Value x) {
  double alpha = node.real("alpha", node.version() < 6 ? 1.6732 : 1.67326319217681884765625);
  double gamma = node.real("gamma", node.version() < 6 ? 1.0507 : 1.05070102214813232421875);
  Value below = exponentialBelow(graph, x, alpha);
  return graph.binary(Binary::Mul, graph.select(isPositive(graph, x), x, below), graph.real(gamma));
}

Value celu(NodeImporter &node, GraphBuilder &graph, Value x) {
  double alpha = node.real("alpha", 1);
  Value scaled = graph.binary(Binary::Div, x, graph.real(alpha));
  Value below = exponentialBelow(graph, scaled, alpha);
  return graph.binary(Binary::Add, graph.binary(Binary::Max, x, graph.real(0)),
                      graph.binary(Binary::Min, below, graph.real(0)));
}

Value leakyRelu(NodeImporter &node, GraphBuilder &graph, Value x) {
  Value below = graph.binary(Binary::Mul, x, graph.real(node.real("alpha", 0.01F)));
  return graph.select(graph.binary(Binary::Lt, x, graph.real(0)), below, x);
}

Value thresholdedRelu(NodeImporter &node, GraphBuilder &graph, Value x) {
  Value above = graph.binary(Binary::Gt, x, graph.real(node.real("alpha", 1)));
  return graph.select(above, x, graph.binary(Binary::Mul, x, graph.real(0)));
}

Value hardSigmoid(NodeImporter &node, GraphBuilder &graph, Value x) {
  Value line =
      graph.binary(Binary::Add, graph.binary(Binary::Mul, x, graph.real(node.real("alpha", 0.2F))),
                   graph.real(node.real("beta", 0.5)));
  return graph.binary(Binary::Max, graph.binary(Binary::Min, line, one(graph)), graph.real(0));
}

Value hardSwish(NodeImporter &, GraphBuilder &graph, Value x) {
  Value line =
      graph.binary(Binary::Add, graph.binary(Binary::Mul, x, graph.real(1.0 / 6)), graph.real(0.5));
  Value gate =
      graph.binary(Binary::Max, graph.binary(Binary::Min, line, one(graph)), graph.real(0));
  return graph.binary(Binary::Mul, x, gate);
}

// log(1 + exp(x)) without overflow.
Value softplus(NodeImporter &, GraphBuilder &graph, Value x) {
  Value minusMagnitude = graph.unary(Unary::Neg, graph.unary(Unary::Abs, x));
  Value tail = graph.unary(Unary::Log1p, graph.unary(Unary::Exp, minusMagnitude));
  return graph.binary(Binary::Add, graph.binary(Binary::Max, x, graph.real(0)), tail);
}

Value softsign(NodeImporter &, GraphBuilder &graph, Value x) {
  return graph.binary(Binary::Div, x,
                      graph.binary(Binary::Add, graph.unary(Unary::Abs, x), one(graph)));
}

Value mish(NodeImporter &node, GraphBuilder &graph, Value x) {
  return graph.binary(Binary::Mul, x, graph.unary(Unary::Tanh, softplus(node, graph, x)));
}

Value swish(NodeImporter &node, GraphBuilder &graph, Value x) {
  Value scaled = graph.binary(Binary::Mul, x, graph.real(node.real("alpha", 1)));
  return graph.binary(Binary::Mul, x, graph.unary(Unary::Sigmoid, scaled));
}

void importSwiGlu(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  node.setResult(0,
                 graph.binary(Binary::Mul, swish(node, graph, node.operand(0)), node.operand(1)));
}

Value shrink(NodeImporter &node, GraphBuilder &graph, Value x) {
  double lambda = node.real("lambd", 0.5), bias = node.real("bias", 0);
  Value none = graph.binary(Binary::Mul, x, graph.real(0));
  Value above = graph.binary(Binary::Gt, x, graph.real(lambda));
  Value below = graph.binary(Binary::Lt, x, graph.real(-lambda));
  Value lower = graph.select(below, graph.binary(Binary::Add, x, graph.real(bias)), none);
  return graph.select(above, graph.binary(Binary::Sub, x, graph.real(bias)), lower);
}

// log((1 + x) / (1 - x)) / 2
Value atanh(NodeImporter &, GraphBuilder &graph, Value x) {
  Value upper = graph.unary(Unary::Log1p, x),
        lower = graph.unary(Unary::Log1p, graph.unary(Unary::Neg, x));
  return graph.binary(Binary::Mul, graph.binary(Binary::Sub, upper, lower), graph.real(0.5));
}

// With the sign of x, log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))): exact to some units in the last place for small x,
// too, where log(|x| + sqrt(x^2 + 1)) cancels. Of large x log(2 |x|).
Value asinh(NodeImporter &, GraphBuilder &graph, Value x) {
  Value magnitude = graph.unary(Unary::Abs, x);
  Value square = graph.binary(Binary::Mul, x, x);
  Value root = graph.unary(Unary::Sqrt, graph.binary(Binary::Add, square, one(graph)));
  Value rest = graph.binary(Binary::Div, square, graph.binary(Binary::Add, root, one(graph)));
  Value near = graph.unary(Unary::Log1p, graph.binary(Binary::Add, magnitude, rest));
  Value far =
      graph.binary(Binary::Add, graph.unary(Unary::Log, magnitude), graph.real(std::numbers::ln2));
  Value isFar = graph.binary(Binary::Gt, magnitude, largeArgument(graph, x));
  Value isNegative = graph.binary(Binary::Lt, x, graph.real(0));
  Value grown = graph.select(isFar, far, near);
  Value result = graph.select(isNegative, graph.unary(Unary::Neg, grown), grown);
  return graph.select(graph.binary(Binary::Eq, x, graph.real(0)), x, result); // keeps the sign of 0
}

// With t = x - 1, which is exact where it matters: log1p(t + sqrt(t) sqrt(t + 2)), NaN where t is negative; of
// large x log(2 x).
Value acosh(NodeImporter &, GraphBuilder &graph, Value x) {
  Value t = graph.binary(Binary::Sub, x, one(graph));
  Value root = graph.unary(Unary::Sqrt, graph.binary(Binary::Add, t, graph.real(2)));
  Value product = graph.binary(Binary::Mul, graph.unary(Unary::Sqrt, t), root);
  Value near = graph.unary(Unary::Log1p, graph.binary(Binary::Add, t, product));
  Value far = graph.binary(Binary::Add, graph.unary(Unary::Log, x), graph.real(std::numbers::ln2));
  return graph.select(graph.binary(Binary::Gt, x, largeArgument(graph, x)), far, near);
}

Value roundToEven(NodeImporter &, GraphBuilder &graph, Value x) { return graph.roundToEven(x); }

Value binarized(NodeImporter &node, GraphBuilder &graph, Value x) {
  Value isAbove = graph.binary(Binary::Gt, x, graph.real(node.real("threshold", 0)));
  return graph.cast(isAbove, GraphBuilder::elementOf(x));
}

void importNot(NodeImporter &node) {
  node.setResult(
      0, node.graph().cast(node.graph().unary(Unary::Not, node.operand(0)), ElementType::Bool));
}

void importBitwiseNot(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  ElementType type = GraphBuilder::elementTypeOf(x);
  Value ones =
      graph.integer(type == ElementType::U64 || isSignedInteger(type) ? -1 : largestInteger(type));
  node.setResult(0, graph.binary(Binary::BitwXor, x, ones));
}

void importIsInf(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  bool positive = node.integer("detect_positive", 1) != 0,
       negative = node.integer("detect_negative", 1) != 0;
  Value infinite = graph.cast(graph.unary(Unary::IsInfinite, x), ElementType::Bool);
  if (positive && negative)
    return node.setResult(0, infinite);
  if (!positive && !negative)
    return node.setResult(0, graph.binary(Binary::And, infinite, graph.real(0)));
  Value side = graph.binary(positive ? Binary::Gt : Binary::Lt, x, graph.real(0));
  node.setResult(0, graph.binary(Binary::And, infinite, side));
}

//===- two and more operands -----------------------------------------------------------------===//

// Before version 7 the second operand is broadcast only if the node says so, from a dimension that it names.
Value secondOperand(NodeImporter &node) {
  Value y = node.operand(1);
  node.ignore({"axis"});
  if (node.version() >= 7 || node.integer("broadcast", 0) == 0 || !node.has("axis"))
    return y;
  int64_t rank = node.rank(0), axis = node.axis(node.integer("axis", 0), rank);
  return node.graph().startingAt(y, axis, rank);
}

// Operators on sizes: both operands are known by cells, one of which may be repeated.
bool importOnSizes(NodeImporter &node, Binary op) {
  std::optional<Values> lhs = node.wholeCells(0), rhs = node.wholeCells(1);
  if (!lhs || !rhs)
    return false;
  size_t count = std::max(lhs->size(), rhs->size());
  if (lhs->empty() || rhs->empty() || (lhs->size() != count && lhs->size() != 1) ||
      (rhs->size() != count && rhs->size() != 1))
    return false;
  Values cells;
  for (size_t i = 0; i < count; ++i)
    cells.push_back(node.graph().scalar(op, (*lhs)[lhs->size() == 1 ? 0 : i],
                                        (*rhs)[rhs->size() == 1 ? 0 : i]));
  node.setCells(0, cells, node.isScalar(0) && node.isScalar(1));
  return true;
}

// Comparisons of integers without dimensions that are scalars of the program.
bool importComparison(NodeImporter &node, Binary op) {
  std::optional<Values> lhs = node.wholeCells(0), rhs = node.wholeCells(1);
  if (!lhs || !rhs || !node.isScalar(0) || !node.isScalar(1))
    return false;
  GraphBuilder &graph = node.graph();
  node.setResult(0, graph.arrayOfScalar(graph.scalar(op, lhs->front(), rhs->front())));
  return true;
}

template <Binary op> void importBinary(NodeImporter &node) {
  if (resultOf(op) == CellResult::Number && importOnSizes(node, op))
    return;
  if (resultOf(op) == CellResult::Boolean && importComparison(node, op))
    return;
  node.setResult(0, node.graph().binary(op, node.operand(0), secondOperand(node)));
}

// Of integers, towards zero.
void importDiv(NodeImporter &node) {
  bool isOfFloats = isFloat(node.elementType(0));
  isOfFloats ? importBinary<Binary::Div>(node) : importBinary<Binary::IntDiv>(node);
}

void importPow(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), y = secondOperand(node);
  ElementType type = GraphBuilder::elementTypeOf(x);
  // Whole powers of integers are whole; through doubles, in which those that fit 32 bits are exact.
  if (!isFloat(type) || !isFloat(GraphBuilder::elementTypeOf(y))) {
    ElementType wide = ElementType::F64;
    Value power = graph.binary(Binary::Pow, graph.cast(x, wide), graph.cast(y, wide));
    return node.setResult(0, graph.cast(power, type));
  }
  node.setResult(0, graph.binary(Binary::Pow, x, graph.cast(y, type)));
}

// The remainder has the sign of the divisor; with fmod, that of the dividend.
void importMod(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), y = node.operand(1);
  Value rest = graph.binary(Binary::Mod, x, y);
  // A finite number is less than an infinite divisor.
  if (isFloat(GraphBuilder::elementTypeOf(x))) {
    auto isInfinite = [&](Value number) {
      return graph.cast(graph.unary(Unary::IsInfinite, number), ElementType::Bool);
    };
    Value isLess = graph.binary(Binary::Gt, isInfinite(y), isInfinite(x));
    rest = graph.select(isLess, x, rest);
  }
  if (node.integer("fmod", 0) != 0)
    return node.setResult(0, rest);
  Value isRest = graph.binary(Binary::Ne, rest, graph.integer(0));
  Value differs = graph.binary(Binary::Ne, graph.binary(Binary::Lt, rest, graph.integer(0)),
                               graph.binary(Binary::Lt, y, graph.integer(0)));
  Value moves = graph.binary(Binary::And, isRest, differs);
  node.setResult(0, graph.select(moves, graph.binary(Binary::Add, rest, y), rest));
}

// By more bits than there are, or by a negative number, all of them go: what is left are copies of the sign.
void importBitShift(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), by = node.operand(1);
  bool left = node.text("direction", "") == "LEFT";
  ElementType type = GraphBuilder::elementTypeOf(x);
  Value shifted = graph.binary(left ? Binary::BitwShiftL : Binary::BitwShiftR, x, by);
  Value isShort = graph.binary(Binary::Lt, by, graph.integer(8 * byteSize(type)));
  Value gone = graph.filled(0, GraphBuilder::elementOf(x));
  if (isSignedInteger(type)) {
    isShort = graph.binary(Binary::And, isShort, graph.binary(Binary::Ge, by, graph.integer(0)));
    if (!left)
      gone = graph.select(graph.binary(Binary::Lt, x, graph.integer(0)),
                          graph.filled(-1, GraphBuilder::elementOf(x)), gone);
  }
  node.setResult(0, graph.select(isShort, shifted, gone));
}

void importPRelu(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), slope = node.operand(1);
  // A slope for each channel, before slopes were broadcast.
  if (node.version() < 7 && GraphBuilder::rankOf(slope) == 1 && node.rank(0) > 1)
    slope = graph.startingAt(slope, 1, node.rank(0));
  Value below = graph.binary(Binary::Mul, x, slope);
  node.setResult(0, graph.select(graph.binary(Binary::Lt, x, graph.real(0)), below, x));
}

void importWhere(NodeImporter &node) {
  Value x = node.operand(1), y = node.operand(2);
  node.graph().checkSameCells({x, y});
  node.setResult(0, node.graph().select(node.operand(0), x, y));
}

template <Binary op> void importVariadic(NodeImporter &node) {
  Value result = node.operand(0);
  for (size_t i = 1; i < node.operandCount(); ++i)
    result = node.graph().binary(op, result, node.operand(i));
  node.setResult(0, result);
}

void importMean(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value sum = node.operand(0);
  for (size_t i = 1; i < node.operandCount(); ++i)
    sum = graph.binary(Binary::Add, sum, node.operand(i));
  node.setResult(
      0, graph.binary(Binary::Div, sum, graph.real(static_cast<double>(node.operandCount()))));
}

// Bounds were attributes before version 11.
void importClip(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  if (node.version() < 11) {
    if (node.has("min"))
      x = graph.binary(Binary::Max, x, graph.real(node.real("min", 0)));
    if (node.has("max"))
      x = graph.binary(Binary::Min, x, graph.real(node.real("max", 0)));
    return node.setResult(0, x);
  }
  if (node.hasOperand(1))
    x = graph.binary(Binary::Max, x, node.operand(1));
  if (node.hasOperand(2))
    x = graph.binary(Binary::Min, x, node.operand(2));
  node.setResult(0, x);
}

// 0.5 * x * (1 + erf(x / sqrt(2))), or with tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)) for the error function.
void importGelu(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  if (node.text("approximate", "none") != "tanh") {
    Value scaled = graph.binary(Binary::Mul, x, graph.real(std::sqrt(0.5)));
    Value gate = graph.binary(Binary::Add, graph.unary(Unary::Erf, scaled), one(graph));
    return node.setResult(
        0, graph.binary(Binary::Mul, graph.binary(Binary::Mul, x, gate), graph.real(0.5)));
  }
  Value cube = graph.binary(Binary::Mul, graph.binary(Binary::Mul, x, x), x);
  Value inner = graph.binary(Binary::Add, x, graph.binary(Binary::Mul, cube, graph.real(0.044715)));
  Value root = graph.real(std::sqrt(2 / std::numbers::pi));
  Value gate = graph.binary(
      Binary::Add, graph.unary(Unary::Tanh, graph.binary(Binary::Mul, inner, root)), one(graph));
  node.setResult(0, graph.binary(Binary::Mul, graph.binary(Binary::Mul, x, gate), graph.real(0.5)));
}

// Nothing is dropped where nothing is learned, or none is to be dropped.
void importDropout(NodeImporter &node) {
  node.ignore({"ratio", "seed"});
  if (node.hasOperand(2)) {
    std::optional<Numbers> isTraining = node.constantsIfKnown(2);
    bool isDropped = !isTraining || llvm::is_contained(*isTraining, 1);
    if (isDropped && node.hasOperand(1))
      isDropped =
          llvm::any_of(node.realConstants(1, "ratios"), [](double ratio) { return ratio != 0; });
    if (isDropped)
      node.refuse("Dropout that draws");
  } else if (node.version() < 7 && node.integer("is_test", 0) == 0) {
    node.refuse("Dropout that draws");
  }
  node.setResult(0, node.operand(0));
  if (node.wantsResult(1)) {
    GraphBuilder &graph = node.graph();
    Value x = node.operand(0);
    Value all =
        graph.cast(graph.broadcast(graph.filled(1, graph.builder().getF64Type()), graph.sizes(x)),
                   ElementType::Bool);
    node.setResult(1, node.version() < 10 ? graph.cast(all, GraphBuilder::elementOf(x)) : all);
  }
}

constexpr ImportRule rules[] = {
    {"Abs", 1, importUnary<Unary::Abs>},
    {"Acos", 7, importUnary<Unary::Acos>},
    {"Acosh", 9, importFormula<acosh>},
    {"Add", 1, importBinary<Binary::Add>},
    {"And", 1, importBinary<Binary::And>},
    {"Asin", 7, importUnary<Unary::Asin>},
    {"Asinh", 9, importFormula<asinh>},
    {"Atan", 7, importUnary<Unary::Atan>},
    {"Atanh", 9, importFormula<atanh>},
    {"BitShift", 11, importBitShift},
    {"BitwiseAnd", 18, importBinary<Binary::BitwAnd>},
    {"BitwiseNot", 18, importBitwiseNot},
    {"BitwiseOr", 18, importBinary<Binary::BitwOr>},
    {"BitwiseXor", 18, importBinary<Binary::BitwXor>},
    {"Ceil", 1, importUnary<Unary::Ceil>},
    {"Celu", 12, importFormula<celu>},
    {"Clip", 1, importClip},
    {"Cos", 7, importUnary<Unary::Cos>},
    {"Cosh", 9, importUnary<Unary::Cosh>},
    {"Div", 1, importDiv},
    {"Dropout", 1, importDropout},
    {"Elu", 1, importFormula<elu>},
    {"Equal", 1, importBinary<Binary::Eq>},
    {"Erf", 9, importUnary<Unary::Erf>},
    {"Exp", 1, importUnary<Unary::Exp>},
    {"Floor", 1, importUnary<Unary::Floor>},
    {"Gelu", 20, importGelu},
    {"Greater", 1, importBinary<Binary::Gt>},
    {"GreaterOrEqual", 12, importBinary<Binary::Ge>},
    {"HardSigmoid", 1, importFormula<hardSigmoid>},
    {"HardSwish", 14, importFormula<hardSwish>},
    {"Identity", 1, importIdentity},
    {"IsInf", 10, importIsInf},
    {"IsNaN", 9, importTest<Unary::IsNan>},
    {"LeakyRelu", 1, importFormula<leakyRelu>},
    {"Less", 1, importBinary<Binary::Lt>},
    {"LessOrEqual", 12, importBinary<Binary::Le>},
    {"Log", 1, importUnary<Unary::Log>},
    {"tokamak.Log1p", 1, importUnary<Unary::Log1p>},
    {"Max", 1, importVariadic<Binary::Max>},
    {"Mean", 1, importMean},
    {"Min", 1, importVariadic<Binary::Min>},
    {"Mish", 18, importFormula<mish>},
    {"Mod", 10, importMod},
    {"Mul", 1, importBinary<Binary::Mul>},
    {"Neg", 1, importNeg},
    {"Not", 1, importNot},
    {"Or", 1, importBinary<Binary::Or>},
    {"PRelu", 1, importPRelu},
    {"Pow", 1, importPow},
    {"Reciprocal", 1, importFormula<reciprocal>},
    {"Relu", 1, importFormula<relu>},
    {"Round", 11, importFormula<roundToEven>},
    {"Selu", 1, importFormula<selu>},
    {"Shrink", 9, importFormula<shrink>},
    {"Sigmoid", 1, importUnary<Unary::Sigmoid>},
    {"Sign", 9, importUnary<Unary::Sign>},
    {"Sin", 7, importUnary<Unary::Sin>},
    {"Sinh", 9, importUnary<Unary::Sinh>},
    {"Softplus", 1, importFormula<softplus>},
    {"Softsign", 1, importFormula<softsign>},
    {"Sqrt", 1, importUnary<Unary::Sqrt>},
    {"Sub", 1, importBinary<Binary::Sub>},
    {"Sum", 1, importVariadic<Binary::Add>},
    {"SwiGLU", 28, importSwiGlu},
    {"Swish", 24, importFormula<swish>},
    {"Tan", 7, importUnary<Unary::Tan>},
    {"Tanh", 1, importUnary<Unary::Tanh>},
    {"ThresholdedRelu", 10, importFormula<thresholdedRelu>},
    {"Where", 9, importWhere},
    {"Xor", 1, importBinary<Binary::Xor>},
    {"ai.onnx.ml.Binarizer", 1, importFormula<binarized>},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::cellRules() { return rules; }
