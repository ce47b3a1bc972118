// Regular expressions on texts in UTF-8, which are used as the methods of Java's String use them. They are those of Perl, by
// libpcre2, which is opened when a program first needs it: nearly all that Java has, without its names of character classes in
// \p{...} and without && in brackets.
//
//   RegularExpression date("(\\d+)-(\\d+)", "map");
//   date.matches("2024-05")                            // true: the whole text
//   date.replaceAll("2024-05, 2023-11", "$2/$1")       // "05/2024, 11/2023"
//   RegularExpression(",", "map").split("a,b,,")              // {"a", "b"}
#ifndef TOKAMAK_RUNTIME_TRANSFORM_REGULAREXPRESSION_H
#define TOKAMAK_RUNTIME_TRANSFORM_REGULAREXPRESSION_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

class RegularExpression {
public:
  // Throws Error for what is no regular expression, with the place, and where libpcre2 can't be opened. Errors begin with the
  // name of who uses the expression.
  RegularExpression(std::string pattern, std::string user);
  // The same; the last one of a thread is kept.
  static const RegularExpression &of(const std::string &pattern, const std::string &user);

  // All throw Error where a match takes too many steps or too much memory. Thread-safe.
  bool matches(std::string_view text) const;
  // In the replacement, $1 and ${name} are what groups match, and \ takes the next character as it is.
  std::string replaceFirst(std::string_view text, const std::string &replacement) const;
  std::string replaceAll(std::string_view text, const std::string &replacement) const;
  // What stands between the matches; empty parts at the end are left out. With a limit that is not 0 they stay, and with
  // one above 0 there are at most so many parts, of which the last has all that is left.
  std::vector<std::string> split(std::string_view text, int64_t limit = 0) const;
  // The same in bytes, with empty parts.
  struct Part {
    size_t begin, end;
  };
  std::vector<Part> parts(std::string_view text) const;

private:
  class Match;

  // Calls visit(match) for each match, from left to right, until it returns false.
  void forEachMatch(std::string_view text, const std::function<bool(const Match &)> &visit) const;
  std::string replace(std::string_view text, const std::string &replacement, bool all) const;
  void appendReplacement(const std::string &replacement, std::string_view text, const Match &match,
                         std::string &result) const;
  int run(std::string_view text, size_t from, uint32_t options, const Match &match) const;

  std::string pattern_, user_;
  std::shared_ptr<void> code_;
};

} // namespace tokamak::runtime
#endif
