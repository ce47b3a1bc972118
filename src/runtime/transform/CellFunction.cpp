#include "runtime/transform/CellFunction.h"

#include "base/Error.h"
#include "runtime/transform/CellExpression.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tokamak::runtime {
namespace {

using CellValue = CellFunctionValue;
using Kind = CellExpression::Kind;

[[noreturn]] void failOperator(const std::string &op, const CellValue &value) {
  throw Error(fmt::format("map: '{}' is not defined for {}", op, describeCell(value)));
}

bool truth(const CellValue &value, const std::string &op) {
  if (const bool *boolean = std::get_if<bool>(&value))
    return *boolean;
  failOperator(op, value);
}

bool areEqual(const CellValue &first, const CellValue &second) {
  auto comparable = [](const CellValue &value, const CellValue &other) {
    bool isCharacterBesideText =
        std::holds_alternative<char32_t>(value) && std::holds_alternative<std::string>(other);
    return isCharacterBesideText ? CellValue(textOfCell(value)) : promoted(value);
  };
  CellValue left = comparable(first, second), right = comparable(second, first);
  bool areNumbers = isCellNumber(left) && isCellNumber(right) && left.index() != right.index();
  return areNumbers ? cellNumber(left, "==") == cellNumber(right, "==") : left == right;
}

CellValue arithmetic(const std::string &op, const CellValue &left, const CellValue &right) {
  const auto *a = std::get_if<int64_t>(&left), *b = std::get_if<int64_t>(&right);
  if (!a || !b) {
    double x = cellNumber(left, op), y = cellNumber(right, op);
    switch (op.front()) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return x / y;
    default:
      return std::fmod(x, y);
    }
  }
  bool divides = op == "/" || op == "%";
  if (divides && *b == 0)
    throw Error("map: an integer is divided by 0");
  // Wraps around, as Java's does.
  auto x = static_cast<uint64_t>(*a), y = static_cast<uint64_t>(*b);
  switch (op.front()) {
  case '+':
    return static_cast<int64_t>(x + y);
  case '-':
    return static_cast<int64_t>(x - y);
  case '*':
    return static_cast<int64_t>(x * y);
  case '/':
    return *b == -1 ? static_cast<int64_t>(0 - x) : *a / *b;
  default:
    return *b == -1 ? int64_t{0} : *a % *b;
  }
}

CellValue binary(const std::string &op, const CellValue &first, const CellValue &second) {
  if (op == "==" || op == "!=")
    return areEqual(first, second) == (op == "==");
  bool isText =
      std::holds_alternative<std::string>(first) || std::holds_alternative<std::string>(second);
  if (op == "+" && isText)
    return textOfCell(first) + textOfCell(second);
  CellValue left = promoted(first), right = promoted(second);
  if (op.front() == '<' || op.front() == '>') {
    const auto *a = std::get_if<int64_t>(&left), *b = std::get_if<int64_t>(&right);
    std::partial_ordering order =
        a && b ? std::partial_ordering(*a <=> *b) : cellNumber(left, op) <=> cellNumber(right, op);
    bool orEqual = op.size() == 2 && order == 0;
    return orEqual || (op.front() == '<' ? order < 0 : order > 0);
  }
  return arithmetic(op, left, right);
}

// A cell that is added to a character is a text, whatever its type: all parameters are in SystemDS.
CellValue binaryOfCells(const CellExpression &expression, CellValue left, CellValue right) {
  auto isCell = [&](size_t i) { return expression.children[i]->kind == Kind::Parameter; };
  if (expression.op == "+" && isCell(0) && std::holds_alternative<char32_t>(right))
    left = textOfCell(left);
  else if (expression.op == "+" && isCell(1) && std::holds_alternative<char32_t>(left))
    right = textOfCell(right);
  return binary(expression.op, left, right);
}

CellValue evaluate(const CellExpression &expression, std::span<const CellValue> arguments) {
  auto child = [&](size_t i) { return evaluate(*expression.children[i], arguments); };
  switch (expression.kind) {
  case Kind::Literal:
    return expression.literal;
  case Kind::Parameter:
    return arguments[expression.parameter];
  case Kind::Unary:
    return expression.op == "!" ? CellValue(!truth(child(0), "!"))
                                : binary("*", int64_t{-1}, child(0));
  case Kind::Binary:
    if (expression.op == "&&")
      return truth(child(0), "&&") && truth(child(1), "&&");
    if (expression.op == "||")
      return truth(child(0), "||") || truth(child(1), "||");
    if (expression.op == "&" || expression.op == "|" || expression.op == "^") {
      bool left = truth(child(0), expression.op), right = truth(child(1), expression.op);
      return expression.op == "&"   ? left && right
             : expression.op == "|" ? left || right
                                    : left != right;
    }
    return binaryOfCells(expression, child(0), child(1));
  case Kind::Choice:
    return truth(child(0), "?") ? child(1) : child(2);
  case Kind::Index: {
    CellValue array = child(0), place = child(1);
    const auto *texts = std::get_if<CellTextArray>(&array);
    const auto *index = std::get_if<int64_t>(&place);
    if (!texts || !index)
      failOperator("[]", texts ? place : array);
    if (*index < 0 || *index >= std::ssize(*texts))
      throw Error(
          fmt::format("map: index {} is outside of an array of {} texts", *index, texts->size()));
    return (*texts)[*index];
  }
  case Kind::Array: {
    CellTextArray texts;
    for (size_t i = 0; i < expression.children.size(); ++i)
      texts.push_back(textOfCell(child(i)));
    return texts;
  }
  case Kind::Call: {
    std::vector<CellValue> values;
    for (size_t i = 0; i < expression.children.size(); ++i)
      values.push_back(child(i));
    return (*expression.function)(values);
  }
  }
  internalError("unknown expression of a cell function");
}

} // namespace

CellFunction::CellFunction(std::string_view text) { body_ = parseCellFunction(text, parameters_); }
CellFunction::CellFunction(CellFunction &&) noexcept = default;
CellFunction &CellFunction::operator=(CellFunction &&) noexcept = default;
CellFunction::~CellFunction() = default;

CellFunctionValue CellFunction::call(std::span<const CellFunctionValue> arguments) const {
  return evaluate(*body_, arguments);
}

} // namespace tokamak::runtime
