#include "runtime/values/ScalarOperations.h"

#include "base/Error.h"
#include "runtime/image/Image.h"
#include "runtime/memory/MemoryCharge.h"
#include "runtime/values/Frame.h"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace tokamak::runtime {
namespace {

// The form of an operand in messages: strings quoted, arrays and lists by kind.
std::string shown(const Value &value) {
  if (value.isString())
    return fmt::format("\"{}\"", value.text());
  return value.isNumber() ? value.asText() : std::string(value.describe());
}

[[noreturn]] void failOperands(BinaryOperator op, const Value &lhs, const Value &rhs) {
  throw Error(fmt::format("cannot compute {} {} {}: the operands must be numbers", shown(lhs),
                          spelling(op), shown(rhs)));
}

bool compareText(BinaryOperator op, const std::string &a, const std::string &b) {
  int order = a.compare(b);
  return evaluate(op, order, 0) != 0;
}

bool compareIntegers(BinaryOperator op, int64_t a, int64_t b) {
  switch (op) {
  case BinaryOperator::Eq:
    return a == b;
  case BinaryOperator::Ne:
    return a != b;
  case BinaryOperator::Lt:
    return a < b;
  case BinaryOperator::Le:
    return a <= b;
  case BinaryOperator::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

bool isCell(const Value &value) {
  return value.isNumber() || (value.isArray() && value.array()->cells() == 1);
}

Value integerResult(BinaryOperator op, int64_t a, int64_t b) {
  std::optional<int64_t> result = evaluateInteger(op, a, b);
  if (result)
    return *result;
  if (op == BinaryOperator::IntDiv && b == 0)
    throw Error(fmt::format("integer division by zero in {} %/% 0", a));
  throw Error(fmt::format("integer overflow in {} {} {}", a, spelling(op), b));
}

const Value &onlyElement(const List &list, std::string_view wanted) {
  if (list.elements.size() != 1)
    throw Error(
        fmt::format("expected {}, got a list of {} elements", wanted, list.elements.size()));
  return list.elements.front();
}

Value toBoolean(const Value &value) {
  if (value.isString()) {
    if (std::optional<bool> truth = parseBoolean(value.text()))
      return *truth;
    std::optional<double> number = parseDouble(value.text());
    if (!number)
      throw Error(fmt::format("cannot convert {} to a boolean", shown(value)));
    return *number != 0;
  }
  return value.asBoolean();
}

Value toInteger(const Value &value) {
  if (!value.isString())
    return value.asInteger();
  if (std::optional<int64_t> number = parseInteger(value.text()))
    return *number;
  if (std::optional<double> number = parseDouble(value.text()))
    return truncateToInteger(*number);
  throw Error(fmt::format("cannot convert {} to an integer", shown(value)));
}

Value toDouble(const Value &value) {
  if (!value.isString())
    return value.asDouble();
  if (std::optional<double> number = parseDouble(value.text()))
    return *number;
  throw Error(fmt::format("cannot convert {} to a number", shown(value)));
}

// Converts to a matrix; a list of scalars becomes a column.
Value toMatrix(const Value &value) {
  if (value.isArray())
    return value;
  if (value.isFrame())
    return matrixOfFrame(*value.frame());
  if (value.isList()) {
    const List &list = *value.list();
    if (list.elements.size() == 1) {
      const Value *held = &list.elements.front();
      while (held->isList() && held->list()->elements.size() == 1)
        held = &held->list()->elements.front();
      Value matrix = toMatrix(*held);
      if (const Shape &shape = matrix.array()->shape(); shape.rank() != 2)
        throw Error(fmt::format("as.matrix: expected a matrix, got a tensor of {}", shape.text()));
      return matrix;
    }
    ArrayPointer column = Array::create({static_cast<int64_t>(list.elements.size()), 1});
    for (size_t i = 0; i < list.elements.size(); ++i)
      column->mutableData()[i] = toDouble(list.elements[i]).asDouble();
    return column;
  }
  if (value.isInteger()) { // doubles don't hold large integers
    ArrayPointer cell = Array::create({1, 1}, ElementType::I64);
    *cell->mutableCellsAs<int64_t>() = value.asInteger();
    return cell;
  }
  return Array::filled({1, 1}, toDouble(value).asDouble());
}

// Integers that an int64_t does not hold become doubles.
Value cellOf(const Array &array) {
  if (array.elementType() == ElementType::Bool)
    return array.cellsAs<bool>()[0];
  if (isFloat(array.elementType()))
    return array.at(0, 0);
  return withCellType(array.elementType(), [&]<typename Cell>() -> Value {
    if constexpr (std::is_integral_v<Cell> && !std::is_same_v<Cell, bool>)
      if (Cell cell = array.cellsAs<Cell>()[0]; std::in_range<int64_t>(cell))
        return static_cast<int64_t>(cell);
    return doubleOf(ElementType::U64, array.cellsAs<int64_t>()[0]);
  });
}

Value toScalar(const Value &value) {
  if (value.isScalar())
    return value;
  if (value.isArray()) {
    if (value.array()->cells() != 1)
      throw Error(fmt::format("as.scalar: expected a 1x1 matrix, got one of {}",
                              value.array()->shape().text()));
    return cellOf(*value.array());
  }
  if (value.isList())
    return toScalar(onlyElement(*value.list(), "a list of one element"));
  if (value.isFrame())
    return scalarOfFrame(*value.frame());
  throw Error(fmt::format("cannot convert {} to a scalar", value.describe()));
}

Value toList(const Value &value) {
  if (!value.isList())
    throw Error(fmt::format("as.list: expected a list, got {}", value.describe()));
  const List &list = *value.list();
  if (list.elements.size() == 1 && list.elements.front().isList())
    return list.elements.front();
  return value;
}

} // namespace

void failUndefined(const Value &value) {
  throw Error(fmt::format("variable '{}' has no value here: it was not assigned on the way taken",
                          value.undefined().variable));
}

Value unaryScalar(UnaryOperator op, const Value &operand) {
  if (operand.isInteger() && resultOf(op) == CellResult::Number) {
    std::optional<int64_t> result = evaluateInteger(op, operand.asInteger());
    if (!result)
      throw Error(fmt::format("integer overflow in {}({})", spelling(op), operand.asText()));
    return *result;
  }
  checkDefined(operand);
  if (!isCell(operand))
    throw Error(fmt::format("{}: expected a number, got {}", spelling(op), shown(operand)));
  double result = evaluate(op, operand.asDouble());
  if (resultOf(op) == CellResult::Boolean)
    return result != 0;
  return result;
}

Value binaryScalar(BinaryOperator op, const Value &lhs, const Value &rhs) {
  if (lhs.isInteger() && rhs.isInteger()) {
    if (isComparison(op))
      return compareIntegers(op, lhs.asInteger(), rhs.asInteger());
    if (resultOf(op) == CellResult::Number)
      return integerResult(op, lhs.asInteger(), rhs.asInteger());
  }
  checkDefined(lhs);
  checkDefined(rhs);
  if (lhs.isString() || rhs.isString()) {
    if (op == BinaryOperator::Add)
      return concatenate(lhs, rhs);
    if (isComparison(op) && lhs.isScalar() && rhs.isScalar())
      return compareText(op, lhs.asText(), rhs.asText());
    failOperands(op, lhs, rhs);
  }
  if (!isCell(lhs) || !isCell(rhs))
    failOperands(op, lhs, rhs);
  double result = evaluate(op, lhs.asDouble(), rhs.asDouble());
  if (resultOf(op) == CellResult::Boolean)
    return result != 0;
  return result;
}

Value concatenate(const Value &lhs, const Value &rhs) {
  checkDefined(lhs);
  checkDefined(rhs);
  constexpr size_t longest = std::numeric_limits<int32_t>::max();
  // Strings are used without a copy; the text of other scalars is short.
  std::string shortLeft, shortRight;
  auto textIn = [](const Value &value, std::string &made) -> const std::string & {
    return value.isString() ? value.text() : made = value.asText();
  };
  const std::string &left = textIn(lhs, shortLeft), &right = textIn(rhs, shortRight);
  size_t size = left.size() + right.size();
  if (size > longest)
    throw Error(fmt::format("a text of {} characters is too long, the most are {}", size, longest));
  MemoryCharge charge(static_cast<int64_t>(size));
  std::string text;
  text.reserve(size);
  text.append(left).append(right);
  charge.resize(0); // the value charges it from here on
  return Value(std::move(text));
}

Value castValue(const Value &value, CastTarget target) {
  if (value.isUndefined()) // converting it is not reading it, which fails
    return value;
  bool toNumber = target == CastTarget::Boolean || target == CastTarget::Integer ||
                  target == CastTarget::Double;
  if (toNumber && !value.isScalar())
    return castValue(toScalar(value), target);
  switch (target) {
  case CastTarget::Boolean:
    return toBoolean(value);
  case CastTarget::Integer:
    return toInteger(value);
  case CastTarget::Double:
    return toDouble(value);
  case CastTarget::Text:
    return value.asText();
  case CastTarget::Matrix:
    return toMatrix(value);
  case CastTarget::Scalar:
    return toScalar(value);
  case CastTarget::List:
    return toList(value);
  case CastTarget::Frame:
    return frameOf(value);
  }
  return value;
}

double numberBeyondDoubles(const std::string &text) {
  static const locale_t withPoint = newlocale(LC_NUMERIC_MASK, "C", nullptr);
  return strtod_l(text.c_str(), nullptr, withPoint);
}

// As Java's String.trim, which its parsers of numbers apply.
static std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ')
    text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ')
    text.remove_suffix(1);
  return text;
}

std::optional<double> parseDouble(std::string_view text) {
  std::string_view rest = trimmed(text);
  bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+'))
    rest.remove_prefix(1);
  if (rest == "Infinity" || rest == "Inf")
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  if (rest == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  // from_chars would also take "nan(...)" and "inf".
  if (rest.empty() || !(rest.front() == '.' || (rest.front() >= '0' && rest.front() <= '9')))
    return std::nullopt;
  double value = 0;
  auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (end != rest.data() + rest.size())
    return std::nullopt;
  if (status == std::errc::result_out_of_range)
    value = numberBeyondDoubles(std::string(rest));
  else if (status != std::errc())
    return std::nullopt;
  return negative ? -value : value;
}

std::optional<bool> parseBoolean(std::string_view text) {
  if (text == "TRUE" || text == "true" || text == "True")
    return true;
  if (text == "FALSE" || text == "false" || text == "False")
    return false;
  return std::nullopt;
}

std::optional<int64_t> parseInteger(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+')
    text.remove_prefix(1);
  int64_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace tokamak::runtime
