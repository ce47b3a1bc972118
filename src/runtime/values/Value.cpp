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
  std::construct_at(&text_, owner, &owner->text);
  kind_ = Kind::String;
}

[[noreturn]] static void failConversion(const Value &value, std::string_view wanted) {
  if (value.isUndefined())
    failUndefined(value);
  if (value.isArray())
    throw Error(
        fmt::format("expected {}, got a matrix of {}", wanted, value.array()->shape().text()));
  throw Error(fmt::format("expected {}, got {}", wanted, value.describe()));
}

void Value::failAccess() const { internalError(fmt::format("a value is {}", describe())); }

void Value::release() {
  switch (kind_) {
  case Kind::String:
    return std::destroy_at(&text_);
  case Kind::Array:
    return std::destroy_at(&array_);
  case Kind::List:
    return std::destroy_at(&list_);
  case Kind::Frame:
    return std::destroy_at(&frame_);
  default:
    return std::destroy_at(&undefined_);
  }
}

void Value::takeOwned(Value &other) noexcept {
  kind_ = other.kind_;
  switch (kind_) {
  case Kind::String:
    return moveOwner(text_, other.text_);
  case Kind::List:
    return moveOwner(list_, other.list_);
  case Kind::Frame:
    return moveOwner(frame_, other.frame_);
  default:
    return moveOwner(undefined_, other.undefined_);
  }
}

void Value::shareWith(const Value &other) {
  switch (other.kind_) {
  case Kind::String:
    std::construct_at(&text_, other.text_);
    break;
  case Kind::Array:
    std::construct_at(&array_, other.array_);
    break;
  case Kind::List:
    std::construct_at(&list_, other.list_);
    break;
  case Kind::Frame:
    std::construct_at(&frame_, other.frame_);
    break;
  default:
    std::construct_at(&undefined_, other.undefined_);
  }
  kind_ = other.kind_;
}

double Value::asDouble() const {
  switch (kind_) {
  case Kind::Double:
    return double_;
  case Kind::Integer:
  case Kind::Boolean:
    return static_cast<double>(integer_);
  default:
    if (isArray() && array()->cells() == 1)
      return array()->at(0, 0);
    failConversion(*this, "a number");
  }
}

int64_t Value::truncated() const { return truncateToInteger(asDouble()); }

std::string Value::asText() const {
  if (isString())
    return text();
  if (isBoolean())
    return integer_ != 0 ? "TRUE" : "FALSE";
  if (isInteger())
    return std::to_string(integer_);
  if (isDouble())
    return textOf(double_);
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

void alignArrays(std::span<Value> values) {
  for (Value &value : values)
    if (value.isArray() && !value.array()->isAligned())
      value = Array::aligned(value.array());
}

} // namespace tokamak::runtime
