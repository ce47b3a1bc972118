#include "reference/TypedMeaning.h"

#include "base/Error.h"
#include "reference/MatrixAccess.h"
#include "reference/TensorMeaning.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tokamak::reference {
namespace {

using runtime::Shape;

// The cells of an array of integers or i1 as 64 bits; those of a ui64 are read as an int64_t.
std::vector<int64_t> integersOf(const Array &array) {
  std::vector<int64_t> cells(array.cells());
  withCellType(array.elementType(), [&]<typename Cell>() {
    for (int64_t i = 0; i < array.cells(); ++i)
      if constexpr (!isFloatCell<Cell>)
        cells[i] = static_cast<int64_t>(array.cellsAs<Cell>()[i]);
  });
  return cells;
}

// An array of these cells, reduced to the lowest bits that the type has.
Value arrayOfIntegers(const std::vector<int64_t> &cells, const Shape &shape, ElementType type) {
  ArrayPointer array = Array::create(shape, type);
  withCellType(type, [&]<typename Cell>() {
    std::transform(cells.begin(), cells.end(), array->mutableCellsAs<Cell>(),
                   convertCell<Cell, int64_t>);
  });
  return array;
}

// An operand of an elementwise operator: an array, or a number that goes with every cell.
struct Cells {
  Shape shape;
  std::vector<int64_t> cells;
  explicit Cells(const Value &value) {
    if (value.isArray()) {
      shape = value.array()->shape();
      cells = integersOf(*value.array());
    } else {
      cells = {value.isBoolean() ? int64_t{value.asBoolean()} : value.asInteger()};
    }
  }
  int64_t at(const Shape &whole, int64_t cell) const {
    return shape.rank() == 0 ? cells[0] : cells[broadcastCell(whole, shape, cell)];
  }
};

int64_t extremeOf(AggregateKind kind, ElementType type, std::span<const int64_t> cells) {
  bool isMin = kind == AggregateKind::Min;
  int64_t extreme = isMin ? largestInteger(type) : leastInteger(type);
  for (int64_t cell : cells)
    extreme = evaluate(isMin ? BinaryOperator::Min : BinaryOperator::Max, type, extreme, cell);
  return extreme;
}

// The index (from 1) of the last cell that is `better` than or equal to those before.
int64_t indexOfExtreme(BinaryOperator better, ElementType type, std::span<const int64_t> cells) {
  size_t best = 0;
  for (size_t i = 1; i < cells.size(); ++i)
    if (evaluate(better, type, cells[i], cells[best]) != 0)
      best = i;
  return static_cast<int64_t>(best + 1);
}

// An index that the type of the result can't hold is the largest that it can, as one that is computed as a double.
int64_t indexAs(ElementType type, int64_t index) {
  return withCellType(type, [&]<typename Cell>() {
    return convertCell<int64_t>(convertCell<Cell>(static_cast<double>(index)));
  });
}

int64_t reduceIntegers(AggregateKind kind, ElementType type, std::span<const int64_t> cells) {
  int64_t total = kind == AggregateKind::Prod;
  switch (kind) {
  case AggregateKind::Sum:
    for (int64_t cell : cells)
      total = evaluate(BinaryOperator::Add, ElementType::I64, total, cell);
    return total;
  case AggregateKind::Prod:
    for (int64_t cell : cells)
      total = evaluate(BinaryOperator::Mul, ElementType::I64, total, cell);
    return total;
  case AggregateKind::Min:
  case AggregateKind::Max:
    return extremeOf(kind, type, cells);
  case AggregateKind::IndexMax:
  case AggregateKind::IndexMin:
  case AggregateKind::FirstIndexMax:
  case AggregateKind::FirstIndexMin:
    return indexOfExtreme(replacingComparison(kind), type, cells);
  case AggregateKind::Mean:
  case AggregateKind::Var:
  case AggregateKind::Sd:
    break;
  }
  internalError("an aggregation that is not of integers");
}

Value withBitsOf(const Value &value, ElementType type) {
  ArrayPointer result = Array::create(value.array()->shape(), type); // of the same size
  std::memcpy(result->mutableBytes(), value.array()->rawBytes(),
              static_cast<size_t>(value.array()->bytes()));
  return result;
}

} // namespace

Value converted(const Value &array, ElementType from, ElementType to) {
  const Array &source = *array.array();
  ArrayPointer result = Array::create(source.shape(), isFloat(to) ? ElementType::F64 : to);
  // Through the type itself, so that an integer is rounded once.
  withCellType(to, [&]<typename To>() {
    withCellType(isFloat(from) ? ElementType::F64 : from, [&]<typename From>() {
      using Held = std::conditional_t<isFloatCell<To>, double, To>;
      const From *cells = source.cellsAs<From>();
      Held *converted = result->mutableCellsAs<Held>();
      for (int64_t i = 0; i < source.cells(); ++i)
        converted[i] = convertCell<Held>(convertCell<To>(cells[i]));
    });
  });
  return result;
}

Value bitcast(const Value &array, const Value &from, const Value &to) {
  std::optional<ElementType> own = elementTypeNamed(from.text()),
                             other = elementTypeNamed(to.text());
  if (!array.isArray() || !own || !other || byteSize(*own) != byteSize(*other))
    throw Error(fmt::format("bitcast: {} for {}", to.text(), from.text()));
  Value bits = Array::withElementType(array.array(), *own);
  if (*other == ElementType::Bool)
    return Array::withElementType(withBitsOf(bits, ElementType::U8).array(), ElementType::Bool);
  Value cells = withBitsOf(bits, *other);
  return isFloat(*other) ? Value(Array::withElementType(cells.array(), ElementType::F64)) : cells;
}

Value scalarBeside(ElementType type, const Value &number) {
  if (!number.isNumber())
    return number;
  return withCellType(type, [&]<typename Cell>() -> Value {
    Cell cell = number.isInteger() ? convertCell<Cell>(number.asInteger())
                                   : convertCell<Cell>(number.asDouble());
    if constexpr (isFloatCell<Cell>)
      return convertCell<double>(cell);
    else
      return static_cast<int64_t>(cell);
  });
}

Value scalarOfIntegers(const Value &array) {
  if (array.array()->cells() != 1)
    throw Error(fmt::format("as.scalar: expected a 1x1 matrix, got one of {}",
                            array.array()->shape().text()));
  int64_t cell = integersOf(*array.array())[0];
  ElementType type = array.array()->elementType();
  if (type == ElementType::Bool)
    return cell != 0;
  return type == ElementType::U64 && cell < 0 ? Value(doubleOf(type, cell)) : Value(cell);
}

Value movedIntegers(std::span<const Value> operands, ElementType type,
                    const std::function<Value(std::span<const Value>)> &move) {
  std::vector<Value> bits(operands.begin(), operands.end());
  for (Value &operand : bits)
    if (operand.isArray())
      operand = withBitsOf(
          arrayOfIntegers(integersOf(*operand.array()), operand.array()->shape(), ElementType::I64),
          ElementType::F64);
  Value moved = withBitsOf(move(bits), ElementType::I64);
  return converted(moved, ElementType::I64, type);
}

Value unaryOfIntegers(UnaryOperator op, const Value &operand, ElementType result) {
  std::vector<int64_t> cells = integersOf(*operand.array());
  for (int64_t &cell : cells)
    cell = evaluate(op, operand.array()->elementType(), cell);
  return arrayOfIntegers(cells, operand.array()->shape(), result);
}

Value binaryOfIntegers(BinaryOperator op, const Value &lhs, const Value &rhs, ElementType result,
                       BinarySizes sizes) {
  Cells left(lhs), right(rhs);
  ElementType type = (lhs.isArray() ? lhs : rhs).array()->elementType();
  Shape shape = !rhs.isArray()   ? left.shape
                : !lhs.isArray() ? right.shape
                                 : shapeOfBinary(op, left.shape, right.shape, sizes);
  std::vector<int64_t> cells(shape.cells());
  for (int64_t i = 0; i < shape.cells(); ++i)
    cells[i] = evaluate(op, type, left.at(shape, i), right.at(shape, i));
  return arrayOfIntegers(cells, shape, result);
}

Value aggregateIntegers(AggregateKind kind, AggregateDirection direction, const Value &operand,
                        ElementType result) {
  const Array &x = *operand.array();
  std::vector<int64_t> cells = integersOf(x);
  if (direction == AggregateDirection::Full)
    return reduceIntegers(kind, x.elementType(), cells);
  bool rows = direction == AggregateDirection::Row;
  Shape shape = rows ? x.shape().withLast(1) : Shape{1, x.columns()};
  int64_t columns = x.shape()[x.shape().rank() - 1];
  int64_t length = rows ? columns : x.rows();
  std::vector<int64_t> totals;
  for (int64_t i = 0; i < shape.cells(); ++i) {
    std::vector<int64_t> line;
    for (int64_t j = 0; j < length; ++j)
      line.push_back(cells[rows ? i * columns + j : j * columns + i]);
    int64_t total = reduceIntegers(kind, x.elementType(), line);
    totals.push_back(isIndex(kind) ? indexAs(result, total) : total);
  }
  return arrayOfIntegers(totals, shape, result);
}

Value multiplyIntegers(const Value &lhs, const Value &rhs, ElementType result) {
  const Array &x = *lhs.array(), &y = *rhs.array();
  MatrixProduct product(x.shape(), y.shape());
  std::vector<int64_t> left = integersOf(x), right = integersOf(y);
  std::vector<int64_t> cells(product.result().cells());
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    auto [row, column] = product.factorsOf(static_cast<int64_t>(cell));
    for (int64_t k = 0; k < product.inner; ++k)
      cells[cell] = evaluate(BinaryOperator::Add, ElementType::I64, cells[cell],
                             evaluate(BinaryOperator::Mul, ElementType::I64, left[row + k],
                                      right[column + k * product.columns]));
  }
  return arrayOfIntegers(cells, product.result(), result);
}

} // namespace tokamak::reference
