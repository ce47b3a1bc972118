#include "reference/ScalarMeaning.h"

#include "reference/MatrixAccess.h"
#include "runtime/values/Frame.h"
#include "runtime/values/ScalarOperations.h"

#include <optional>

namespace tokamak::reference {
namespace {

// The text of an operand in a message: a string in quotes, a number as it prints, anything else by
// its type.
std::string shown(const Value &value) {
  if (value.isString())
    return fmt::format("\"{}\"", value.text());
  return value.isNumber() ? value.asText() : std::string(value.describe());
}

// Compares as integers: above 2^53 different integers may round to the same double.
Value comparisonOfIntegers(BinaryOperator op, int64_t a, int64_t b) {
  int order = a < b ? -1 : a > b ? 1 : 0;
  return evaluate(op, order, 0) != 0;
}

Value comparisonOfTexts(BinaryOperator op, const std::string &a, const std::string &b) {
  return evaluate(op, a.compare(b), 0) != 0;
}

Value arithmeticOfIntegers(BinaryOperator op, int64_t a, int64_t b) {
  if (std::optional<int64_t> result = evaluateInteger(op, a, b))
    return *result;
  if (op == BinaryOperator::IntDiv && b == 0)
    throw Error(fmt::format("integer division by zero in {} %/% 0", a));
  throw Error(fmt::format("integer overflow in {} {} {}", a, spelling(op), b));
}

// Converts the result of an operator that was computed in doubles.
Value typedResult(CellResult type, double result) {
  if (type == CellResult::Boolean)
    return result != 0;
  return result;
}

// The element of a list of length one.
const Value &onlyElement(const Value &list) {
  size_t size = list.list()->elements.size();
  if (size != 1)
    throw Error(fmt::format("expected a list of one element, got a list of {} elements", size));
  return list.list()->elements.front();
}

// The scalar inside a 1x1 matrix or a list of one element, recursively; a scalar itself.
Value scalarInside(const Value &value) {
  if (value.isList())
    return scalarInside(onlyElement(value));
  if (value.isFrame())
    return runtime::scalarOfFrame(*value.frame());
  if (!value.isArray())
    return value;
  if (value.array()->cells() != 1)
    throw Error(fmt::format("as.scalar: expected a 1x1 matrix, got one of {}",
                            value.array()->shape().text()));
  return arrayOf(value, "as.scalar").data()[0];
}

} // namespace

Value unaryOfScalar(UnaryOperator op, const Value &operand) {
  if (!operand.isNumber())
    throw Error(fmt::format("{}: expected a number, got {}", spelling(op), shown(operand)));
  if (operand.isInteger() && resultOf(op) == CellResult::Number) {
    if (std::optional<int64_t> result = evaluateInteger(op, operand.asInteger()))
      return *result;
    throw Error(fmt::format("integer overflow in {}({})", spelling(op), operand.asText()));
  }
  return typedResult(resultOf(op), evaluate(op, operand.asDouble()));
}

Value binaryOfScalars(BinaryOperator op, const Value &lhs, const Value &rhs) {
  if (lhs.isString() || rhs.isString()) {
    if (op == BinaryOperator::Add)
      return concat(lhs, rhs);
    if (isComparison(op) && lhs.isScalar() && rhs.isScalar())
      return comparisonOfTexts(op, lhs.asText(), rhs.asText());
  }
  if (!lhs.isNumber() || !rhs.isNumber())
    throw Error(fmt::format("cannot compute {} {} {}: the operands must be numbers", shown(lhs),
                            spelling(op), shown(rhs)));
  if (lhs.isInteger() && rhs.isInteger()) {
    if (isComparison(op))
      return comparisonOfIntegers(op, lhs.asInteger(), rhs.asInteger());
    if (resultOf(op) == CellResult::Number)
      return arithmeticOfIntegers(op, lhs.asInteger(), rhs.asInteger());
  }
  return typedResult(resultOf(op), evaluate(op, lhs.asDouble(), rhs.asDouble()));
}

Value concat(const Value &lhs, const Value &rhs) { return runtime::concatenate(lhs, rhs); }

Value castToBoolean(const Value &value) {
  Value scalar = scalarInside(value);
  if (!scalar.isString())
    return scalar.asBoolean();
  if (std::optional<bool> truth = runtime::parseBoolean(scalar.text()))
    return *truth;
  if (std::optional<double> number = runtime::parseDouble(scalar.text()))
    return *number != 0;
  throw Error(fmt::format("cannot convert {} to a boolean", shown(scalar)));
}

Value castToInteger(const Value &value) {
  Value scalar = scalarInside(value);
  if (!scalar.isString())
    return scalar.asInteger();
  if (std::optional<int64_t> integer = runtime::parseInteger(scalar.text()))
    return *integer;
  if (std::optional<double> number = runtime::parseDouble(scalar.text()))
    return truncateToInteger(*number);
  throw Error(fmt::format("cannot convert {} to an integer", shown(scalar)));
}

Value castToDouble(const Value &value) {
  Value scalar = scalarInside(value);
  if (!scalar.isString())
    return scalar.asDouble();
  if (std::optional<double> number = runtime::parseDouble(scalar.text()))
    return *number;
  throw Error(fmt::format("cannot convert {} to a number", shown(scalar)));
}

Value castToScalar(const Value &value) {
  Value scalar = scalarInside(value);
  if (!scalar.isScalar())
    throw Error(fmt::format("cannot convert {} to a scalar", scalar.describe()));
  return scalar;
}

Value castToMatrix(const Value &value) {
  if (value.isArray())
    return value;
  if (value.isFrame())
    return runtime::matrixOfFrame(*value.frame());
  if (!value.isList())
    return Array::filled({1, 1}, castToDouble(value).asDouble());
  const std::vector<Value> &elements = value.list()->elements;
  if (elements.size() == 1) {
    Value matrix = castToMatrix(elements.front());
    if (const runtime::Shape &shape = matrix.array()->shape(); shape.rank() != 2)
      throw Error(fmt::format("as.matrix: expected a matrix, got a tensor of {}", shape.text()));
    return matrix;
  }
  ArrayPointer column = Array::create({static_cast<int64_t>(elements.size()), 1});
  for (size_t i = 0; i < elements.size(); ++i)
    cellOf(*column, static_cast<int64_t>(i), 0) = castToDouble(elements[i]).asDouble();
  return column;
}

Value castToFrame(const Value &value) { return runtime::frameOf(value); }

Value castToList(const Value &value) {
  if (!value.isList())
    throw Error(fmt::format("as.list: expected a list, got {}", value.describe()));
  const std::vector<Value> &elements = value.list()->elements;
  return elements.size() == 1 && elements.front().isList() ? elements.front() : value;
}

} // namespace tokamak::reference
