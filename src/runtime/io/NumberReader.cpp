#include "runtime/io/NumberReader.h"

#include "runtime/values/ScalarOperations.h"

#include <charconv>
#include <limits>
#include <string>

namespace tokamak::runtime {

double roundedNumber(const char *begin, const char *end) {
  double value = 0;
  auto [last, status] = std::from_chars(begin, end, value);
  if (status == std::errc::result_out_of_range)
    value = numberBeyondDoubles(std::string(begin, end));
  return value;
}

// Compares regardless of case; `word` is in lower case.
static bool equalsWord(std::string_view text, std::string_view word) {
  if (text.size() != word.size())
    return false;
  for (size_t i = 0; i < text.size(); ++i)
    if ((text[i] | 0x20) != word[i])
      return false;
  return true;
}

std::optional<double> fieldNumber(std::string_view field) {
  double value = 0;
  const char *end = field.data() + field.size();
  if (readNumber(field.data(), end, value) == end && !field.empty())
    return value;
  bool isNegative = field.starts_with('-');
  if (isNegative || field.starts_with('+'))
    field.remove_prefix(1);
  if (equalsWord(field, "nan"))
    return std::numeric_limits<double>::quiet_NaN();
  if (equalsWord(field, "inf") || equalsWord(field, "infinity"))
    return isNegative ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<int64_t> fieldInteger(std::string_view field) {
  if (field.size() > 1 && field.front() == '+' && isDigit(field[1]))
    field.remove_prefix(1);
  int64_t value = 0;
  auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (status != std::errc() || end != field.data() + field.size())
    return std::nullopt;
  return value;
}

} // namespace tokamak::runtime
