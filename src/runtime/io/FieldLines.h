// Reads lines of fields separated by blanks, as the formats text and mm have them. Skips empty
// lines and lines that begin with '%'.
//
//   FieldLines lines(piece, "x.mtx");
//   while (lines.next()) {
//     int64_t row = lines.integer("the row");
//     double value = lines.number([] { return "row 2: "; });
//     lines.expectEnd();
//   }
#ifndef TOKAMAK_RUNTIME_IO_FIELDLINES_H
#define TOKAMAK_RUNTIME_IO_FIELDLINES_H

#include "base/Error.h"
#include "runtime/io/NumberReader.h"
#include "runtime/io/TextSource.h"

#include <fmt/format.h>

namespace tokamak::runtime {

class FieldLines {
public:
  // Both arguments must outlive this object; `path` is the file's name in error messages.
  FieldLines(const TextPiece &piece, const std::string &path)
      : path_(path), rest_(piece.text), number_(piece.firstLine) {}

  // Moves to the next line with fields; false at the end.
  bool next() {
    while (!rest_.empty()) {
      const void *found = std::memchr(rest_.data(), '\n', rest_.size());
      const char *begin = rest_.data(), *end = begin + rest_.size();
      position_ = begin;
      lineEnd_ = found ? static_cast<const char *>(found) : end;
      rest_.remove_prefix(found ? lineEnd_ + 1 - begin : rest_.size());
      ++number_;
      skipBlanks();
      if (position_ != lineEnd_ && *position_ != '%')
        return true;
    }
    return false;
  }

  // The next field of the line; empty at its end.
  std::string_view field() {
    skipBlanks();
    const char *begin = position_;
    while (position_ != lineEnd_ && !isBlank(*position_))
      ++position_;
    return {begin, position_};
  }

  // The functions below throw Error with path and line. `what` names the field in messages.
  int64_t integer(std::string_view what) {
    skipBlanks();
    int64_t value = 0;
    const char *begin = position_;
    constexpr int digitsWithoutOverflow = 18;
    while (position_ != lineEnd_ && isDigit(*position_))
      value = static_cast<int64_t>(static_cast<uint64_t>(value) * 10 + (*position_++ - '0'));
    bool endsHere = position_ == lineEnd_ || isBlank(*position_);
    if (endsHere && position_ != begin && position_ - begin <= digitsWithoutOverflow)
      return value;
    position_ = begin;
    std::string_view text = field();
    if (std::optional<int64_t> number = fieldInteger(text))
      return *number;
    fail(text.empty() ? fmt::format("{} is missing", what)
                      : fmt::format("{} {} is not an integer", what, quotedField(text)));
  }

  // `place()`, such as "row 2, column 3: ", returns the prefix of the message.
  template <typename Place> double number(const Place &place) {
    skipBlanks();
    double value = 0;
    const char *end = readNumber(position_, lineEnd_, value);
    if (end && (end == lineEnd_ || isBlank(*end))) {
      position_ = end;
      return value;
    }
    std::string_view text = field();
    if (std::optional<double> number = fieldNumber(text))
      return *number;
    fail(place() +
         (text.empty() ? "the value is missing" : quotedField(text) + " is not a number"));
  }

  void expectEnd() {
    if (std::string_view text = field(); !text.empty())
      fail(fmt::format("{} is one field too many", quotedField(text)));
  }

  [[noreturn]] void fail(const std::string &message) const {
    throw Error(fmt::format("{}: line {}: {}", path_, number_, message));
  }

private:
  static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skipBlanks() {
    while (position_ != lineEnd_ && isBlank(*position_))
      ++position_;
  }

  const std::string &path_;
  std::string_view rest_;
  const char *position_ = nullptr, *lineEnd_ = nullptr;
  int64_t number_; // of the current line, counted from 1; valid after next()
};

} // namespace tokamak::runtime
#endif
