// What changes the shapes of arrays or the places of their cells.
#include "frontend/onnx/GraphBuilder.h"

#include "base/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

Value GraphBuilder::view(Value array, ArrayRef<Value> sizes) {
  auto type = arrayType(static_cast<int64_t>(sizes.size()), elementOf(array));
  return builder_.create<tok::ViewOp>(location_, type, array, sizes);
}

Value GraphBuilder::squeeze(Value array, ArrayRef<int64_t> dimensions) {
  if (dimensions.empty())
    return array;
  Values kept;
  for (int64_t i = 0; i < rankOf(array); ++i)
    if (!llvm::is_contained(dimensions, i))
      kept.push_back(size(array, i));
  return view(array, kept);
}

Value GraphBuilder::unsqueeze(Value array, ArrayRef<int64_t> dimensions) {
  if (dimensions.empty())
    return array;
  Values all;
  int64_t own = 0, rank = rankOf(array) + static_cast<int64_t>(dimensions.size());
  for (int64_t i = 0; i < rank; ++i)
    all.push_back(llvm::is_contained(dimensions, i) ? integer(1) : size(array, own++));
  return view(array, all);
}

Value GraphBuilder::native(StringRef name, ArrayRef<Value> operands, int64_t rank,
                           mlir::Type element) {
  return builder_
      .create<tok::CallNativeOp>(location_, TypeRange(arrayType(rank, element)), name, operands)
      .getResult(0);
}

Value GraphBuilder::startingAt(Value array, int64_t dimension, int64_t rank) {
  return unsqueeze(array, numbersFrom(rankOf(array), rank - dimension));
}

Value GraphBuilder::withRank(Value array, int64_t rank) {
  return unsqueeze(array, numbersFrom(0, rank - rankOf(array)));
}

Value GraphBuilder::broadcast(Value array, ArrayRef<Value> sizes) {
  auto rank = static_cast<int64_t>(sizes.size());
  Value part = withRank(array, std::max(rank, rankOf(array)));
  Values all = this->sizes(part);
  int64_t missing = rankOf(part) - rank;
  for (int64_t i = 0; i < rank; ++i) {
    Value &own = all[missing + i];
    std::optional<int64_t> asked = constantInteger(sizes[i]);
    // Where both sizes are known to be other than 1 they are equal, or the operation fails.
    if (!asked)
      own = scalar(
          BinaryOperator::Add, own,
          scalar(BinaryOperator::Mul, isOne(own), scalar(BinaryOperator::Sub, sizes[i], own)));
    else if (*asked != 1)
      own = sizes[i];
  }
  return builder_.create<tok::ExpandOp>(location_, part.getType(), part, all);
}

Value GraphBuilder::permute(Value array, ArrayRef<int64_t> order) {
  if (static_cast<int64_t>(order.size()) != rankOf(array))
    throw Error(fmt::format("an array of {} dimensions, where {} are expected", rankOf(array),
                            order.size()));
  if (llvm::is_sorted(order))
    return array;
  // Kernels read transposed matrices as they are.
  size_t rank = order.size();
  if (rank >= 2 && llvm::is_sorted(order.drop_back(2)) && order[rank - 1] + 1 == order[rank - 2] &&
      order[rank - 1] == static_cast<int64_t>(rank) - 2)
    return builder_.create<tok::TransposeOp>(location_, array.getType(), array);
  SmallVector<Value> operands = {array};
  for (int64_t dimension : order)
    operands.push_back(integer(dimension + 1));
  return native("permute", operands, rankOf(array), elementOf(array));
}

Value GraphBuilder::permuteBack(Value array, ArrayRef<int64_t> order) {
  Numbers back(order.size());
  for (auto [place, from] : llvm::enumerate(order))
    back[from] = static_cast<int64_t>(place);
  return permute(array, back);
}

Value GraphBuilder::join(ArrayRef<Value> arrays, int64_t dimension) {
  if (arrays.empty())
    throw Error("no arrays are given to be joined");
  checkSameCells(arrays);
  for (Value array : arrays)
    if (rankOf(array) != rankOf(arrays.front()))
      throw Error(fmt::format("arrays of {} and of {} dimensions can't be joined",
                              rankOf(arrays.front()), rankOf(array)));
  if (arrays.size() == 1)
    return arrays.front();
  SmallVector<Value> operands = {integer(dimension + 1)};
  llvm::append_range(operands, arrays);
  return native("join", operands, rankOf(arrays.front()), elementOf(arrays.front()));
}

Value GraphBuilder::slice(Value array, int64_t dimension, Value begin, Value size, int64_t step) {
  return slice(array, dimension, begin, size, integer(step));
}

Value GraphBuilder::slice(Value array, int64_t dimension, Value begin, Value size, Value step) {
  SmallVector<Value> operands = {array};
  for (int64_t i = 0; i < rankOf(array); ++i) {
    bool isSliced = i == dimension;
    operands.push_back(isSliced ? scalar(BinaryOperator::Add, begin, integer(1)) : integer(1));
    operands.push_back(isSliced ? size : this->size(array, i));
    operands.push_back(isSliced ? step : integer(1));
  }
  return native("strided_slice", operands, rankOf(array), elementOf(array));
}

Value GraphBuilder::part(Value array, int64_t dimension, Value place) {
  return squeeze(slice(array, dimension, place, integer(1)), {dimension});
}

Value GraphBuilder::fromZero(Value indices, Value size) {
  Value whole = cast(indices, ElementType::I64);
  Value fromEnd = binary(BinaryOperator::Add, whole, size);
  return select(binary(BinaryOperator::Lt, whole, integer(0)), fromEnd, whole);
}

Value GraphBuilder::checkedIndices(Value indices, Value size, CountFrom from) {
  Value whole = cast(indices, ElementType::I64);
  Value isFromEnd = integer(from == CountFrom::BothEnds ? 1 : 0);
  return native("checked_indices", {whole, size, isFromEnd}, rankOf(indices), elementOf(whole));
}

Value GraphBuilder::take(Value array, Value indices, int64_t dimension) {
  Value fromOne =
      binary(BinaryOperator::Add, fromZero(indices, size(array, dimension)), integer(1));
  return native("take", {array, fromOne, integer(dimension + 1)},
                rankOf(array) - 1 + rankOf(indices), elementOf(array));
}

Value GraphBuilder::placesOfElements(Value array, Value along, int64_t dimension) {
  int64_t rank = rankOf(array);
  Value cells, stride = integer(1);
  for (int64_t i = rank - 1; i >= 0; --i) {
    Value places = i == dimension
                       ? along
                       : startingAt(this->places(size(along, i), builder_.getI64Type()), i, rank);
    Value strides = binary(BinaryOperator::Mul, places, stride);
    cells = cells ? binary(BinaryOperator::Add, cells, strides) : strides;
    stride = scalar(BinaryOperator::Mul, stride, size(array, i));
  }
  return cells;
}

Value GraphBuilder::takeElements(Value array, Value along, int64_t dimension) {
  return take(view(array, {product(sizes(array))}), placesOfElements(array, along, dimension), 0);
}

Value GraphBuilder::windows(Value array, Value outside, ArrayRef<Value> numbers) {
  auto windowed = static_cast<int64_t>(numbers.size() / 6);
  SmallVector<Value> operands = {array, outside};
  llvm::append_range(operands, numbers);
  return native("windows", operands, rankOf(array) + windowed, elementOf(array));
}

Value GraphBuilder::pool(Value array, StringRef kind, ArrayRef<Value> numbers) {
  SmallVector<Value> operands = {array, builder_.create<tok::ConstantOp>(location_, kind)};
  llvm::append_range(operands, numbers);
  return native("pool", operands, rankOf(array), elementOf(array));
}

Value GraphBuilder::places(Value size, mlir::Type element) {
  // A sequence has at least one cell, so that it is made too long.
  Value column = builder_.create<tok::SeqOp>(location_, arrayType(2, builder_.getF64Type()),
                                             real(0), inDoubles(size), real(1));
  Value longer = view(column, {scalar(BinaryOperator::Add, size, integer(1))});
  return cast(slice(longer, 0, integer(0), size), element);
}
