#include "frontend/dml/ModelBorder.h"

#include "llvm/ADT/STLExtras.h"

namespace tokamak::frontend {

using mlir::Value;
using onnx::Dimension;
using onnx::GraphBuilder;
using onnx::Values;

// A file writes 0 and -1, too, for a size that it doesn't know.
static std::optional<int64_t> knownSize(const Dimension &dimension) {
  const auto *size = std::get_if<int64_t>(&dimension);
  return size && *size > 0 ? std::optional(*size) : std::nullopt;
}

bool areToldByColumns(const std::vector<Dimension> &shape) {
  if (shape.size() < 3)
    return true;
  auto isUnknown = [](const Dimension &dimension) { return !knownSize(dimension); };
  return llvm::count_if(llvm::drop_begin(shape), isUnknown) <= 1;
}

// A row or a column.
static Value sizeOfVector(Value matrix, GraphBuilder &graph) {
  Value rows = graph.size(matrix, 0), columns = graph.size(matrix, 1);
  Value isRow = graph.scalar(BinaryOperator::Eq, rows, graph.integer(1));
  return graph.builder().createOrFold<tok::IfElseOp>(graph.location(), rows.getType(), isRow,
                                                     columns, rows);
}

static Values sizesOfInput(Value matrix, const std::vector<Dimension> &shape,
                           llvm::ArrayRef<Value> given, GraphBuilder &graph) {
  Values sizes;
  int64_t known = 1; // of all but the first
  for (auto [place, dimension] : llvm::enumerate(shape)) {
    std::optional<int64_t> size = knownSize(dimension);
    if (place > 0)
      known *= size.value_or(1);
    bool isGiven = place > 0 && !given.empty();
    sizes.push_back(size ? graph.integer(*size) : isGiven ? given[place - 1] : Value());
  }
  if (!sizes[0])
    sizes[0] = shape.size() == 1 ? sizeOfVector(matrix, graph) : graph.size(matrix, 0);
  for (Value &size : sizes)
    if (!size)
      size = graph.scalar(BinaryOperator::IntDiv, graph.size(matrix, 1), graph.integer(known));
  return sizes;
}

Value modelInput(Value matrix, const std::vector<Dimension> &shape, llvm::ArrayRef<Value> given,
                 mlir::Type element, GraphBuilder &graph) {
  // Converted first, so that this is part of what the script computes there.
  Value converted = graph.cast(matrix, element);
  bool saysNothing = shape.size() == 2 && !knownSize(shape[0]) && !knownSize(shape[1]);
  if (saysNothing)
    return converted;
  if (shape.empty())
    return graph.view(converted, {});
  return graph.view(converted, sizesOfInput(converted, shape, given, graph));
}

Value scriptValue(Value array, GraphBuilder &graph) {
  int64_t rank = GraphBuilder::rankOf(array);
  if (rank == 0)
    return graph.scalarOf(array);
  if (rank != 2) {
    Values sizes = graph.sizes(array);
    array = graph.view(array, {sizes[0], graph.product(llvm::ArrayRef(sizes).drop_front())});
  }
  return graph.cast(array, ElementType::F64);
}

} // namespace tokamak::frontend
