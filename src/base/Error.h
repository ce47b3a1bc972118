// The one exception type of Tokamak. The runtime throws it, `exec` and `reference` add the source
// location of the operation that failed, and the program's main prints it with the source line:
//
//   throw Error("matrix multiply: inner dimensions differ, 3x4 and 5x2");
#ifndef TOKAMAK_BASE_ERROR_H
#define TOKAMAK_BASE_ERROR_H

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace tokamak {

// A position in a source file; line and column count from 1, 0 means unknown.
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
  bool isKnown() const { return line > 0; }
  bool operator==(const SourcePlace &) const = default;
};

enum class ErrorKind : uint8_t {
  User,        // the user's program or data is wrong: exit status 1 or 2
  Stop,        // the program called stop(): exit status 1
  Internal,    // a bug of Tokamak: exit status 70
  Interrupted, // the user stopped the program (Interrupt.h): exit status 130
};

class Error : public std::exception {
public:
  explicit Error(std::string message, ErrorKind kind = ErrorKind::User)
      : message_(std::move(message)), kind_(kind) {}

  const char *what() const noexcept override { return message_.c_str(); }
  const std::string &message() const { return message_; }
  ErrorKind kind() const { return kind_; }
  const SourcePlace &place() const { return place_; }
  // The call sites on the path to the failing operation, innermost first.
  const std::vector<SourcePlace> &callStack() const { return callStack_; }
  const std::vector<std::string> &notes() const { return notes_; }

  // Sets the place unless an inner frame has already done so.
  Error &at(const SourcePlace &place) {
    if (!place_.isKnown())
      place_ = place;
    return *this;
  }
  // Adds a call site to the call stack; each site is listed once, even under recursion.
  Error &calledFrom(const SourcePlace &place) {
    if (place.isKnown() &&
        std::find(callStack_.begin(), callStack_.end(), place) == callStack_.end())
      callStack_.push_back(place);
    return *this;
  }
  Error &note(std::string text) {
    notes_.push_back(std::move(text));
    return *this;
  }

private:
  std::string message_;
  ErrorKind kind_;
  SourcePlace place_;
  std::vector<SourcePlace> callStack_;
  std::vector<std::string> notes_;
};

// Throws an internal error: a broken invariant of Tokamak itself, never a user's mistake.
[[noreturn]] inline void internalError(std::string message) {
  throw Error(std::move(message), ErrorKind::Internal);
}

} // namespace tokamak
#endif
