// Text without blanks at its ends.
//
//   trimmed("  a b ") == "a b"
//   trimmed("\ta\n", spaceCharacters) == "a"
#ifndef TOKAMAK_BASE_TRIMMEDTEXT_H
#define TOKAMAK_BASE_TRIMMEDTEXT_H

#include <string_view>

namespace tokamak {

// What isspace says of ASCII.
inline constexpr std::string_view spaceCharacters = " \t\n\r\f\v";

constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " ") {
  size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

} // namespace tokamak
#endif
