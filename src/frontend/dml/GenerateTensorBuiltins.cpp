// Tensors: arrays whose number of dimensions is not 2. It is known before the run, their sizes need not be.
#include "frontend/dml/ArgumentValue.h"
#include "frontend/dml/FunctionGenerator.h"
#include "frontend/onnx/GraphBuilder.h"

#include "llvm/ADT/StringExtras.h"

namespace tokamak::frontend {

using mlir::Value;

constexpr int64_t mostDimensions = 8; // of arrays at run time (Shape::maxRank)

// The number of cells of a matrix that is written out or filled, if its sizes are.
static std::optional<int64_t> knownLength(Value matrix) {
  auto length = [](Value rows, Value columns) -> std::optional<int64_t> {
    auto m = constantInteger(rows), n = constantInteger(columns);
    bool isSmall = m && n && *m >= 0 && *n >= 0 && *m <= mostDimensions && *n <= mostDimensions;
    return isSmall ? std::optional(*m * *n) : std::nullopt;
  };
  mlir::Operation *made = matrix.getDefiningOp();
  if (auto parsed = llvm::dyn_cast_or_null<tok::ParseMatrixOp>(made))
    return length(parsed.getRows(), parsed.getColumns());
  if (auto filled = llvm::dyn_cast_or_null<tok::FillOp>(made))
    return length(filled.getRows(), filled.getColumns());
  if (auto reshaped = llvm::dyn_cast_or_null<tok::ReshapeOp>(made))
    return length(reshaped.getRows(), reshaped.getColumns());
  return std::nullopt;
}

// The sizes of a tensor, from "2 3 4", list(2, 3, 4), or a matrix of so many cells. Empty after errors.
llvm::SmallVector<Value> FunctionGenerator::dimensions(Value dims, SourceRange place) {
  llvm::SmallVector<Value> sizes;
  auto fail = [&](const std::string &message) -> llvm::SmallVector<Value> {
    module_.error(place, message)
        .note("dims=\"2 3 4\" and dims=list(2, 3, n) are sizes of three dimensions");
    return {};
  };
  if (auto text = constantText(dims)) {
    llvm::SmallVector<llvm::StringRef> words;
    llvm::SplitString(*text, words, " \t\n,");
    for (llvm::StringRef word : words) {
      int64_t size = 0;
      if (word.getAsInteger(10, size))
        return fail("'" + word.str() + "' is no size of a dimension");
      sizes.push_back(constant(size, location(place)));
    }
  } else if (auto list = dims.getDefiningOp<tok::ListOp>()) {
    for (Value element : list.getElements())
      sizes.push_back(convert(element, ParameterType::Integer, "a size of a dimension", place));
    if (llvm::is_contained(sizes, Value()))
      return {};
  } else if (tok::isArray(dims.getType()) && !tok::isTensor(dims.getType()) && knownLength(dims)) {
    Value count = constant(*knownLength(dims), location(place)), one = constant(1, location(place));
    Value row =
        builder_.create<tok::ReshapeOp>(location(place), matrixType(), dims, one, count,
                                        builder_.create<tok::ConstantOp>(location(place), true));
    for (int64_t i = 1; i <= *knownLength(dims); ++i) {
      Value at = constant(i, location(place));
      Value cell =
          builder_.create<tok::SliceOp>(location(place), matrixType(), row, one, one, at, at);
      sizes.push_back(
          castTo(castTo(cell, builder_.getF64Type(), place), builder_.getI64Type(), place));
    }
  } else {
    return fail("the number of dimensions must be known before the run");
  }
  if (sizes.empty() || std::ssize(sizes) > mostDimensions)
    return fail("a tensor has 1 to " + std::to_string(mostDimensions) + " dimensions, got " +
                std::to_string(sizes.size()));
  return sizes;
}

// Without byrow the first dimension runs fastest, in the data and in the result.
Value FunctionGenerator::emitTensor(BuiltinCall &call) {
  Value data = call.operands[0];
  mlir::Type type = data.getType();
  llvm::SmallVector<Value> sizes = dimensions(call.operands[1], placeOf(*call.arguments[1]));
  if (sizes.empty())
    return {};
  std::optional<bool> byRow = literalByRow(call, 2);
  if (!byRow)
    return {};
  onnx::GraphBuilder graph(builder_);
  graph.setLocation(call.location);
  Value cells = graph.product(sizes), one = constant(1, call.location);
  if (Value column = filled(call, cells, one))
    return graph.view(column, sizes);
  if (llvm::isa<tok::StringType>(type)) {
    data = builder_.create<tok::ParseMatrixOp>(call.location, matrixType(), data, cells, one);
  } else if (!tok::isArray(type)) {
    module_.error(placeOf(*call.arguments[0]),
                  "a tensor is made of a number, a string of numbers, a matrix or a tensor, got " +
                      tok::describeType(type).str());
    return {};
  }
  if (*byRow)
    return graph.view(data, sizes);
  llvm::SmallVector<int64_t> reversed;
  for (int64_t i = onnx::GraphBuilder::rankOf(data); i-- > 0;)
    reversed.push_back(i);
  if (!llvm::isa<tok::StringType>(type))
    data = graph.permute(data, reversed);
  reversed.clear();
  for (auto i = static_cast<int64_t>(sizes.size()); i-- > 0;)
    reversed.push_back(i);
  return graph.permute(graph.view(data, llvm::to_vector(llvm::reverse(sizes))), reversed);
}

// rand(rows=, cols=) or rand(dims=).
Value FunctionGenerator::emitRand(BuiltinCall &call) {
  Value dims = call.operands.pop_back_val();
  llvm::SmallVector<Value> sizes;
  if (dims) {
    for (size_t size : {0, 1})
      if (call.arguments[size]) {
        module_.error(placeOf(*call.arguments[size]), "'rand' has either dims or rows and cols");
        return {};
      }
    sizes = dimensions(dims, placeOf(*call.arguments.back()));
    if (sizes.empty())
      return {};
  }
  onnx::GraphBuilder graph(builder_);
  graph.setLocation(call.location);
  if (dims)
    call.operands[0] = graph.product(sizes);
  Value matrix = builder_.create<tok::RandOp>(call.location, matrixType(), call.operands);
  return dims ? graph.view(matrix, sizes) : matrix;
}

} // namespace tokamak::frontend
