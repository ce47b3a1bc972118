// Formats values as text: toString for all values, and print's format strings (a subset of Java's).
//
//   textOf(value, {})                                 // "1.000 2.000\n3.000 4.000\n"
//   Value arguments[] = {"a", 0.125};
//   formatText("%-6s %.2f", arguments)                // "a      0.13"
#ifndef TOKAMAK_RUNTIME_VALUES_TEXTFORMAT_H
#define TOKAMAK_RUNTIME_VALUES_TEXTFORMAT_H

#include "runtime/values/Value.h"

#include <span>
#include <string>

namespace tokamak::runtime {

// The parameters of toString.
struct TextOptions {
  int64_t rows = 100, columns = 100; // at most this many are shown
  int64_t decimals = 3;
  bool sparse = false; // lines "row column value" for the non-zero cells
  std::string separator = " ";
  std::string lineSeparator = "\n";
};

std::string textOf(const Value &value, const TextOptions &options);

// %d %s %b %f %e %g %x %n %% with flags, width and precision; rounds halves of the shortest decimal
// text up, as Java does. Throws Error for an unknown conversion, a missing argument or one of the
// wrong type, which begins with the name of who formats.
std::string formatText(std::string_view format, std::span<const Value> arguments,
                       std::string_view user = "print");

} // namespace tokamak::runtime
#endif
