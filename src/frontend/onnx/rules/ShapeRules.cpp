// Operators whose result has cells of their operands, at other places, or none but sizes.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"
#include "frontend/onnx/ConstantTensor.h"

#include <fmt/format.h>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

//===- constants -----------------------------------------------------------------------------===//

void importConstant(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  auto given = llvm::count_if(
      ArrayRef<StringRef>({"value", "value_int", "value_ints", "value_float", "value_floats",
                           "value_string", "value_strings", "sparse_value"}),
      [&](StringRef attribute) { return node.has(attribute); });
  if (given != 1)
    throw Error(fmt::format("it has {} values instead of one", given));
  Builder &builder = graph.builder();
  auto numbers = [&](mlir::Type element, auto values, bool isScalar) {
    SmallVector<int64_t> dims;
    if (!isScalar)
      dims.push_back(static_cast<int64_t>(values.size()));
    auto type = RankedTensorType::get(dims, element);
    node.setResult(0, graph.literal(DenseElementsAttr::get(type, ArrayRef(values))));
  };
  auto floats = [](const SmallVector<double> &values) {
    return SmallVector<float>(values.begin(), values.end());
  };
  if (const Tensor *tensor = node.tensor("value"))
    return node.setValue(
        0, ImportedValue::ofArray(graph.literal(constantTensor(*tensor, graph, nullptr)),
                                  tensor->dataType));
  if (node.has("value_int"))
    return numbers(builder.getI64Type(), SmallVector<int64_t>{node.integer("value_int", 0)}, true);
  if (node.has("value_ints"))
    return numbers(builder.getI64Type(), node.integers("value_ints"), false);
  if (node.has("value_float"))
    return numbers(builder.getF32Type(), floats({node.real("value_float", 0)}), true);
  if (node.has("value_floats"))
    return numbers(builder.getF32Type(), floats(node.reals("value_floats")), false);
  node.refuse("Constant of texts or sparse cells");
}

void importConstantOfShape(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<Values> sizes = node.sizesAt(0);
  if (!sizes)
    node.refuse("ConstantOfShape with an unknown number of sizes");
  const Tensor *tensor = node.tensor("value");
  if (!tensor)
    return node.setResult(0, graph.filled(0, graph.builder().getF32Type(), *sizes));
  DenseElementsAttr value = constantTensor(*tensor, graph, nullptr);
  // Sizes stay known, if they are not many.
  constexpr int64_t mostSizes = 64;
  std::optional<int64_t> count =
      sizes->size() == 1 ? constantInteger(sizes->front()) : std::nullopt;
  if (count && *count >= 0 && *count <= mostSizes && value.getNumElements() == 1 &&
      value.getElementType().isSignlessInteger(64)) {
    Value size = graph.integer((*value.value_begin<APInt>()).getSExtValue());
    return node.setCells(0, Values(*count, size), false);
  }
  Value one = graph.view(graph.literal(value), {});
  node.setValue(0, ImportedValue::ofArray(graph.broadcast(one, *sizes), tensor->dataType));
}

void importEyeLike(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  mlir::Type element = GraphBuilder::elementOf(x);
  if (node.has("dtype"))
    if (auto type = elementTypeOf(static_cast<DataType>(node.integer("dtype", 0))))
      element = graph.typeOf(*type);
  mlir::Type whole = graph.builder().getI64Type();
  Value rows = graph.unsqueeze(graph.places(graph.size(x, 0), whole), {1});
  Value columns = graph.unsqueeze(graph.places(graph.size(x, 1), whole), {0});
  Value shifted = graph.binary(Binary::Add, rows, graph.integer(node.integer("k", 0)));
  node.setResult(0, graph.cast(graph.binary(Binary::Eq, shifted, columns), element));
}

// ceil((limit - start) / step) numbers, if that is more than 0.
void importRange(NodeImporter &node) {
  node.ignore({"stash_type"}); // sizes and steps are computed in 64 bits
  GraphBuilder &graph = node.graph();
  Value start = node.scalarAt(0), limit = node.scalarAt(1), step = node.scalarAt(2), count;
  std::optional<int64_t> constant = constantInteger(step);
  if (constant == 0)
    throw Error("the step is 0");
  std::optional<int64_t> from = constantInteger(start), to = constantInteger(limit);
  // Axes and the like stay known.
  constexpr int64_t most = 64;
  if (constant && from && to && node.elementType(0) == ElementType::I64) {
    Values cells;
    for (int64_t at = *from; (*constant > 0 ? at < *to : at > *to) && cells.size() <= most;) {
      cells.push_back(graph.integer(at));
      if (__builtin_add_overflow(at, *constant, &at))
        break;
    }
    if (cells.size() <= most)
      return node.setCells(0, cells, false);
  }
  if (constant) {
    bool isUp = *constant > 0;
    Value distance = graph.scalar(Binary::Sub, isUp ? limit : start, isUp ? start : limit);
    Value above = graph.scalar(Binary::Add, graph.scalar(Binary::Max, distance, graph.integer(0)),
                               graph.integer(std::abs(*constant) - 1));
    count = graph.scalar(Binary::IntDiv, above, graph.integer(std::abs(*constant)));
  } else {
    Value distance = graph.scalar(Binary::Sub, graph.inDoubles(limit), graph.inDoubles(start));
    Value steps =
        graph.scalar(Unary::Ceil, graph.scalar(Binary::Div, distance, graph.inDoubles(step)));
    count = graph.inIntegers(graph.scalar(Binary::Max, steps, graph.real(0)));
  }
  Value places = graph.places(count, GraphBuilder::elementOf(node.operand(0)));
  Value scaled = graph.binary(Binary::Mul, places, step);
  node.setResult(0, graph.binary(Binary::Add, scaled, node.operand(0)));
}

//===- sizes ---------------------------------------------------------------------------------===//

// Of an array whose cells are known, its size is a number of the model.
Values sizesOfOperand(NodeImporter &node) {
  std::optional<Values> cells = node.cells(0);
  if (!cells)
    return node.graph().sizes(node.operand(0));
  if (node.isScalar(0))
    return {};
  return {node.graph().integer(static_cast<int64_t>(cells->size()))};
}

void importShape(NodeImporter &node) {
  Values sizes = sizesOfOperand(node);
  auto rank = static_cast<int64_t>(sizes.size());
  auto clamped = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  int64_t start = clamped(node.integer("start", 0)),
          end = clamped(node.integer("end", std::numeric_limits<int64_t>::max()));
  Values part(sizes.begin() + start, sizes.begin() + std::max(start, end));
  node.setCells(0, part, false);
}

void importSize(NodeImporter &node) {
  node.setCells(0, {node.graph().product(sizesOfOperand(node))}, true);
}

//===- other dimensions, the same cells ------------------------------------------------------===//

// 0 takes the operand's size, -1 what is left.
Value reshaped(NodeImporter &node, Value x, Values sizes, bool allowsZero) {
  GraphBuilder &graph = node.graph();
  std::optional<size_t> open;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> constant = constantInteger(size);
    if (constant == 0 && !allowsZero)
      size = graph.size(x, node.axis(static_cast<int64_t>(i), GraphBuilder::rankOf(x)));
    if (constant == -1) {
      if (open)
        throw Error("two sizes are -1");
      open = i;
    }
  }
  if (open) {
    Values others = sizes;
    others.erase(others.begin() + static_cast<int64_t>(*open));
    // Without cells the size is 0, whatever is divided.
    Value divisor = graph.scalar(Binary::Max, graph.product(others), graph.integer(1));
    sizes[*open] = graph.scalar(Binary::IntDiv, graph.product(graph.sizes(x)), divisor);
  }
  return graph.view(x, sizes);
}

// The same of sizes that are read from an array: only when the program runs it is known which are 0 or -1.
Value reshapedAsRead(GraphBuilder &graph, Value x, Values sizes, bool allowsZero) {
  auto is = [&](Value size, int64_t number) {
    return graph.isOne(graph.scalar(Binary::Sub, size, graph.integer(number - 1)));
  };
  Value known = graph.integer(1);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    auto dimension = static_cast<int64_t>(i);
    if (!allowsZero && dimension < GraphBuilder::rankOf(x))
      size = graph.scalar(Binary::Add, size,
                          graph.scalar(Binary::Mul, is(size, 0), graph.size(x, dimension)));
    Value orOne =
        graph.scalar(Binary::Add, size, graph.scalar(Binary::Mul, is(size, -1), graph.integer(2)));
    known = graph.scalar(Binary::Mul, known, orOne);
  }
  Value left = graph.scalar(Binary::IntDiv, graph.product(graph.sizes(x)),
                            graph.scalar(Binary::Max, known, graph.integer(1)));
  for (Value &size : sizes)
    size = graph.scalar(
        Binary::Add, size,
        graph.scalar(Binary::Mul, is(size, -1), graph.scalar(Binary::Add, left, graph.integer(1))));
  return graph.view(x, sizes);
}

void importReshape(NodeImporter &node) {
  Values sizes;
  bool allowsZero = node.integer("allowzero", 0) != 0;
  if (node.version() < 5) {
    for (int64_t size : node.integers("shape"))
      sizes.push_back(node.graph().integer(size));
  } else if (std::optional<Values> cells = node.cells(1)) {
    sizes = *cells;
  } else if (std::optional<Values> read = node.sizesAt(1)) {
    return node.setResult(0, reshapedAsRead(node.graph(), node.operand(0), *read, allowsZero));
  } else {
    node.refuse("Reshape to an unknown number of dimensions");
  }
  // Sizes stay known.
  if (std::optional<Values> cells = node.movableCells(0);
      cells && cells->size() == 1 && sizes.size() <= 1 &&
      (sizes.empty() || constantInteger(sizes[0]) == 1 || constantInteger(sizes[0]) == -1))
    return node.setCells(0, *cells, sizes.empty(), node.elementType(0));
  node.setResult(0, reshaped(node, node.operand(0), sizes, allowsZero));
}

void importFlatten(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = GraphBuilder::rankOf(x), axis = node.integer("axis", 1);
  axis = axis == rank ? rank : node.axis(axis, std::max<int64_t>(rank, 1));
  Values sizes = graph.sizes(x);
  ArrayRef<Value> all(sizes);
  node.setResult(
      0, graph.view(x, {graph.product(all.take_front(axis)), graph.product(all.drop_front(axis))}));
}

void importSqueeze(NodeImporter &node) {
  std::optional<Numbers> axes = node.integersOrOperand("axes", 1);
  if (std::optional<Values> cells = node.movableCells(0); cells && cells->size() == 1)
    return node.setCells(0, *cells, true, node.elementType(0));
  if (!axes) {
    axes.emplace();
    for (int64_t i = 0; i < node.rank(0); ++i) {
      std::optional<int64_t> size = node.knownSize(0, i);
      if (!size)
        node.refuse("Squeeze without axes, whose rank depends on sizes that are not known,");
      if (*size == 1)
        axes->push_back(i);
    }
  }
  node.setResult(0, node.graph().squeeze(node.operand(0), node.axes(*axes, node.rank(0))));
}

void importUnsqueeze(NodeImporter &node) {
  std::optional<Numbers> axes = node.integersOrOperand("axes", 1);
  if (!axes)
    throw Error("the axes are missing");
  if (std::optional<Values> cells = node.movableCells(0);
      cells && node.isScalar(0) && axes->size() == 1)
    return node.setCells(0, *cells, false, node.elementType(0));
  int64_t rank = node.rank(0) + static_cast<int64_t>(axes->size());
  node.setResult(0, node.graph().unsqueeze(node.operand(0), node.axes(*axes, rank)));
}

void importTranspose(NodeImporter &node) {
  int64_t rank = node.rank(0);
  Numbers order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm", order);
  if (static_cast<int64_t>(order.size()) != rank)
    throw Error(fmt::format("perm has {} dimensions, the array {}", order.size(), rank));
  node.setResult(0, node.graph().permute(node.operand(0), node.axes(order, rank)));
}

void importExpand(NodeImporter &node) {
  std::optional<Values> sizes = node.sizesAt(1);
  if (!sizes)
    node.refuse("Expand to an unknown number of dimensions");
  node.setResult(0, node.graph().broadcast(node.operand(0), *sizes));
}

// [a, b] is repeated as [1, a, 1, b] -> [m, a, n, b] -> [m a, n b].
void importTile(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  std::optional<Values> repeats = node.version() < 6 ? std::nullopt : node.sizesAt(1);
  if (!repeats)
    node.refuse("Tile by an unknown number of factors");
  if (static_cast<int64_t>(repeats->size()) != node.rank(0))
    throw Error(fmt::format("{} factors for {} dimensions", repeats->size(), node.rank(0)));
  Values apart, repeated, together;
  for (int64_t i = 0; i < node.rank(0); ++i) {
    Value size = graph.size(x, i), factor = (*repeats)[i];
    apart.append({graph.integer(1), size});
    repeated.append({factor, size});
    together.push_back(graph.scalar(Binary::Mul, factor, size));
  }
  Value parts = graph.view(x, apart);
  node.setResult(0, graph.view(graph.broadcast(parts, repeated), together));
}

//===- parts ---------------------------------------------------------------------------------===//

void importConcat(NodeImporter &node) {
  int64_t number = node.integer("axis", 1);
  Values all;
  bool areKnown = true;
  for (size_t i = 0; i < node.operandCount() && areKnown; ++i) {
    std::optional<Values> cells = node.movableCells(i);
    areKnown = cells && !node.isScalar(i) && node.elementType(i) == node.elementType(0);
    if (areKnown)
      llvm::append_range(all, *cells);
  }
  if (areKnown)
    return node.setCells(0, all, false, node.elementType(0));
  node.setResult(0, node.graph().join(node.operands(), node.axis(number, node.rank(0))));
}

// Exporters write places behind the end as the largest number of 32 bits, or of more.
constexpr int64_t far = std::numeric_limits<int32_t>::max();

// The place where a slice begins or ends: from the end if negative, and not outside of what steps in
// this direction may reach.
Value clampedPlace(GraphBuilder &graph, Value place, Value size, bool isUp, bool isEnd) {
  std::optional<int64_t> constant = constantInteger(place);
  Value fromZero = place;
  if (constant && *constant >= far)
    return isUp ? size : graph.scalar(Binary::Sub, size, graph.integer(1));
  if (constant && *constant <= -far)
    return graph.integer(isUp ? 0 : (isEnd ? -1 : 0));
  if (constant && *constant < 0) {
    fromZero = graph.scalar(Binary::Add, size, place);
  } else if (!constant) {
    // place + size * (place < 0)
    Value isNegative =
        graph.scalar(Binary::Sub, graph.integer(0),
                     graph.scalar(Binary::Max, graph.integer(-1),
                                  graph.scalar(Binary::Min, place, graph.integer(0))));
    fromZero = graph.scalar(Binary::Add, place, graph.scalar(Binary::Mul, size, isNegative));
  }
  Value least = graph.integer(!isUp && isEnd ? -1 : 0);
  Value most = isUp ? size : graph.scalar(Binary::Sub, size, graph.integer(1));
  return graph.scalar(Binary::Min, graph.scalar(Binary::Max, fromZero, least), most);
}

// How many steps lie between the places.
Value countSteps(GraphBuilder &graph, Value begin, Value end, int64_t step) {
  bool isUp = step > 0;
  Value distance =
      isUp ? graph.scalar(Binary::Sub, end, begin) : graph.scalar(Binary::Sub, begin, end);
  Value above = graph.scalar(Binary::Max, distance, graph.integer(0));
  if (std::abs(step) == 1)
    return above;
  return graph.scalar(Binary::IntDiv,
                      graph.scalar(Binary::Add, above, graph.integer(std::abs(step) - 1)),
                      graph.integer(std::abs(step)));
}

// Whether a slice has all of a dimension of this size, as those of exporters have where only another one is cut.
bool takesAll(GraphBuilder &graph, Value start, Value end, int64_t step, Value size) {
  if (step != 1 || constantInteger(start) != 0)
    return false;
  std::optional<int64_t> last = constantInteger(end), known = graph.knownInteger(size);
  return last && (*last >= far || (known && *last >= *known));
}

// Of the domain `tokamak`: where the part begins, its sizes and the distances of its places, in all dimensions. They are
// numbers that fit the array, so that it is one operation, which kernels can read through.
void importPart(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  Numbers starts = node.integers("starts"), sizes = node.integers("sizes"),
          steps = node.integers("steps");
  auto rank = static_cast<size_t>(node.rank(0));
  if (starts.size() != rank || sizes.size() != rank || steps.size() != rank)
    throw Error("starts, sizes and steps are as many as the array's dimensions");
  auto isOne = [](int64_t step) { return step == 1; };
  Values bounds;
  if (rank == 2 && llvm::all_of(steps, isOne)) {
    for (size_t i = 0; i < rank; ++i)
      bounds.append({graph.integer(starts[i] + 1), graph.integer(starts[i] + sizes[i])});
    return node.setResult(0, graph.builder().create<tok::SliceOp>(graph.location(), x.getType(), x,
                                                                  bounds[0], bounds[1], bounds[2],
                                                                  bounds[3]));
  }
  bounds.push_back(x);
  for (size_t i = 0; i < rank; ++i)
    bounds.append({graph.integer(starts[i] + 1), graph.integer(sizes[i]), graph.integer(steps[i])});
  node.setResult(0,
                 graph.native("strided_slice", bounds, node.rank(0), GraphBuilder::elementOf(x)));
}

void importSlice(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Values starts, ends;
  std::optional<Numbers> axes, steps;
  if (node.version() < 10) {
    for (int64_t start : node.integers("starts"))
      starts.push_back(graph.integer(start));
    for (int64_t end : node.integers("ends"))
      ends.push_back(graph.integer(end));
    if (node.has("axes"))
      axes = node.integers("axes");
  } else {
    std::optional<Values> begin = node.sizesAt(1), end = node.sizesAt(2);
    if (!begin || !end)
      node.refuse("Slice by an unknown number of places");
    starts = *begin;
    ends = *end;
    if (node.hasOperand(3))
      axes = node.constants(3, "axes");
    if (node.hasOperand(4))
      steps = node.constants(4, "steps");
  }
  if (!axes)
    axes = numbersFrom(0, static_cast<int64_t>(starts.size()));
  if (!steps)
    steps.emplace(starts.size(), 1);
  if (ends.size() != starts.size() || axes->size() != starts.size() ||
      steps->size() != starts.size() || llvm::is_contained(*steps, 0))
    throw Error("starts, ends, axes and steps are not as many, or a step is 0");
  std::optional<Values> cells = node.movableCells(0);
  std::optional<Numbers> first = node.version() < 10 ? node.integers("starts")
                                                     : node.constantsIfKnown(1),
                         last =
                             node.version() < 10 ? node.integers("ends") : node.constantsIfKnown(2);
  if (cells && !node.isScalar(0) && first && last && starts.size() == 1 && (*steps)[0] == 1) {
    auto size = static_cast<int64_t>(cells->size());
    auto clamped = [&](int64_t place) {
      return std::clamp<int64_t>(place < 0 ? place + size : place, 0, size);
    };
    int64_t begin = clamped((*first)[0]), end = std::max(begin, clamped((*last)[0]));
    return node.setCells(0, Values(cells->begin() + begin, cells->begin() + end), false,
                         node.elementType(0));
  }
  Value x = node.operand(0);
  for (auto [axis, start, end, step] : llvm::zip(*axes, starts, ends, *steps)) {
    int64_t dimension = node.axis(axis, node.rank(0));
    Value size = graph.size(x, dimension);
    if (takesAll(graph, start, end, step, size))
      continue;
    Value begin = clampedPlace(graph, start, size, step > 0, false);
    Value count = countSteps(graph, begin, clampedPlace(graph, end, size, step > 0, true), step);
    x = graph.slice(x, dimension, begin, count, step);
  }
  node.setResult(0, x);
}

void importSplit(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t dimension = node.axis(node.integer("axis", 0), node.rank(0));
  auto results = static_cast<int64_t>(node.resultCount());
  if (int64_t said = node.integer("num_outputs", results); said != results)
    throw Error(fmt::format("it has {} outputs, but num_outputs is {}", results, said));
  Values parts;
  if (node.version() < 13 && node.has("split")) {
    for (int64_t size : node.integers("split"))
      parts.push_back(graph.integer(size));
  } else if (node.hasOperand(1)) {
    std::optional<Values> sizes = node.cells(1);
    if (!sizes)
      node.refuse("Split into an unknown number of parts");
    parts = *sizes;
  } else {
    // Equal parts, the last one smaller.
    Value size = graph.size(x, dimension);
    Value part =
        graph.scalar(Binary::IntDiv, graph.scalar(Binary::Add, size, graph.integer(results - 1)),
                     graph.integer(results));
    parts.assign(results, part);
    parts.back() = graph.scalar(Binary::Sub, size,
                                graph.scalar(Binary::Mul, part, graph.integer(results - 1)));
  }
  Value begin = graph.integer(0);
  for (auto [i, size] : llvm::enumerate(parts)) {
    node.setResult(i, graph.slice(x, dimension, begin, size));
    begin = graph.scalar(Binary::Add, begin, size);
  }
}

void importGather(NodeImporter &node) {
  int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  std::optional<Values> cells = node.movableCells(0);
  std::optional<Numbers> places = node.constantsIfKnown(1);
  if (cells && places && !node.isScalar(0)) {
    Values taken;
    for (int64_t place : *places)
      taken.push_back((*cells)[node.axis(place, static_cast<int64_t>(cells->size()))]);
    return node.setCells(0, taken, node.isScalar(1), node.elementType(0));
  }
  node.setResult(0, node.graph().take(node.operand(0), node.operand(1), axis));
}

//===- rearrangements ------------------------------------------------------------------------===//

void importDepthToSpace(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), block = graph.integer(node.integer("blocksize", 1));
  Value n = graph.size(x, 0), c = graph.size(x, 1), h = graph.size(x, 2), w = graph.size(x, 3);
  Value area = graph.scalar(Binary::Mul, block, block),
        depth = graph.scalar(Binary::IntDiv, c, area);
  bool columnRow = node.text("mode", "DCR") == "CRD";
  Value apart = columnRow ? graph.view(x, {n, depth, block, block, h, w})
                          : graph.view(x, {n, block, block, depth, h, w});
  Value moved = graph.permute(apart, columnRow ? ArrayRef<int64_t>{0, 1, 4, 2, 5, 3}
                                               : ArrayRef<int64_t>{0, 3, 4, 1, 5, 2});
  node.setResult(0, graph.view(moved, {n, depth, graph.scalar(Binary::Mul, h, block),
                                       graph.scalar(Binary::Mul, w, block)}));
}

void importSpaceToDepth(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), block = graph.integer(node.integer("blocksize", 1));
  Value n = graph.size(x, 0), c = graph.size(x, 1);
  Value h = graph.scalar(Binary::IntDiv, graph.size(x, 2), block),
        w = graph.scalar(Binary::IntDiv, graph.size(x, 3), block);
  bool isDepthFirst = node.text("mode", "DCR") == "DCR";
  Value moved = graph.permute(graph.view(x, {n, c, h, block, w, block}),
                              isDepthFirst ? Numbers{0, 3, 5, 1, 2, 4} : Numbers{0, 1, 3, 5, 2, 4});
  Value depth = graph.scalar(Binary::Mul, c, graph.scalar(Binary::Mul, block, block));
  node.setResult(0, graph.view(moved, {n, depth, h, w}));
}

void importTrilu(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t rank = node.rank(0);
  mlir::Type whole = graph.builder().getI64Type();
  Value rows = graph.unsqueeze(graph.places(graph.size(x, rank - 2), whole), {1});
  Value columns = graph.unsqueeze(graph.places(graph.size(x, rank - 1), whole), {0});
  if (node.hasOperand(1))
    rows = graph.binary(Binary::Add, rows, graph.squeeze(node.operand(1), {}));
  bool upper = node.integer("upper", 1) != 0;
  Value isKept = graph.binary(upper ? Binary::Ge : Binary::Le, columns, rows);
  node.setResult(0, graph.select(isKept, x, graph.filled(0, GraphBuilder::elementOf(x))));
}

constexpr ImportRule rules[] = {
    {"Concat", 1, importConcat},
    {"Constant", 1, importConstant},
    {"ConstantOfShape", 9, importConstantOfShape},
    {"DepthToSpace", 1, importDepthToSpace},
    {"Expand", 8, importExpand},
    {"EyeLike", 9, importEyeLike},
    {"Flatten", 1, importFlatten},
    {"Gather", 1, importGather},
    {"Range", 11, importRange},
    {"Reshape", 1, importReshape},
    {"Shape", 1, importShape},
    {"Size", 1, importSize},
    {"Slice", 1, importSlice},
    {"tokamak.Part", 1, importPart},
    {"SpaceToDepth", 1, importSpaceToDepth},
    {"Split", 2, importSplit},
    {"Squeeze", 1, importSqueeze},
    {"Tile", 1, importTile},
    {"Transpose", 1, importTranspose},
    {"Trilu", 14, importTrilu},
    {"Unsqueeze", 1, importUnsqueeze},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::shapeRules() { return rules; }
