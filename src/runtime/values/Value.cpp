#include "runtime/values/Value.h"

#include "base/CellOperators.h"
#include "base/Error.h"
#include "base/SoleOwner.h"
#include "runtime/memory/MemoryCharge.h"
#include "runtime/values/ScalarOperations.h"

#include <fmt/format.h>

namespace tokamak::runtime {

// Destroys nested lists without other owners iteratively, since recursion might overflow the stack.
List::~List() {
  std::vector<std::shared_ptr<const List>> nested;
  auto take = [&nested](List &list) {
    for (Value &element : list.elements)
      if (element.isList()) {
        nested.push_back(element.list());
        element = Value();
      }
  };
  take(*this);
  while (!nested.empty()) {
    std::shared_ptr<const List> list = std::move(nested.back());
    nested.pop_back();
    if (hasSoleOwner(list))
      take(const_cast<List &>(*list));
  }
}

Value::Value(std::string text) {
  struct ChargedText {
    MemoryCharge charge;
    std::string text;
  };
  MemoryCharge charge(static_cast<int64_t>(sizeof(ChargedText) + text.capacity()));
  auto owner = std::make_shared<const ChargedText>(std::move(charge), std::move(text));
  content_ = std::shared_ptr<const std::string>(owner, &owner->text);
}

[[noreturn]] static void failConversion(const Value &value, std::string_view wanted) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.isArray())
    throw Error(
        fmt::format("expected {}, got a matrix of {}", wanted, value.array()->shape().text()));
  throw Error(fmt::format("expected {}, got {}", wanted, value.describe()));
}

double Value::asDouble() const {
  if (auto *number = std::get_if<double>(&content_))
    return *number;
  if (auto *number = std::get_if<int64_t>(&content_))
    return static_cast<double>(*number);
  if (auto *truth = std::get_if<bool>(&content_))
    return *truth ? 1 : 0;
  if (isArray() && array()->cells() == 1)
    return array()->at(0, 0);
  failConversion(*this, "a number");
}

int64_t Value::asInteger() const {
  if (auto *number = std::get_if<int64_t>(&content_))
    return *number;
  return truncateToInteger(asDouble());
}

bool Value::asBoolean() const {
  if (auto *truth = std::get_if<bool>(&content_))
    return *truth;
  if (auto *number = std::get_if<int64_t>(&content_))
    return *number != 0;
  return asDouble() != 0;
}

std::string Value::asText() const {
  if (isString())
    return text();
  if (isBoolean())
    return std::get<bool>(content_) ? "TRUE" : "FALSE";
  if (isInteger())
    return std::to_string(std::get<int64_t>(content_));
  if (isDouble())
    return textOf(std::get<double>(content_));
  if (isArray() && array()->cells() == 1)
    return textOf(array()->at(0, 0));
  failConversion(*this, "a scalar");
}

std::string_view Value::describe() const {
  if (isBoolean())
    return "a boolean";
  if (isInteger())
    return "an integer";
  if (isDouble())
    return "a double";
  if (isString())
    return "a string";
  if (isArray())
    return "a matrix";
  if (isList())
    return "a list";
  if (isFrame())
    return "a frame";
  return isUndefined() ? "an unassigned variable" : "nothing";
}

} // namespace tokamak::runtime
