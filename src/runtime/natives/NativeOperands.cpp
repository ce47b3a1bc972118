#include "runtime/natives/NativeOperands.h"

using namespace tokamak;
using namespace tokamak::runtime;

const Array &runtime::matrixOperand(const Value &value, std::string_view native) {
  if (!value.isArray())
    throw Error(fmt::format("{}: expected a matrix, got {}", native, value.describe()));
  if (value.array()->elementType() != ElementType::F64 || value.array()->shape().rank() != 2)
    throw Error(fmt::format("{}: expected a matrix of doubles", native));
  return *value.array();
}

const Array &runtime::denseOperand(const Value &value, std::string_view native) {
  if (!value.isArray())
    throw Error(fmt::format("{}: expected a matrix, got {}", native, value.describe()));
  return *value.array();
}

const Array &runtime::denseMatrixOperand(const Value &value, std::string_view native) {
  const Array &array = denseOperand(value, native);
  if (array.shape().rank() != 2)
    throw Error(
        fmt::format("{}: expected a matrix, got an array of {}", native, array.shape().text()));
  return array;
}

int64_t runtime::sizeOfDimension(const Value &value, std::string_view native, int dimension) {
  int64_t size = value.asInteger();
  return size >= 0 && size <= largestSize
             ? size
             : checkedSize(size, native, fmt::format("cells along dimension {}", dimension + 1));
}

const std::string &runtime::textOperand(const Value &value, std::string_view native,
                                        std::string_view what) {
  if (!value.isString())
    throw Error(fmt::format("{}: {} must be a string, got {}", native, what, value.describe()));
  return value.text();
}

ArrayPointer runtime::takeOrCopy(Value &operand) {
  if (isSoleOwner(operand)) {
    auto array = std::const_pointer_cast<Array>(operand.array());
    operand = Value();
    return array;
  }
  return operand.array()->copy();
}

std::shared_ptr<List> runtime::takeOrCopyList(Value &operand) {
  if (!hasSoleOwner(operand.list()))
    return std::make_shared<List>(*operand.list());
  auto list = std::const_pointer_cast<List>(operand.list());
  operand = Value();
  return list;
}

ArrayPointer runtime::filledWith(ExecutionContext &context, const Shape &shape, ElementType type,
                                 const Value &number) {
  if (shape.cells() >= repeatedLeastCells)
    return withCellType(type, [&]<typename Cell>() {
      return Array::repeated(shape, type, cellFrom<Cell>(number));
    });
  ArrayPointer array = Array::create(shape, type);
  withCellType(type, [&]<typename Cell>() {
    Cell value = cellFrom<Cell>(number);
    auto *cells = array->mutableCellsAs<Cell>();
    forEachRange(context, array->cells(), parallelGrain,
                 [&](int64_t begin, int64_t end) { std::fill(cells + begin, cells + end, value); });
  });
  return array;
}
