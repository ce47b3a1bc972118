// Convolutions and pools of images, which DML keeps as rows of a matrix: N x (C*H*W), filters K x (C*R*S). Their
// gradients are convolutions and pools, too, with the places of the windows looked at from the other side. And einsum.
#include "frontend/dml/FunctionGenerator.h"
#include "frontend/onnx/rules/AlongDimension.h"
#include "frontend/onnx/rules/Einsum.h"

#include "base/Error.h"

#include <limits>
#include <map>

namespace tokamak::frontend {

using mlir::Value;
using onnx::Binary;
using onnx::GraphBuilder;
using onnx::KeepDimensions;
using onnx::Values;

namespace {

// One of the two dimensions along which windows move.
struct Along {
  Value image, window; // sizes
  Value stride, padding, count;
};

struct Shapes {
  Value images, channels, filters; // filters: null for pools
  Along rows, columns;

  Values ofImage() const { return {images, channels, rows.image, columns.image}; }
  Values ofFilters() const { return {filters, channels, rows.window, columns.window}; }
  Values ofResult() const {
    return {images, filters ? filters : channels, rows.count, columns.count};
  }
};

// The six numbers of each dimension, as natives of windows take them (base/Natives.def).
// Where each window lies in the image.
Values windowsOfImage(GraphBuilder &graph, const Shapes &shapes) {
  Values numbers;
  for (const Along &along : {shapes.rows, shapes.columns}) {
    Value first = graph.scalar(Binary::Sub, graph.integer(1), along.padding);
    numbers.append(
        {along.count, along.window, first, along.stride, graph.integer(1), graph.integer(1)});
  }
  return numbers;
}

// For each cell of the image, where the results lie whose windows have it: in reverse order, since the next place of a
// window is that of the window before.
Values resultsOfCells(GraphBuilder &graph, const Shapes &shapes) {
  Values numbers;
  for (const Along &along : {shapes.rows, shapes.columns}) {
    Value first = graph.scalar(Binary::Add, along.padding, graph.integer(1));
    numbers.append(
        {along.image, along.window, first, graph.integer(1), graph.integer(-1), along.stride});
  }
  return numbers;
}

// For each place of a filter, the cells of the image that it meets, one for each window.
Values cellsOfPlaces(GraphBuilder &graph, const Shapes &shapes) {
  Values numbers;
  for (const Along &along : {shapes.rows, shapes.columns}) {
    Value first = graph.scalar(Binary::Sub, graph.integer(1), along.padding);
    numbers.append(
        {along.window, along.count, first, graph.integer(1), along.stride, graph.integer(1)});
  }
  return numbers;
}

Value asRows(GraphBuilder &graph, Value array) {
  Values sizes = graph.sizes(array);
  return graph.view(array, {sizes[0], graph.product(llvm::ArrayRef(sizes).drop_front())});
}

Value convolution(GraphBuilder &graph, const Shapes &shapes, Value image, Value filters) {
  return graph.convolve(graph.view(image, shapes.ofImage()),
                        graph.view(filters, shapes.ofFilters()), graph.integer(1),
                        windowsOfImage(graph, shapes));
}

Value gradientOfImage(GraphBuilder &graph, const Shapes &shapes, Value filters, Value gradient) {
  Value turned = graph.permute(graph.view(filters, shapes.ofFilters()), {1, 0, 2, 3});
  return graph.convolve(graph.view(gradient, shapes.ofResult()), turned, graph.integer(1),
                        resultsOfCells(graph, shapes));
}

// A convolution of the images with the gradients, summed over the images as others are over channels.
Value gradientOfFilters(GraphBuilder &graph, const Shapes &shapes, Value image, Value gradient) {
  Value channels = graph.permute(graph.view(image, shapes.ofImage()), {1, 0, 2, 3}),
        weights = graph.permute(graph.view(gradient, shapes.ofResult()), {1, 0, 2, 3});
  Value sums = graph.convolve(channels, weights, graph.integer(1), cellsOfPlaces(graph, shapes));
  return graph.permute(sums, {1, 0, 2, 3});
}

// Whether both are the same size of one array, or one value.
bool isSameSize(Value a, Value b) {
  mlir::Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  return a == b || (first && second && llvm::isa<tok::RowsOp, tok::ColumnsOp, tok::SizeOp>(first) &&
                    mlir::OperationEquivalence::isEquivalentTo(
                        first, second, mlir::OperationEquivalence::IgnoreLocations));
}

Value cellsOfWindow(GraphBuilder &graph, const Shapes &shapes) {
  return graph.scalar(Binary::Mul, shapes.rows.window, shapes.columns.window);
}

// Cells that are added around the image count as zeros.
Value meanOfWindows(GraphBuilder &graph, const Shapes &shapes, Value sums) {
  return graph.binary(Binary::Div, sums, graph.inDoubles(cellsOfWindow(graph, shapes)));
}

Value averagePool(GraphBuilder &graph, const Shapes &shapes, Value image) {
  Value sums =
      graph.pool(graph.view(image, shapes.ofImage()), "sum", windowsOfImage(graph, shapes));
  return meanOfWindows(graph, shapes, sums);
}

Value gradientOfAveragePool(GraphBuilder &graph, const Shapes &shapes, Value gradient) {
  Value sums =
      graph.pool(graph.view(gradient, shapes.ofResult()), "sum", resultsOfCells(graph, shapes));
  return meanOfWindows(graph, shapes, sums);
}

// Each gradient goes to the first of the largest cells of its window.
Value gradientOfMaxPool(GraphBuilder &graph, const Shapes &shapes, Value image, Value gradient) {
  Values numbers = windowsOfImage(graph, shapes);
  Value windows = graph.scalar(Binary::Mul, shapes.rows.count, shapes.columns.count),
        cells = cellsOfWindow(graph, shapes),
        area = graph.scalar(Binary::Mul, shapes.rows.image, shapes.columns.image),
        planes = graph.scalar(Binary::Mul, shapes.images, shapes.channels);
  Value least = graph.real(-std::numeric_limits<double>::infinity());
  Value flat = graph.view(graph.windows(graph.view(image, shapes.ofImage()), least, numbers),
                          {planes, windows, cells});
  Value largest =
      onnx::placeFromZero(graph, AggregateKind::FirstIndexMax, flat, 2, KeepDimensions::No);
  // The number of the cell, from 0, at each place of each window of one plane; -1 outside.
  mlir::Type whole = graph.builder().getI64Type();
  Value plane = graph.view(graph.places(area, whole), {shapes.rows.image, shapes.columns.image});
  Value inPlane = graph.view(graph.windows(plane, graph.integer(-1), numbers),
                             {graph.scalar(Binary::Mul, windows, cells)});
  Value begins = graph.binary(Binary::Mul, graph.places(windows, whole), cells);
  Value there = graph.take(inPlane, graph.binary(Binary::Add, largest, begins), 0);
  Value before = graph.binary(Binary::Mul, graph.places(planes, whole), area);
  Value places = graph.binary(Binary::Add, there, graph.view(before, {planes, graph.integer(1)}));
  Value zeros =
      graph.filled(0, graph.builder().getF64Type(), {graph.scalar(Binary::Mul, planes, area)});
  Value add = graph.builder().create<tok::ConstantOp>(graph.location(), llvm::StringRef("add"));
  Value sums = graph.native("scatter_reduce",
                            {zeros, graph.view(gradient, {planes, windows}),
                             graph.binary(Binary::Add, places, graph.integer(1)), add},
                            1, graph.builder().getF64Type());
  return graph.view(sums, shapes.ofImage());
}

} // namespace

// The elements of [N, C, H, W], or of a list with as many integers.
llvm::SmallVector<Value> FunctionGenerator::shapeOf(BuiltinCall &call, llvm::StringRef name,
                                                    size_t count) {
  auto parameters = call.builtin.parameters();
  size_t position =
      llvm::find_if(parameters,
                    [&](const BuiltinParameter &parameter) { return parameter.name == name; }) -
      parameters.begin();
  SourceRange place = call.arguments[position]->value->range();
  Value list = call.operands[position];
  std::string purpose = "'" + name.str() + "' of '" + call.builtin.name.str() + "'";
  llvm::SmallVector<Value> elements;
  if (auto written = list.getDefiningOp<tok::ListOp>()) {
    if (written.getElements().size() != count) {
      module_.error(place, purpose + " is a list of " + std::to_string(count) + " integers, got " +
                               std::to_string(written.getElements().size()));
      return {};
    }
    for (Value element : written.getElements())
      elements.push_back(convert(element, ParameterType::Integer, purpose, place));
  } else {
    for (size_t i = 1; i <= count; ++i) {
      Value number = constant(static_cast<int64_t>(i), call.location);
      Value slice = native(call, "list_slice", listType(), {list, number, none(call.location)});
      elements.push_back(castTo(slice, builder_.getI64Type(), place));
    }
  }
  return llvm::is_contained(elements, Value()) ? llvm::SmallVector<Value>() : elements;
}

// As wholeOutput does: most of it folds away once sizes are known, and what is known to be wrong is reported then.
void FunctionGenerator::requireEqual(const EqualSizes &sizes, SourceRange place) {
  auto ownNumber = constantInteger(sizes.own), wantedNumber = constantInteger(sizes.wanted);
  bool isKnown = ownNumber && wantedNumber && *ownNumber == *wantedNumber;
  if (isKnown || isSameSize(sizes.own, sizes.wanted))
    return;
  mlir::Location at = location(place);
  auto text = [&](llvm::StringRef words) -> Value {
    return builder_.create<tok::ConstantOp>(at, words);
  };
  Value differs = binary(tokamak::BinaryOperator::Ne, sizes.own, sizes.wanted, place);
  auto check = builder_.create<tok::IfOp>(at, mlir::TypeRange(), differs);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(&check.getThenRegion().emplaceBlock());
  Value message = text(sizes.before);
  for (Value part : {sizes.own, text(sizes.between), sizes.wanted, text(sizes.behind)})
    message = binary(tokamak::BinaryOperator::Add, message, part, place);
  builder_.create<tok::RaiseOp>(at, message);
  builder_.create<tok::YieldOp>(at, mlir::ValueRange());
  builder_.setInsertionPointToStart(&check.getElseRegion().emplaceBlock());
  builder_.create<tok::YieldOp>(at, mlir::ValueRange());
}

Value FunctionGenerator::emitWindows(BuiltinCall &call) {
  llvm::StringRef name = call.builtin.name;
  bool isPool = name.contains("_pool");
  auto image = shapeOf(call, "input_shape", 4),
       window = shapeOf(call, isPool ? "pool_size" : "filter_shape", isPool ? 2 : 4),
       stride = shapeOf(call, "stride", 2), padding = shapeOf(call, "padding", 2);
  if (image.empty() || window.empty() || stride.empty() || padding.empty())
    return {};
  GraphBuilder graph(builder_);
  graph.setLocation(call.location);
  std::string problem;
  auto along = [&](size_t i) {
    Along result{image[2 + i], window[window.size() - 2 + i], stride[i], padding[i], {}};
    Value padded = graph.scalar(Binary::Add, result.image,
                                graph.scalar(Binary::Mul, result.padding, graph.integer(2)));
    Value beyond = graph.scalar(Binary::Sub, padded, result.window);
    auto room = constantInteger(beyond), step = constantInteger(result.stride);
    if (step && *step < 1)
      problem = "a stride of " + std::to_string(*step) + ": windows move by at least 1";
    else if (room && *room < 0)
      problem = "a window of " + std::to_string(*constantInteger(result.window)) +
                " is larger than the image, which has " + std::to_string(*constantInteger(padded)) +
                " with its padding";
    result.count = graph.scalar(Binary::IntDiv, graph.scalar(Binary::Add, beyond, result.stride),
                                result.stride);
    return result;
  };
  Shapes shapes{image[0], image[1], isPool ? Value() : window[0], along(0), along(1)};
  if (!problem.empty()) {
    module_.error(call.expression.calleeRange(), "'" + name.str() + "': " + problem);
    return {};
  }
  Value first = call.operands[0], second = call.operands[1];
  if (!isPool)
    requireEqual({window[1], image[1], "'" + name.str() + "': filter_shape has ",
                  " channels, but input_shape has ", ""},
                 call.expression.calleeRange());
  for (size_t i : {0, 1}) {
    llvm::StringRef operand = call.builtin.parameters()[i].name;
    if (operand == "input_shape")
      continue;
    Values sizes = operand == "X"   ? shapes.ofImage()
                   : operand == "W" ? shapes.ofFilters()
                                    : shapes.ofResult();
    llvm::StringRef rows = operand == "W" ? "K of filter_shape" : "N of input_shape",
                    columns = operand == "X"   ? "C*H*W of input_shape"
                              : operand == "W" ? "C*R*S of filter_shape"
                              : isPool         ? "C*P*Q of the result"
                                               : "K*P*Q of the result";
    std::string begin = "'" + name.str() + "': '" + operand.str() + "' has ";
    SourceRange place = call.arguments[i]->value->range();
    mlir::Type whole = builder_.getI64Type();
    Value matrix = call.operands[i];
    requireEqual({builder_.create<tok::RowsOp>(call.location, whole, matrix), sizes[0], begin,
                  " rows, but " + rows.str() + " is ", ""},
                 place);
    requireEqual({builder_.create<tok::ColumnsOp>(call.location, whole, matrix),
                  graph.product(llvm::ArrayRef(sizes).drop_front()), begin,
                  " columns, but " + columns.str() + " is ", ""},
                 place);
  }
  Value result;
  if (name == "conv2d")
    result = convolution(graph, shapes, first, second);
  else if (name == "conv2d_backward_filter")
    result = gradientOfFilters(graph, shapes, first, second);
  else if (name == "conv2d_backward_data")
    result = gradientOfImage(graph, shapes, first, second);
  else if (name == "max_pool")
    result = graph.pool(graph.view(first, shapes.ofImage()), "max", windowsOfImage(graph, shapes));
  else if (name == "avg_pool")
    result = averagePool(graph, shapes, first);
  else if (name == "max_pool_backward")
    result = gradientOfMaxPool(graph, shapes, first, second);
  else
    result = gradientOfAveragePool(graph, shapes, second);
  return asRows(graph, result);
}

// einsum("ij,jk->ik", A, B): one letter stands for the cells of a vector. The result is a number, a column or a matrix.
Value FunctionGenerator::emitEinsum(BuiltinCall &call) {
  auto equation = call.operands.empty() ? std::nullopt : constantText(call.operands[0]);
  if (!equation) {
    module_.error(call.expression.calleeRange(),
                  "'einsum' needs its equation first, as a string that is known before the run: "
                  "einsum(\"ij,jk->ik\", A, B)");
    return {};
  }
  GraphBuilder graph(builder_);
  graph.setLocation(call.location);
  std::string text = equation->str();
  llvm::erase(text, ' ');
  llvm::SmallVector<llvm::StringRef> terms;
  llvm::StringRef(text).split("->").first.split(terms, ',');
  llvm::SmallVector<Value> operands;
  std::map<char, std::pair<Value, std::string>> known; // by letter: its size and what that is
  auto give = [&](char letter, Value size, const std::string &what, SourceRange place) {
    auto [entry, isNew] = known.try_emplace(letter, size, what);
    if (!isNew)
      requireEqual({size, entry->second.first, std::string("einsum: '") + letter + "' stands for ",
                    " " + what + ", but for ", " " + entry->second.second},
                   place);
  };
  for (auto [i, operand] : llvm::enumerate(llvm::drop_begin(call.operands))) {
    Value matrix =
        convert(operand, ParameterType::Matrix, "'einsum'", call.arguments[i + 1]->value->range());
    if (!matrix)
      return {};
    bool isVector = i < terms.size() && terms[i].size() == 1;
    Values sizes = isVector ? Values{graph.product(graph.sizes(matrix))} : graph.sizes(matrix);
    operands.push_back(isVector ? graph.view(matrix, sizes) : matrix);
    if (i >= terms.size() || terms[i].size() != sizes.size())
      continue;
    SourceRange place = call.arguments[i + 1]->value->range();
    std::string behind = " of operand " + std::to_string(i + 1);
    give(terms[i][0], sizes[0], (isVector ? "cells" : "rows") + behind, place);
    if (!isVector)
      give(terms[i][1], sizes[1], "columns" + behind, place);
  }
  try {
    Value result = onnx::einsum(graph, text, operands);
    switch (GraphBuilder::rankOf(result)) {
    case 0:
      return graph.scalarOf(result);
    case 1:
      return graph.view(result, {graph.size(result, 0), graph.integer(1)});
    case 2:
      return result;
    default:
      throw Error("the result has more than two dimensions");
    }
  } catch (const Error &problem) {
    module_.error(call.arguments[0]->value->range(), "einsum: " + problem.message());
    return {};
  }
}

} // namespace tokamak::frontend
