#include "reference/CellMeaning.h"

#include "reference/MatrixAccess.h"
#include "reference/ScalarMeaning.h"
#include "reference/TensorMeaning.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <vector>

namespace tokamak::reference {
namespace {

// The number to combine with every cell of an array.
double numberBesideArray(BinaryOperator op, const Value &value) {
  if (!value.isNumber())
    throw Error(fmt::format("{}: a matrix goes with a matrix or a number, not with {}",
                            spelling(op), value.describe()));
  return value.asDouble();
}

Value binaryOfArrays(BinaryOperator op, const Array &x, const Array &y, BinarySizes sizes) {
  runtime::Shape shape = shapeOfBinary(op, x.shape(), y.shape(), sizes);
  ArrayPointer result = Array::create(shape);
  for (int64_t i = 0; i < result->cells(); ++i)
    result->mutableData()[i] = evaluate(op, x.data()[broadcastCell(shape, x.shape(), i)],
                                        y.data()[broadcastCell(shape, y.shape(), i)]);
  return result;
}

// The shape of the result for arrays of these shapes, if there are any.
std::optional<runtime::Shape> shapeOfIfElse(const std::vector<runtime::Shape> &shapes,
                                            IfElseSizes sizes) {
  if (shapes.empty())
    return std::nullopt;
  std::optional<runtime::Shape> shape = shapes[0];
  for (const runtime::Shape &own : shapes)
    shape = shape ? broadcastShape(*shape, own) : shape;
  if (shape &&
      (sizes == IfElseSizes::Broadcast || std::ranges::find(shapes, *shape) != shapes.end()))
    return shape;
  std::string message = "ifelse: sizes do not agree: ";
  for (size_t i = 0; i < shapes.size(); ++i)
    message += (i == 0 ? "" : i + 1 == shapes.size() ? " and " : ", ") + shapes[i].text();
  throw Error(message + "; expected equal sizes, or " +
              (sizes == IfElseSizes::Broadcast ? "1 where they differ"
                                               : "vectors of matching length beside a matrix"));
}

// The value of an operand of ifElse for one cell; a scalar is the same for all cells.
double cellOrScalar(const Value &value, const runtime::Shape &shape, int64_t index) {
  return value.isArray()
             ? value.array()->data()[broadcastCell(shape, value.array()->shape(), index)]
             : value.asDouble();
}

} // namespace

runtime::Shape shapeOfBinary(BinaryOperator op, const runtime::Shape &lhs,
                             const runtime::Shape &rhs, BinarySizes sizes) {
  std::optional<runtime::Shape> both = broadcastShape(lhs, rhs);
  if (both && (sizes == BinarySizes::Broadcast || *both == lhs || *both == rhs))
    return *both;
  std::string message = fmt::format("sizes do not agree: {} {} {}; expected equal sizes, or ",
                                    lhs.text(), spelling(op), rhs.text());
  if (sizes == BinarySizes::Broadcast)
    throw Error(message + "1 where they differ");
  message += "one operand that is a vector of matching length";
  if (lhs.rank() == 2 && rhs.rank() == 2 && lhs[1] == 1 && rhs[0] == 1)
    message += fmt::format("; outer(u, v, \"{}\") combines a column with a row", spelling(op));
  throw Error(message);
}

Value unary(UnaryOperator op, const Value &operand) {
  if (!operand.isArray())
    return unaryOfScalar(op, operand);
  const Array &x = arrayOf(operand, spelling(op));
  ArrayPointer result = Array::create(x.shape());
  for (int64_t i = 0; i < x.cells(); ++i)
    result->mutableData()[i] = evaluate(op, x.data()[i]);
  return result;
}

Value binary(BinaryOperator op, const Value &lhs, const Value &rhs, BinarySizes sizes) {
  if (!lhs.isArray() && !rhs.isArray())
    return binaryOfScalars(op, lhs, rhs);
  if (lhs.isArray() && rhs.isArray())
    return binaryOfArrays(op, arrayOf(lhs, spelling(op)), arrayOf(rhs, spelling(op)), sizes);
  const Array &array = arrayOf(lhs.isArray() ? lhs : rhs, spelling(op));
  double number = numberBesideArray(op, lhs.isArray() ? rhs : lhs);
  ArrayPointer result = Array::create(array.shape());
  for (int64_t i = 0; i < array.cells(); ++i)
    result->mutableData()[i] = lhs.isArray() ? evaluate(op, array.data()[i], number)
                                             : evaluate(op, number, array.data()[i]);
  return result;
}

Value ifElse(const Value &condition, const Value &then, const Value &otherwise, IfElseSizes sizes) {
  std::vector<runtime::Shape> shapes;
  for (const Value *operand : {&condition, &then, &otherwise})
    if (operand->isArray())
      shapes.push_back(arrayOf(*operand, "ifelse").shape());
  std::optional<runtime::Shape> shape = shapeOfIfElse(shapes, sizes);
  if (!shape)
    return condition.asBoolean() ? then : otherwise;
  ArrayPointer result = Array::create(*shape);
  for (int64_t i = 0; i < result->cells(); ++i)
    result->mutableData()[i] =
        cellOrScalar(cellOrScalar(condition, *shape, i) != 0 ? then : otherwise, *shape, i);
  return result;
}

Value outer(const Value &lhs, const Value &rhs, const Value &spellingOfOperator) {
  const Array &u = matrixOf(lhs, "outer"), &v = matrixOf(rhs, "outer");
  std::optional<BinaryOperator> op = findBinaryBySpelling(spellingOfOperator.text());
  if (!op)
    throw Error(fmt::format("outer: unknown operator \"{}\"", spellingOfOperator.text()));
  return binaryOfArrays(*op, u, v, BinarySizes::Broadcast);
}

Value replace(const Value &operand, const Value &pattern, const Value &replacement) {
  const Array &x = arrayOf(operand, "replace");
  double from = pattern.asDouble(), to = replacement.asDouble();
  ArrayPointer result = Array::create(x.shape());
  for (int64_t i = 0; i < x.cells(); ++i) {
    double cell = x.data()[i];
    bool matches = cell == from || (std::isnan(cell) && std::isnan(from));
    result->mutableData()[i] = matches ? to : cell;
  }
  return result;
}

} // namespace tokamak::reference
