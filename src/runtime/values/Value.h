// A value of a running program: a scalar, a string, an array, a list, a frame, or Nothing (an
// absent argument).
//
//   Value x = int64_t{3};   x.isInteger();   x.asDouble() == 3.0
//   Value m = Array::filled({2, 2}, 1.0);   m.array()->rows() == 2
#ifndef TOKAMAK_RUNTIME_VALUES_VALUE_H
#define TOKAMAK_RUNTIME_VALUES_VALUE_H

#include "runtime/values/Array.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tokamak::runtime {

class Value;
class Frame; // Frame.h

// Elements by position; `names` is empty or has one name for each element.
struct List {
  std::vector<Value> elements;
  std::vector<std::string> names;
  List() = default;
  List(const List &) = default;
  List(List &&) = default;
  List &operator=(const List &) = default;
  List &operator=(List &&) = default;
  ~List(); // iterative: nesting may exceed the stack
};

// A variable that was not assigned on the executed path; reading it is the user's error.
struct Undefined {
  std::string variable;
};

class Value {
public:
  Value() = default; // nothing
  Value(bool value) : content_(value) {}
  Value(int64_t value) : content_(value) {}
  Value(double value) : content_(value) {}
  Value(std::string text); // charges its memory; throws Error if over budget
  Value(ArrayReference array) : content_(std::move(array)) {}
  Value(ArrayPointer array) : content_(ArrayReference(std::move(array))) {}
  Value(std::shared_ptr<const List> list) : content_(std::move(list)) {}
  Value(std::shared_ptr<const Frame> frame) : content_(std::move(frame)) {}
  Value(Undefined undefined) : content_(std::make_shared<const Undefined>(std::move(undefined))) {}
  // Without this, a pointer would convert to a boolean.
  Value(const char *text) : Value(std::string(text)) {}

  bool isNothing() const { return std::holds_alternative<std::monostate>(content_); }
  bool isBoolean() const { return std::holds_alternative<bool>(content_); }
  bool isInteger() const { return std::holds_alternative<int64_t>(content_); }
  bool isDouble() const { return std::holds_alternative<double>(content_); }
  bool isNumber() const { return isBoolean() || isInteger() || isDouble(); }
  bool isString() const {
    return std::holds_alternative<std::shared_ptr<const std::string>>(content_);
  }
  bool isScalar() const { return isNumber() || isString(); }
  bool isArray() const { return std::holds_alternative<ArrayReference>(content_); }
  bool isList() const { return std::holds_alternative<std::shared_ptr<const List>>(content_); }
  bool isFrame() const { return std::holds_alternative<std::shared_ptr<const Frame>>(content_); }
  bool isUndefined() const {
    return std::holds_alternative<std::shared_ptr<const Undefined>>(content_);
  }

  // Conversions of numbers (a double to an integer truncates, to a boolean is "not zero"); a 1x1
  // array counts as its cell. Throws Error("expected a number, got ...") for other values.
  double asDouble() const;
  int64_t asInteger() const;
  bool asBoolean() const;
  // Strings as they are; other scalars as DML prints them ("3", "3.0", "TRUE").
  std::string asText() const;

  const std::string &text() const {
    return *std::get<std::shared_ptr<const std::string>>(content_);
  }
  const ArrayReference &array() const { return std::get<ArrayReference>(content_); }
  ArrayReference &array() { return std::get<ArrayReference>(content_); }
  const std::shared_ptr<const List> &list() const {
    return std::get<std::shared_ptr<const List>>(content_);
  }
  const std::shared_ptr<const Frame> &frame() const {
    return std::get<std::shared_ptr<const Frame>>(content_);
  }
  const Undefined &undefined() const {
    return *std::get<std::shared_ptr<const Undefined>>(content_);
  }

  // Without conversion; null if the value is of another type.
  const double *ifDouble() const { return std::get_if<double>(&content_); }
  // Assignment of scalars without a temporary, for the executor's inner loop.
  void assign(double value) { content_ = value; }
  void assign(int64_t value) { content_ = value; }
  void assign(bool value) { content_ = value; }

  // "a matrix", "an integer", ...
  std::string_view describe() const;

private:
  std::variant<std::monostate, bool, int64_t, double, std::shared_ptr<const std::string>,
               ArrayReference, std::shared_ptr<const List>, std::shared_ptr<const Frame>,
               std::shared_ptr<const Undefined>>
      content_;
};

} // namespace tokamak::runtime
#endif
