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
#include <span>
#include <string>
#include <string_view>
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

// A number is copied without a branch on its type, and only values that own something are released
// out of line: the executor moves values at every instruction. A value that was moved from is Nothing.
class Value {
public:
  Value() = default; // nothing
  Value(bool value) : kind_(Kind::Boolean), integer_(value) {}
  Value(int64_t value) : kind_(Kind::Integer), integer_(value) {}
  Value(double value) : kind_(Kind::Double), double_(value) {}
  Value(std::string text); // charges its memory; throws Error if over budget
  Value(ArrayReference array) : kind_(Kind::Array), array_(std::move(array)) {}
  Value(ArrayPointer array) : Value(ArrayReference(std::move(array))) {}
  Value(std::shared_ptr<const List> list) : kind_(Kind::List), list_(std::move(list)) {}
  Value(std::shared_ptr<const Frame> frame) : kind_(Kind::Frame), frame_(std::move(frame)) {}
  Value(Undefined undefined)
      : kind_(Kind::Undefined),
        undefined_(std::make_shared<const Undefined>(std::move(undefined))) {}
  // Without this, a pointer would convert to a boolean.
  Value(const char *text) : Value(std::string(text)) {}
  Value(const Value &other) {
    if (other.isOwner())
      shareWith(other);
    else
      copyNumber(other);
  }
  Value(Value &&other) noexcept { take(other); }
  Value &operator=(const Value &other) {
    if (isOwner() || other.isOwner())
      return *this = Value(other);
    copyNumber(other);
    return *this;
  }
  Value &operator=(Value &&other) noexcept {
    if (this == &other)
      return *this;
    if (isOwner()) {
      Value old; // released last: what it owns may own `other`
      old.take(*this);
      take(other);
    } else {
      take(other);
    }
    return *this;
  }
  ~Value() { reset(); }

  bool isNothing() const { return kind_ == Kind::Nothing; }
  bool isBoolean() const { return kind_ == Kind::Boolean; }
  bool isInteger() const { return kind_ == Kind::Integer; }
  bool isDouble() const { return kind_ == Kind::Double; }
  bool isNumber() const { return isBoolean() || isInteger() || isDouble(); }
  bool isString() const { return kind_ == Kind::String; }
  bool isScalar() const { return isNumber() || isString(); }
  bool isArray() const { return kind_ == Kind::Array; }
  bool isList() const { return kind_ == Kind::List; }
  bool isFrame() const { return kind_ == Kind::Frame; }
  bool isUndefined() const { return kind_ == Kind::Undefined; }

  // Conversions of numbers (a double to an integer truncates, to a boolean is "not zero"); a 1x1
  // array counts as its cell. Throws Error("expected a number, got ...") for other values.
  double asDouble() const;
  int64_t asInteger() const { return isInteger() ? integer_ : truncated(); }
  bool asBoolean() const {
    return kind_ == Kind::Boolean || kind_ == Kind::Integer ? integer_ != 0 : asDouble() != 0;
  }
  // Strings as they are; other scalars as DML prints them ("3", "3.0", "TRUE").
  std::string asText() const;

  const std::string &text() const { return *expect(Kind::String).text_; }
  const ArrayReference &array() const { return expect(Kind::Array).array_; }
  ArrayReference &array() { return const_cast<ArrayReference &>(expect(Kind::Array).array_); }
  const std::shared_ptr<const List> &list() const { return expect(Kind::List).list_; }
  const std::shared_ptr<const Frame> &frame() const { return expect(Kind::Frame).frame_; }
  const Undefined &undefined() const { return *expect(Kind::Undefined).undefined_; }

  // Without conversion; null if the value is of another type.
  const double *ifDouble() const { return isDouble() ? &double_ : nullptr; }
  // Assignment of scalars without a temporary, for the executor's inner loop.
  void assign(double value) {
    reset();
    kind_ = Kind::Double;
    double_ = value;
  }
  void assign(int64_t value) { assignInteger(Kind::Integer, value); }
  void assign(bool value) { assignInteger(Kind::Boolean, value); }

  // "a matrix", "an integer", ...
  std::string_view describe() const;

private:
  // Those from String on own what they refer to.
  enum class Kind : uint8_t {
    Nothing,
    Boolean, // integer_ is 0 or 1
    Integer,
    Double,
    String,
    Array,
    List,
    Frame,
    Undefined
  };

  bool isOwner() const { return kind_ >= Kind::String; }
  const Value &expect(Kind kind) const {
    if (kind_ != kind) [[unlikely]]
      failAccess();
    return *this;
  }
  [[noreturn]] void failAccess() const;
  int64_t truncated() const;
  void assignInteger(Kind kind, int64_t value) {
    reset();
    kind_ = kind;
    integer_ = value;
  }
  void reset() {
    if (isOwner())
      release();
    kind_ = Kind::Nothing;
  }
  void release();
  // The following are for values that own nothing.
  void copyNumber(const Value &other) {
    kind_ = other.kind_;
    if (kind_ == Kind::Double)
      double_ = other.double_;
    else
      integer_ = other.integer_;
  }
  void shareWith(const Value &other);
  void take(Value &other) noexcept {
    if (other.kind_ == Kind::Array) {
      kind_ = Kind::Array;
      moveOwner(array_, other.array_);
    } else if (other.isOwner()) {
      takeOwned(other);
    } else {
      copyNumber(other);
    }
    other.kind_ = Kind::Nothing;
    other.integer_ = 0;
  }
  void takeOwned(Value &other) noexcept; // other than an array
  template <typename T>
  static void moveOwner(std::shared_ptr<T> &into, std::shared_ptr<T> &from) noexcept {
    std::construct_at(&into, std::move(from));
    std::destroy_at(&from);
  }

  Kind kind_ = Kind::Nothing;
  union {
    int64_t integer_ = 0;
    double double_;
    std::shared_ptr<const std::string> text_;
    ArrayReference array_;
    std::shared_ptr<const List> list_;
    std::shared_ptr<const Frame> frame_;
    std::shared_ptr<const Undefined> undefined_;
  };
};

// Array::aligned of all arrays among them.
void alignArrays(std::span<Value> values);

} // namespace tokamak::runtime
#endif
