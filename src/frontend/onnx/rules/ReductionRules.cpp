// Operators that compute a cell of their result from many cells along some dimensions.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/rules/AlongDimension.h"

#include "base/Error.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- Reduce… -------------------------------------------------------------------------------===//

struct Reduction {
  Numbers dimensions;
  KeepDimensions keep;
};

// What the node reduces over; nothing if it leaves its operand as it is.
std::optional<Reduction> reductionOf(NodeImporter &node) {
  int64_t rank = node.rank(0);
  KeepDimensions keep = node.integer("keepdims", 1) != 0 ? KeepDimensions::Yes : KeepDimensions::No;
  Numbers axes = node.integersOrOperand("axes", 1).value_or(Numbers());
  bool isIdentity = node.integer("noop_with_empty_axes", 0) != 0;
  if (!axes.empty())
    return Reduction{node.axes(axes, rank), keep};
  if (isIdentity)
    return std::nullopt;
  return Reduction{numbersFrom(0, rank), keep};
}

// `before` is applied to every cell, `after` to every aggregate.
using CellFormula = Value (*)(GraphBuilder &graph, Value x);
template <AggregateKind kind, CellFormula before, CellFormula after>
void importReduction(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<Reduction> reduction = reductionOf(node);
  Value x = before(graph, node.operand(0));
  if (reduction)
    x = graph.reduce(kind, x, reduction->dimensions, reduction->keep);
  node.setResult(0, graph.cast(after(graph, x), GraphBuilder::elementOf(node.operand(0))));
}

Value same(GraphBuilder &, Value x) { return x; }
Value magnitude(GraphBuilder &graph, Value x) { return graph.unary(Unary::Abs, x); }
Value square(GraphBuilder &graph, Value x) { return graph.binary(Binary::Mul, x, x); }

Value inFloats(GraphBuilder &graph, Value x) {
  return isFloat(GraphBuilder::elementTypeOf(x)) ? x : graph.cast(x, ElementType::F64);
}
Value squareRoot(GraphBuilder &graph, Value x) {
  return graph.unary(Unary::Sqrt, inFloats(graph, x));
}
Value logarithm(GraphBuilder &graph, Value x) {
  return graph.unary(Unary::Log, inFloats(graph, x));
}

Value countOver(GraphBuilder &graph, Value x, ArrayRef<int64_t> dimensions) {
  Values sizes;
  for (int64_t dimension : dimensions)
    sizes.push_back(graph.size(x, dimension));
  return graph.product(sizes);
}

void importReduceMean(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<Reduction> reduction = reductionOf(node);
  Value x = node.operand(0);
  if (!reduction)
    return node.setResult(0, x);
  if (isFloat(GraphBuilder::elementTypeOf(x)))
    return node.setResult(
        0, graph.reduce(AggregateKind::Mean, x, reduction->dimensions, reduction->keep));
  Value sum = graph.reduce(AggregateKind::Sum, x, reduction->dimensions, reduction->keep);
  node.setResult(0, graph.binary(Binary::IntDiv, sum, countOver(graph, x, reduction->dimensions)));
}

// log(sum(exp(x))): the largest is taken out first, so that nothing overflows; an infinite one is left in.
void importReduceLogSumExp(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<Reduction> reduction = reductionOf(node);
  Value x = inFloats(graph, node.operand(0));
  if (!reduction)
    return node.setResult(0, node.operand(0));
  Value largest = graph.reduce(AggregateKind::Max, x, reduction->dimensions, KeepDimensions::Yes);
  Value isInfinite = graph.cast(graph.unary(Unary::IsInfinite, largest), ElementType::Bool);
  Value shift = graph.select(isInfinite, graph.filled(0, GraphBuilder::elementOf(x)), largest);
  Value sum =
      graph.reduce(AggregateKind::Sum, graph.unary(Unary::Exp, graph.binary(Binary::Sub, x, shift)),
                   reduction->dimensions, KeepDimensions::Yes);
  Value result = graph.binary(Binary::Add, graph.unary(Unary::Log, sum), shift);
  if (reduction->keep == KeepDimensions::No)
    result = graph.squeeze(result, reduction->dimensions);
  node.setResult(0, graph.cast(result, GraphBuilder::elementOf(node.operand(0))));
}

//===- the place of the largest --------------------------------------------------------------===//

template <AggregateKind first, AggregateKind last> void importArg(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t dimension = node.axis(node.integer("axis", 0), node.rank(0));
  KeepDimensions keep = node.integer("keepdims", 1) != 0 ? KeepDimensions::Yes : KeepDimensions::No;
  AggregateKind kind = node.integer("select_last_index", 0) != 0 ? last : first;
  node.setResult(0, placeFromZero(graph, kind, x, dimension, keep));
}

//===- along one dimension -------------------------------------------------------------------===//

// Before version 13 all dimensions from the axis on count as one.
struct Softmax {
  Value x; // in the shape in which it is computed
  int64_t dimension;
  Values sizes; // of the result
};

Softmax softmaxOf(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0);
  if (node.version() >= 13)
    return {x, node.axis(node.integer("axis", -1), rank), graph.sizes(x)};
  int64_t axis = node.integer("axis", 1);
  axis = axis == rank ? rank : node.axis(axis, rank);
  Values sizes = graph.sizes(x);
  ArrayRef<Value> all(sizes);
  Value flat =
      graph.view(x, {graph.product(all.take_front(axis)), graph.product(all.drop_front(axis))});
  return {flat, 1, sizes};
}

void importSoftmax(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Softmax given = softmaxOf(node);
  node.setResult(0, graph.view(softmax(graph, given.x, given.dimension), given.sizes));
}

void importLogSoftmax(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Softmax softmax = softmaxOf(node);
  Value largest =
      graph.reduce(AggregateKind::Max, softmax.x, {softmax.dimension}, KeepDimensions::Yes);
  Value x = graph.binary(Binary::Sub, softmax.x, largest);
  Value sum = graph.reduce(AggregateKind::Sum, graph.unary(Unary::Exp, x), {softmax.dimension},
                           KeepDimensions::Yes);
  Value result = graph.binary(Binary::Sub, x, graph.unary(Unary::Log, sum));
  node.setResult(0, graph.view(result, softmax.sizes));
}

// 1 at the first of the largest cells, 0 elsewhere.
void importHardmax(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Softmax softmax = softmaxOf(node);
  Value size = graph.size(softmax.x, softmax.dimension);
  Value place = placeFromZero(graph, AggregateKind::FirstIndexMax, softmax.x, softmax.dimension,
                              KeepDimensions::Yes);
  Value places = graph.places(size, graph.builder().getI64Type());
  Value isThere = graph.binary(
      Binary::Eq, graph.startingAt(places, softmax.dimension, GraphBuilder::rankOf(softmax.x)),
      place);
  node.setResult(
      0, graph.view(graph.cast(isThere, GraphBuilder::elementOf(softmax.x)), softmax.sizes));
}

template <bool isProduct> void importCumulative(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0);
  Numbers axes = node.constants(1, "axes");
  if (axes.size() != 1)
    throw Error("one axis is expected");
  int64_t dimension = node.axis(axes.front(), rank);
  // Sums of short integers wrap, so they are cut where they are converted back.
  mlir::Type element = GraphBuilder::elementOf(node.operand(0));
  bool isShort =
      element.isInteger() && !element.isInteger(1) && element.getIntOrFloatBitWidth() < 64;
  Value x = isShort ? graph.cast(node.operand(0), ElementType::I64) : node.operand(0);
  Value size = graph.size(x, dimension);
  bool isReverse = node.integer("reverse", 0) != 0;
  Value forward = isReverse ? reversed(graph, x, dimension) : x;
  // The dimension becomes the rows of a matrix.
  Numbers there = {dimension};
  for (int64_t i = 0; i < rank; ++i)
    if (i != dimension)
      there.push_back(i);
  Value moved = graph.permute(forward, there);
  Values sizes = graph.sizes(moved);
  Value matrix = graph.view(moved, {size, graph.product(ArrayRef<Value>(sizes).drop_front())});
  auto scanned = [&](Value cells) {
    // Products of integers are exact but for what they wrap.
    StringRef product = element.isInteger() ? "cumprodcells" : "cumprod";
    return graph.native(isProduct ? product : "cumsum", {cells}, 2, GraphBuilder::elementOf(cells));
  };
  Value sums;
  if (!isProduct && !isShort && element.isInteger(64)) {
    // It sums in doubles, which are exact for 2^21 halves of 32 bits.
    Value half = graph.integer(32), mask = graph.integer(0xFFFFFFFF);
    Value upper = scanned(graph.binary(Binary::BitwShiftR, matrix, half));
    Value lower = scanned(graph.binary(Binary::BitwAnd, matrix, mask));
    sums = graph.binary(Binary::Add, graph.binary(Binary::BitwShiftL, upper, half), lower);
  } else {
    sums = scanned(matrix);
  }
  // Without the cell itself: what the one before has, and nothing before the first.
  if (node.integer("exclusive", 0) != 0) {
    Value one = graph.integer(1), columns = graph.size(matrix, 1);
    Value before = graph.windows(
        sums, graph.real(isProduct ? 1 : 0),
        {size, one, graph.integer(0), one, one, one, columns, one, one, one, one, one});
    sums = graph.squeeze(before, {2, 3});
  }
  Value result = graph.permuteBack(graph.view(sums, sizes), there);
  node.setResult(0, graph.cast(isReverse ? reversed(graph, result, dimension) : result, element));
}

//===- pools of all places -------------------------------------------------------------------===//

Numbers placesOfPool(NodeImporter &node) {
  if (node.rank(0) < 3)
    throw Error("an image has at least three dimensions");
  return numbersFrom(2, node.rank(0));
}

template <AggregateKind kind> void importGlobalPool(NodeImporter &node) {
  node.setResult(
      0, node.graph().reduce(kind, node.operand(0), placesOfPool(node), KeepDimensions::Yes));
}

constexpr ImportRule rules[] = {
    {"ArgMax", 1, importArg<AggregateKind::FirstIndexMax, AggregateKind::IndexMax>},
    {"ArgMin", 1, importArg<AggregateKind::FirstIndexMin, AggregateKind::IndexMin>},
    {"CumProd", 26, importCumulative<true>},
    {"CumSum", 11, importCumulative<false>},
    {"GlobalAveragePool", 1, importGlobalPool<AggregateKind::Mean>},
    {"GlobalMaxPool", 1, importGlobalPool<AggregateKind::Max>},
    {"Hardmax", 1, importHardmax},
    {"LogSoftmax", 1, importLogSoftmax},
    {"ReduceL1", 1, importReduction<AggregateKind::Sum, magnitude, same>},
    {"ReduceL2", 1, importReduction<AggregateKind::Sum, square, squareRoot>},
    {"ReduceLogSum", 1, importReduction<AggregateKind::Sum, same, logarithm>},
    {"ReduceLogSumExp", 1, importReduceLogSumExp},
    {"ReduceMax", 1, importReduction<AggregateKind::Max, same, same>},
    {"ReduceMean", 1, importReduceMean},
    {"ReduceMin", 1, importReduction<AggregateKind::Min, same, same>},
    {"ReduceProd", 1, importReduction<AggregateKind::Prod, same, same>},
    {"ReduceSum", 1, importReduction<AggregateKind::Sum, same, same>},
    {"ReduceSumSquare", 1, importReduction<AggregateKind::Sum, square, same>},
    {"Softmax", 1, importSoftmax},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::reductionRules() { return rules; }
